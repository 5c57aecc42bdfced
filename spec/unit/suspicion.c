#include "protocol/suspicion.h"

#include "test.h"

ABOUT("A suspicion");

#define SECOND INT64_C(1000000000)
#define NOW (1000 * SECOND)
#define MINUTE (60 * SECOND)

enum { LARGE = 50000 };

static struct suspicion s;

static void lose_alone(int times, int bytes) {
  for (int i = 0; i < times; i++) suspicion_lost(&s, NOW, bytes, bytes);
}

TEST("falls on large creates that were unanswered at a loss, for a minute") {
  CHECK(!suspicion_isolates(&s, NOW, LARGE));
  suspicion_lost(&s, NOW, 0, LARGE);
  CHECK(suspicion_isolates(&s, NOW, LARGE));
  CHECK(suspicion_isolates(&s, NOW, SUSPICION_LEAST));
  CHECK(suspicion_isolates(&s, NOW + MINUTE - 1, LARGE));
  CHECK(!suspicion_isolates(&s, NOW + MINUTE, LARGE));
}

TEST("never falls on a small one") {
  suspicion_lost(&s, NOW, 0, LARGE);
  CHECK(!suspicion_isolates(&s, NOW, SUSPICION_LEAST - 1));
  suspicion_lost(&s, NOW + 2 * MINUTE, 0, SUSPICION_LEAST - 1);
  CHECK(!suspicion_isolates(&s, NOW + 2 * MINUTE, LARGE));
}

TEST("does not fall on what is not larger than what was answered lately") {
  suspicion_answered(&s, NOW, LARGE);
  suspicion_lost(&s, NOW, 0, LARGE + 1);
  CHECK(!suspicion_isolates(&s, NOW, LARGE));
  CHECK(suspicion_isolates(&s, NOW, LARGE + 1));
  suspicion_lost(&s, NOW + MINUTE, 0, LARGE);
  CHECK(suspicion_isolates(&s, NOW + MINUTE, LARGE));
}

TEST("defers only once a row has begun") {
  suspicion_lost(&s, NOW, 0, LARGE);
  CHECK(!suspicion_defers(&s, NOW, LARGE));
  lose_alone(1, LARGE);
  CHECK(suspicion_defers(&s, NOW, LARGE));
  CHECK(!suspicion_defers(&s, NOW, SUSPICION_LEAST - 1));
}

TEST("is proof after three losses in a row, for a minute") {
  lose_alone(2, LARGE);
  CHECK(!suspicion_refuses(&s, NOW, LARGE));
  lose_alone(1, LARGE);
  CHECK(suspicion_refuses(&s, NOW, LARGE));
  CHECK(suspicion_refuses(&s, NOW, LARGE + 1));
  CHECK(!suspicion_refuses(&s, NOW, LARGE - 1));
  CHECK(suspicion_refuses(&s, NOW + MINUTE - 1, LARGE));
  CHECK(!suspicion_refuses(&s, NOW + MINUTE, LARGE));
}

TEST("is proof against the largest of three") {
  lose_alone(1, LARGE);
  lose_alone(1, 2 * LARGE);
  lose_alone(1, LARGE);
  CHECK(!suspicion_refuses(&s, NOW, LARGE));
  CHECK(suspicion_refuses(&s, NOW, 2 * LARGE));
}

TEST("begins again after a session that has expired") {
  lose_alone(2, LARGE);
  suspicion_expired(&s);
  lose_alone(1, LARGE);
  CHECK(!suspicion_refuses(&s, NOW, LARGE));
  lose_alone(2, LARGE);
  CHECK(suspicion_refuses(&s, NOW, LARGE));
  suspicion_expired(&s);
  CHECK(!suspicion_refuses(&s, NOW, LARGE));
}

TEST("ends with an answer to one as large") {
  lose_alone(2, LARGE);
  suspicion_answered(&s, NOW, LARGE);
  lose_alone(2, LARGE);
  CHECK(!suspicion_refuses(&s, NOW, LARGE));
  lose_alone(1, LARGE);
  CHECK(suspicion_refuses(&s, NOW, LARGE));
  suspicion_answered(&s, NOW, LARGE - 1);
  CHECK(suspicion_refuses(&s, NOW, LARGE));
  suspicion_answered(&s, NOW, LARGE);
  CHECK(!suspicion_refuses(&s, NOW, LARGE));
}
