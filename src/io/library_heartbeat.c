/* Who refuses, the connected server or the leader?
 *
 * The leader answers each part: the part that it refuses with the reason, every
 * part behind that with "runtime inconsistency".  It proposes such a multi like
 * any other, and so the answer comes after the commit.  A server that refuses by
 * itself (throttled, read-only) answers the whole, and then the client library
 * gives the same error to each part.  That is what the second check is for: it
 * tells the two apart. */
#include "library_heartbeat.h"

#include <stddef.h>

#include "library_codes.h"

enum { FIRST, SECOND };
_Static_assert(SECOND + 1 == BEATS, "as many as there is room for");

enum { ANY_VERSION = -1, UNTOLD = 1 /* no error has this number */ };

/* (Completions come in order, each behind its own results.) */
static struct library *current(void) {
  return (struct library *)((char *)inbox_current -
                            offsetof(struct library, inbox));
}

static void forget(struct library *l) {
  l->beaten[FIRST].err = l->beaten[SECOND].err = UNTOLD;
}

/* We may not read the node, or it is not there: the leader says so. */
static bool is_refused_by_leader(const struct library *l) {
  int why = l->beaten[FIRST].err;
  return (why == ZNOAUTH || why == ZNONODE) &&
         l->beaten[SECOND].err == ZRUNTIMEINCONSISTENCY;
}

static bool is_done(const struct library *l) {
  return l->beaten[FIRST].err == ZOK && l->beaten[SECOND].err == ZOK;
}

static int outcome(const struct library *l, int rc) {
  return code_is_answer(rc) && is_refused_by_leader(l) ? ZOK : answers_code(rc);
}

static void on_beaten(int rc, const void *data) {
  struct library *l = current();
  struct incident *incident =
      incident_new(INCIDENT_REPLY, outcome(l, rc), NULL, 0);
  if (incident) {
    incident->serial = (uint64_t)(uintptr_t)data;
    if (rc == ZOK && !is_done(l))
      incident->doubt = "a heartbeat that is neither done nor refused";
  }
  forget(l);
  inbox_append(inbox_current, incident);
}

void heartbeat_init(struct library *l) { forget(l); }

int heartbeat_submit(struct library *l, const struct op *op) {
  zoo_op_t ops[BEATS];
  zoo_check_op_init(&ops[FIRST], op->path, ANY_VERSION);
  zoo_check_op_init(&ops[SECOND], op->path, ANY_VERSION);
  return zoo_amulti(l->handle, BEATS, ops, l->beaten, on_beaten,
                    (const void *)(uintptr_t)op->serial);
}
