/* Servers whose answers lead nowhere: they are asked ever more rarely. */
#include "protocol/pipeline.h"
#include "protocol/timer.h"
#include "stage.h"

ABOUT("The protocol, where a server's answers lead nowhere,");

enum { SOME = 300, MANY = 10000 }; /* requests */

/* What such a server says; how many nodes it has made, and deleted. */
struct answers {
  int create, mkdir, get, list;
  int made, removed;
};

static const struct answers unlisted = {.get = REPLY_NO_NODE};

static bool begins(const char *request, const char *with) {
  return strncmp(request, with, strlen(with)) == 0;
}

static void answer(struct stage *s, struct answers *a) {
  char next[200];
  snprintf(next, sizeof next, "%s", oldest(s));
  bool child = strcmp(next, "mkdir /a/lock") == 0;
  if (begins(next, "create") && a->create == REPLY_OK)
    happens(s, "%s: %d", next, ++a->made);
  else if (begins(next, "create"))
    happens(s, "%s: code %d", next, a->create);
  else if (begins(next, "mkdir"))
    happens(s, "%s: code %d", next, child ? a->mkdir : REPLY_NODE_EXISTS);
  else if (begins(next, "list") && a->list == REPLY_OK)
    happens(s, "list: nobody");
  else if (begins(next, "list"))
    happens(s, "%s: code %d", next, a->list);
  else if (begins(next, "get") || begins(next, "exists"))
    happens(s, "%s: code %d", next, a->get);
  else
    happens(s, "%s", next);
  a->removed += begins(next, "remove");
}

/* So many requests are answered in so many milliseconds, MANY at most. */
static int asked_within(struct stage *s, int milliseconds, struct answers *a) {
  int requests = 0;
  for (; milliseconds > 0; milliseconds--) {
    for (; *oldest(s) && requests < MANY; requests++) answer(s, a);
    passes(s, 1);
  }
  return requests;
}

static void check_rare(struct stage *s, struct actor *a,
                       struct answers answers) {
  CHECK(asked_within(s, 3000, &answers) < SOME);
  HEARD(a, "");
  CHECK(asked_within(s, 27000, &answers) < SOME);
  HEARD(a, "");
}

TEST("asks a server ever more rarely that makes no node, or no directory") {
  static const int codes[] = {REPLY_NODE_EXISTS, REPLY_NO_NODE};
  for (int i = 0; i < 2; i++) {
    struct stage *s = BEGIN();
    check_rare(s, ACQUIRE(s, .path = "/a/lock"),
               (struct answers){.create = REPLY_NO_NODE,
                                .mkdir = codes[i],
                                .list = REPLY_NO_NODE});
    END(s);
  }
}

STORY("asks ever more rarely about a directory without a list that is there") {
  check_rare(s, await(s, true),
             (struct answers){.list = REPLY_NO_NODE, .get = REPLY_OK});
}

/* Requests within so many milliseconds, where a list shows node 2, which is not there
 * when it is looked at, between 1 and 3, ours. */
static int asked_about_a_ghost(struct stage *s, int milliseconds) {
  int requests = 0;
  for (; milliseconds > 0; milliseconds--) {
    for (; *oldest(s) && requests < MANY; requests++) {
      char next[200];
      snprintf(next, sizeof next, "%s", oldest(s));
      if (begins(next, "list"))
        happens(s, "list: 1 2 3");
      else if (strcmp(next, "get 2") == 0)
        happens(s, "%s: no node", next);
      else
        happens(s, "%s", next);
    }
    passes(s, 1);
  }
  return requests;
}

STORY("lists ever more rarely where a node is shown that is not there") {
  struct actor *a = ACQUIRE(s);
  happens(s, "create lock: 3");
  CHECK(asked_about_a_ghost(s, 3000) < SOME);
  CHECK(asked_about_a_ghost(s, 27000) < SOME);
  HEARD(a, "");
  while (!begins(oldest(s), "list")) passes(s, 1);
  HEARS(a, "list: 3", "granted");
}

/* What was made is deleted, though no list shows it. */
STORY("leaves no node behind at a server that never lists it") {
  struct actor *a = ACQUIRE(s);
  struct answers answers = unlisted;
  asked_within(s, 30000, &answers);
  CHECK(answers.made > 5);
  CHECK(answers.removed >= answers.made - 1);
  cancel(a);
  asked_within(s, 1000, &answers);
  CHECK_INT(answers.made, answers.removed);
  HEARD(a, "refused: cancelled, removed, forgotten");
}

STORY("begins again at once in a new connection, however long it paused") {
  ACQUIRE(s);
  struct answers answers = unlisted;
  asked_within(s, 8000, &answers);
  happens(s, "reconnects");
  int made = answers.made;
  while (answers.made == made) asked_within(s, 1, &answers);
  CHECK(answers.made >= made + 3);
}

TEST("repeats at once again after a session timeout") {
  const int64_t timeout = 4000000000;
  struct pipeline w = {.connection = 1, .timeout = timeout, .retry_at = NEVER};
  struct refusals b = {0};
  for (int64_t quiet = timeout - 1; quiet <= timeout; quiet++) {
    for (int i = 0; i < 8; i++) {
      w.now = b.until;
      pipeline_repeat(&w, &b);
    }
    w.now = b.until + quiet;
    for (int i = 0; i < 3; i++) {
      pipeline_repeat(&w, &b);
      CHECK_INT(quiet < timeout, pipeline_must_pause(&w, &b));
    }
  }
}
