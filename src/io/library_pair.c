#include "library_pair.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "library_codes.h"

enum { OWN, BESIDE, PARTS };

enum { NUMBER = 11 }; /* what a server puts behind the path, at most */

enum { UNTOLD = 1 }; /* no error has this number */

/* One that is under way. */
struct pair {
  struct slate slate; /* (first: it is freed by that) */
  uint64_t serial;
  bool creates;
  zoo_op_result_t results[PARTS];
  char path[]; /* of the new node */
};

static bool is_refused(int err) {
  return err != ZOK && err != ZRUNTIMEINCONSISTENCY && err != UNTOLD;
}

/* (What the library says of an answer that ends before its time.) */
static const char *doubt(const struct pair *p, int rc) {
  int own = p->results[OWN].err, beside = p->results[BESIDE].err;
  bool done = own == ZOK && beside == ZOK && (!p->creates || p->path[0]);
  bool fails = is_refused(own) || is_refused(beside);
  if (rc != ZOK && !code_is_answer(rc)) return NULL;
  return (rc == ZOK ? done : fails)
             ? NULL
             : "two nodes that are neither done nor refused";
}

/* Which of the two was refused?  (op.h) */
static int outcome(const struct pair *p, int rc) {
  int own = p->results[OWN].err, beside = p->results[BESIDE].err;
  if (rc == ZOK || !code_is_answer(rc)) return answers_code(rc);
  if (is_refused(own)) return answers_code(own);
  return beside == ZNONODE && !p->creates ? REPLY_UNDONE : answers_code(beside);
}

static void on_answered(int rc, const void *data) {
  struct pair *p = (struct pair *)data;
  assert(!p->slate.is_done); /* (acquires what was released below) */
  struct incident *incident =
      incident_new(INCIDENT_REPLY, outcome(p, rc), p->path, strlen(p->path));
  if (incident) {
    incident->serial = p->serial;
    incident->doubt = doubt(p, rc);
  }
  inbox_append(inbox_current, incident);
  p->slate.is_done = true;
}

static char *path_beside(const struct op *op) {
  size_t directory = (size_t)(strrchr(op->path, '/') - op->path) + 1;
  char *path = malloc(directory + strlen(op->beside) + 1);
  if (!path) return NULL;
  memcpy(path, op->path, directory);
  strcpy(path + directory, op->beside);
  return path;
}

/* (The data are those of the node that all look at.) */
static int submit(struct library *l, const struct op *op, struct pair *p,
                  const char *beside, size_t room) {
  zoo_op_t ops[PARTS];
  if (p->creates) {
    zoo_create_op_init(&ops[OWN], op->path, NULL, -1, &l->acl,
                       ZOO_EPHEMERAL_SEQUENTIAL, p->path, (int)room);
    zoo_create_op_init(&ops[BESIDE], beside, op->data, op->size, &l->acl,
                       ZOO_EPHEMERAL, NULL, 0);
  } else {
    zoo_delete_op_init(&ops[OWN], op->path, -1);
    zoo_delete_op_init(&ops[BESIDE], beside, -1);
  }
  p->slate.is_done = false; /* (the library has locks for that, too) */
  return zoo_amulti(l->handle, PARTS, ops, p->results, on_answered, p);
}

int pair_submit(struct library *l, const struct op *op) {
  bool creates = op->kind == OP_CREATE;
  size_t room = creates ? strlen(op->path) + NUMBER + 2 : 1;
  char *beside = path_beside(op);
  struct pair *p = beside ? calloc(1, sizeof *p + room) : NULL;
  int rc = ZSYSTEMERROR;
  if (p) {
    handle_keep(l, &p->slate);
    p->serial = op->serial;
    p->creates = creates;
    p->results[OWN].err = p->results[BESIDE].err = UNTOLD;
    rc = submit(l, op, p, beside, room);
  }
  free(beside);
  return rc;
}
