#include "io/addresses.h"

#include <stdio.h>
#include <string.h>

#include "../sim/memory.h"
#include "test.h"

ABOUT("A list of addresses");

#define MILLISECOND INT64_C(1000000)
#define SECOND (1000 * MILLISECOND)
#define NOW (1000 * SECOND)
#define TIMEOUT (10 * SECOND)

static struct addresses a;

static void set(const char *list) { CHECK(addresses_set(&a, list)); }

static void begin(const char *list) {
  addresses_init(&a, 42);
  set(list);
}

/* The pause after one more failure of the first. */
static int64_t pause_ms(int64_t timeout) {
  addresses_failed(&a, 0, NOW, timeout);
  return (a.list[0].not_before - NOW) / MILLISECOND;
}

static bool is_about(int64_t expected, int64_t value) {
  return value >= expected && value <= expected + expected / 4;
}

TEST("has all of them, in an order of its own") {
  char order[8] = "";
  int different = 0;
  for (uint64_t seed = 1; seed <= 20; seed++) {
    char last[8];
    strcpy(last, order);
    addresses_init(&a, seed * UINT64_C(0x9e3779b97f4a7c15));
    set("1,2,3,4,5");
    CHECK_INT(5, a.count);
    for (int i = 0; i < 5; i++) order[i] = a.list[i].text[0];
    order[5] = '\0';
    for (char c = '1'; c <= '5'; c++) CHECK(strchr(order, c) != NULL);
    different += strcmp(order, last) != 0;
    addresses_free(&a);
  }
  CHECK(different > 10);
}

TEST("gives them in turn") {
  bool seen[3] = {false};
  begin("1,2,3");
  for (int i = 0; i < 3; i++) seen[addresses_take(&a, NOW)] = true;
  CHECK(seen[0] && seen[1] && seen[2]);
  CHECK_INT(0, addresses_take(&a, NOW));
  addresses_free(&a);
}

TEST("tries one that failed once again at once, then after longer pauses") {
  static const int pauses[] = {0, 10, 20, 40, 80, 160, 320, 640, 1000, 1000};
  begin("1");
  for (int i = 0; i < 10; i++) CHECK(is_about(pauses[i], pause_ms(TIMEOUT)));
  for (int i = 0; i < 100; i++) CHECK(is_about(1000, pause_ms(TIMEOUT)));
  addresses_free(&a);
}

TEST("pauses for a tenth of the timeout at most, from 0.1 to 2 s") {
  begin("1");
  for (int i = 0; i < 20; i++) pause_ms(TIMEOUT);
  CHECK(is_about(2000, pause_ms(100 * SECOND)));
  CHECK(is_about(100, pause_ms(SECOND / 2)));
  CHECK(is_about(400, pause_ms(4 * SECOND)));
  addresses_free(&a);
}

TEST("says when one may be tried again") {
  begin("1,2");
  CHECK_INT(0, addresses_due(&a));
  for (int i = 0; i < 2; i++)
    for (int n = 0; n < 4 + i; n++) addresses_failed(&a, i, NOW, TIMEOUT);
  CHECK_INT(-1, addresses_take(&a, NOW));
  CHECK_INT(a.list[0].not_before, addresses_due(&a));
  CHECK_INT(0, addresses_take(&a, addresses_due(&a)));
  addresses_free(&a);
}

TEST("forgives one whose connection has lived") {
  begin("1");
  for (int i = 0; i < 5; i++) pause_ms(TIMEOUT);
  addresses_served(&a, 0);
  CHECK_INT(0, addresses_take(&a, 0));
  CHECK_INT(0, pause_ms(TIMEOUT));
  addresses_free(&a);
}

TEST("keeps what it knows of those that stay in a new list") {
  begin("1,2,3");
  int two = addresses_find(&a, "2");
  for (int i = 0; i < 5; i++) addresses_failed(&a, two, NOW, TIMEOUT);
  int64_t not_before = a.list[two].not_before;
  set("9,2,7,8");
  two = addresses_find(&a, "2");
  CHECK_INT(5, a.list[two].failures);
  CHECK_INT(not_before, a.list[two].not_before);
  CHECK_INT(0, a.list[addresses_find(&a, "9")].failures);
  CHECK_INT(-1, addresses_find(&a, "1"));
  addresses_free(&a);
}

TEST("is the same if it comes from an equal list") {
  begin("10.0.0.1:2181,10.0.0.2:2181");
  CHECK(addresses_are(&a, "10.0.0.1:2181,10.0.0.2:2181"));
  CHECK(!addresses_are(&a, "10.0.0.1:2181"));
  CHECK(!addresses_are(&a, "10.0.0.1:2181,10.0.0.2:21811"));
  CHECK(!addresses_are(&a, "10.0.0.1:2181,10.0.0.2:2181,10.0.0.3:2181"));
  addresses_free(&a);
}

TEST("stays as it is where there is no memory for another") {
  begin("1,2");
  memory_refuse(1);
  CHECK(!addresses_set(&a, "3"));
  memory_refuse(2);
  CHECK(!addresses_set(&a, "3"));
  memory_refuse(3);
  CHECK(!addresses_set(&a, "3"));
  CHECK(addresses_are(&a, "1,2"));
  memory_refuse(0);
  addresses_free(&a);
}

TEST("keeps the names of each address") {
  begin("1 one uno,2 two");
  int first = addresses_find(&a, "1"), second = addresses_find(&a, "2");
  CHECK_TEXT("one uno", a.list[first].names);
  CHECK_TEXT("two", a.list[second].names);
  CHECK(!addresses_are(&a, "1 one,2 two"));
  addresses_failed(&a, first, NOW, TIMEOUT);
  set("1 two,2 one");
  CHECK_INT(1, a.list[addresses_find(&a, "1")].failures);
  CHECK_TEXT("two", a.list[addresses_find(&a, "1")].names);
  addresses_free(&a);
}

TEST("knows whether all of them refuse") {
  begin("1,2");
  CHECK(!addresses_refused(&a, 0, true));
  CHECK(addresses_refused(&a, 1, true));
  CHECK(!addresses_refused(&a, 1, false));
  addresses_free(&a);
}
