#include "library_condition.h"

#include <assert.h>
#include <stdlib.h>

#include "library_codes.h"

enum { CHECK, PARTS = 3 };

enum { UNTOLD = 1 }; /* no error has this number */

/* One that is under way. */
struct condition {
  struct slate slate; /* (first: it is freed by that) */
  uint64_t serial;
  int parts;
  struct Stat stat; /* of what was written */
  zoo_op_result_t results[PARTS];
};

/* The first that was refused; `parts`: none was. */
static int refused(const struct condition *c) {
  int i = 0;
  while (i < c->parts && (c->results[i].err == ZOK ||
                          c->results[i].err == ZRUNTIMEINCONSISTENCY))
    i++;
  return i;
}

/* (What the library says of an answer that ends before its time.) */
static const char *doubt(const struct condition *c, int rc) {
  int i = refused(c);
  bool told = i == c->parts || c->results[i].err != UNTOLD;
  if (rc != ZOK && !code_is_answer(rc)) return NULL;
  return told && (rc == ZOK) == (i == c->parts)
             ? NULL
             : "a transaction that is neither done nor refused";
}

static int outcome(const struct condition *c, int rc) {
  int i = refused(c);
  if (rc == ZOK || !code_is_answer(rc) || i == c->parts)
    return answers_code(rc);
  int err = c->results[i].err;
  return i == CHECK && err == ZNONODE ? REPLY_UNDONE : answers_code(err);
}

static void on_answered(int rc, const void *data) {
  struct condition *c = (struct condition *)data;
  assert(!c->slate.is_done); /* (acquires what was released below) */
  struct incident *incident =
      incident_new(INCIDENT_REPLY, outcome(c, rc), NULL, 0);
  if (incident) {
    incident->serial = c->serial;
    incident->doubt = doubt(c, rc);
    incident->owner = c->stat.ephemeralOwner;
  }
  inbox_append(inbox_current, incident);
  c->slate.is_done = true;
}

static void add_parts(struct condition *c, struct library *l,
                      const struct op *op, zoo_op_t ops[PARTS]) {
  zoo_check_op_init(&ops[c->parts++], op->provided, -1);
  if (op->kind == OP_WRITE)
    zoo_set_op_init(&ops[c->parts++], op->path, op->data, op->size, op->version,
                    &c->stat);
  if (op->kind == OP_REMOVE || op->anew)
    zoo_delete_op_init(&ops[c->parts++], op->path, -1);
  if (op->kind == OP_MKDIR)
    zoo_create_op_init(&ops[c->parts++], op->path, op->data,
                       op->data ? op->size : -1,
                       op->shared ? &l->acl_shared : &l->acl, ZOO_PERSISTENT,
                       NULL, 0);
}

int condition_submit(struct library *l, const struct op *op) {
  struct condition *c = calloc(1, sizeof *c);
  zoo_op_t ops[PARTS];
  if (!c) return ZSYSTEMERROR;
  handle_keep(l, &c->slate);
  c->serial = op->serial;
  for (int i = 0; i < PARTS; i++) c->results[i].err = UNTOLD;
  add_parts(c, l, op, ops);
  c->slate.is_done = false; /* (the library has locks for that, too) */
  return zoo_amulti(l->handle, c->parts, ops, c->results, on_answered, c);
}
