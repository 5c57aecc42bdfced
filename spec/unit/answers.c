#include <stdlib.h>
#include <string.h>

#include "io/library_handle.h"
#include "test.h"

ABOUT("The checks of replies");

enum { SESSION = 7, OLD = 50, NEW = 100 };

static struct answers answers;

/* Returns what is wrong with the reply that `czxid` has created the node. */
static const char *check(uint64_t serial, int64_t czxid) {
  static const char path[] = "/node";
  const struct op create = {.path = path, .exact = true, .serial = serial};
  struct incident *incident = calloc(1, sizeof *incident + sizeof path);
  CHECK(incident && answers_expect(&answers, &create, false));
  incident->serial = serial;
  incident->code = ZOK;
  incident->reply.czxid = czxid;
  incident->reply.owner = SESSION;
  strcpy(incident->text, path);
  const char *fault = answers_check(&answers, incident);
  free(incident);
  return fault;
}

TEST("doubt a server whose later node is older, in one connection only") {
  answers_init(&answers);
  answers_begin(&answers, SESSION);
  CHECK(!check(1, NEW));
  CHECK(check(2, OLD));
  /* The servers can have been restored without their newest data. */
  answers_begin(&answers, SESSION);
  CHECK(!check(3, OLD));
}
