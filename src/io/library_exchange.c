#include "library_exchange.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "library_codes.h"

enum { DELETE, CREATE, PARTS };

enum { NUMBER = 11 }; /* what a server puts behind the path, at most */

enum { UNTOLD = 1 }; /* no error has this number */

/* One that is under way. */
struct exchange {
  struct slate slate; /* (first: it is freed by that) */
  uint64_t serials[PARTS];
  zoo_op_result_t results[PARTS];
  char path[]; /* of the new node */
};

static bool is_told(const struct exchange *e, int part) {
  return e->results[part].err != UNTOLD;
}

/* (The library takes an answer for "ok" that refuses both for no reason, or ends
 * before its time; and one half of it may have been done for all that it knows.)
 */
static const char *doubt(const struct exchange *e, int rc) {
  bool made = e->path[0];
  bool done = e->results[DELETE].err == ZOK && e->results[CREATE].err == ZOK;
  bool told = is_told(e, DELETE) && is_told(e, CREATE);
  if (rc != ZOK && !code_is_answer(rc)) return NULL;
  return (rc == ZOK ? done && made : told && !made)
             ? NULL
             : "an exchange that is neither done nor refused";
}

/* What does the answer to both say of this one? */
static int outcome(const struct exchange *e, int part, int rc) {
  int err = e->results[part].err;
  if (rc == ZOK || !code_is_answer(rc)) return answers_code(rc);
  return err == ZOK || err == ZRUNTIMEINCONSISTENCY ? REPLY_UNDONE
                                                    : answers_code(err);
}

static void report(const struct exchange *e, int part, int rc,
                   const char *path) {
  struct incident *incident =
      incident_new(INCIDENT_REPLY, outcome(e, part, rc), path, strlen(path));
  if (incident) {
    incident->serial = e->serials[part];
    incident->doubt = doubt(e, rc);
  }
  inbox_append(inbox_current, incident);
}

static void on_exchanged(int rc, const void *data) {
  struct exchange *e = (struct exchange *)data;
  assert(!e->slate.is_done); /* (acquires what was released below) */
  report(e, DELETE, rc, "");
  report(e, CREATE, rc, e->path);
  e->slate.is_done = true;
}

/* (A path that is longer than it may be is cut off, and then too long still.) */
int exchange_submit(struct library *l, const struct op *create,
                    const struct op *remove) {
  size_t room = strlen(create->path) + NUMBER + 2;
  struct exchange *e = calloc(1, sizeof *e + room);
  if (!e) return ZSYSTEMERROR;
  handle_keep(l, &e->slate);
  e->serials[DELETE] = remove->serial;
  e->serials[CREATE] = create->serial;
  e->results[DELETE].err = e->results[CREATE].err = UNTOLD;
  zoo_op_t ops[PARTS];
  zoo_delete_op_init(&ops[DELETE], remove->path, -1);
  zoo_create_op_init(&ops[CREATE], create->path, create->data, create->size,
                     &l->acl, ZOO_EPHEMERAL_SEQUENTIAL, e->path, (int)room);
  e->slate.is_done = false; /* (the library has locks for that, too) */
  return zoo_amulti(l->handle, PARTS, ops, e->results, on_exchanged, e);
}
