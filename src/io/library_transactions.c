/* Requests of several parts, which a server carries out all or none of: what is
 * asked, and what the answers to the parts say of the whole.
 *
 * The leader answers each part: the part that it refuses with the reason, those
 * before it with "ok" and those behind it with "runtime inconsistency". */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "library_codes.h"
#include "library_handle.h"
#include "path.h"

enum {
  PARTS = 5,        /* at most */
  ANY_VERSION = -1, /* of a node */
  NUMBER = 11,      /* what a server puts behind a path, at most */
  UNTOLD = 1,       /* no error has this number */
};

/* One that is under way: the library writes to it.  Where the library says that
 * nothing was sent, for it has no memory, it may call back all the same: so the
 * callback gives it back, or the end of the handle. */
struct transaction {
  struct transaction *next;
  bool is_answered;
  enum op_kind kind;
  uint64_t serial, other; /* `other`: of an exchange's delete */
  int parts;
  int condition;    /* the part without whose node nothing is done */
  struct Stat stat; /* of what was written */
  zoo_op_result_t results[PARTS];
  char path[]; /* of what was created, if the server chooses it */
};

void transactions_free(struct library *l, bool all) {
  struct transaction **link = &l->transactions, *t;
  while ((t = *link)) {
    if (all || t->is_answered) {
      *link = t->next;
      free(t);
    } else {
      link = &t->next;
    }
  }
}

static struct transaction *transaction_new(struct library *l,
                                           const struct op *op, size_t room) {
  struct transaction *t = calloc(1, sizeof *t + room + 1);
  if (!t) return NULL;
  t->kind = op->kind;
  t->serial = op->serial;
  for (int i = 0; i < PARTS; i++) t->results[i].err = UNTOLD;
  t->next = l->transactions;
  l->transactions = t;
  return t;
}

/* (A path that is longer than it may be is cut off, and then too long still.) */
static size_t room_for(const struct op *create) {
  return strlen(create->path) + NUMBER + 2;
}

static int send_all(struct library *l, struct transaction *t,
                    const zoo_op_t *ops, int parts, void_completion_t on_done) {
  t->parts = parts;
  return zoo_amulti(l->handle, parts, ops, t->results, on_done, t);
}

static bool is_refused(int err) {
  return err != ZOK && err != ZRUNTIMEINCONSISTENCY && err != UNTOLD;
}

static void report(const struct transaction *t, uint64_t serial, int code,
                   const char *doubt, const char *path) {
  struct incident *incident =
      incident_new(INCIDENT_REPLY, code, path, strlen(path));
  if (incident) {
    incident->serial = serial;
    incident->doubt = doubt;
    incident->owner = t->stat.ephemeralOwner;
  }
  inbox_append(library_current, incident);
}

/* A heartbeat: two checks.  lease.h has the reason: each other small write is
 * either refused, or changes something.
 *
 * Who refuses, the connected server or the leader?  The leader proposes such a
 * transaction like any other, and so its answer comes after the commit.  A server
 * that refuses by itself (throttled, read-only) answers the whole, and then the
 * client library gives the same error to each part.  That is what the second check
 * is for: it tells the two apart. */

/* We may not read the node, or it is not there: the leader says so. */
static bool is_refused_by_leader(const zoo_op_result_t *results) {
  int why = results[0].err;
  return (why == ZNOAUTH || why == ZNONODE) &&
         results[1].err == ZRUNTIMEINCONSISTENCY;
}

static void on_beaten(int rc, const void *data) {
  struct transaction *t = (struct transaction *)data;
  bool done = t->results[0].err == ZOK && t->results[1].err == ZOK;
  bool counts = code_is_answer(rc) && is_refused_by_leader(t->results);
  report(t, t->serial, counts ? ZOK : answers_code(rc),
         rc == ZOK && !done ? "a heartbeat that is neither done nor refused"
                            : NULL,
         "");
  t->is_answered = true;
}

int transaction_heartbeat(struct library *l, const struct op *op) {
  struct transaction *t = transaction_new(l, op, 0);
  zoo_op_t ops[2];
  if (!t) return ZSYSTEMERROR;
  zoo_check_op_init(&ops[0], op->path, ANY_VERSION);
  zoo_check_op_init(&ops[1], op->path, ANY_VERSION);
  return send_all(l, t, ops, 2, on_beaten);
}

/* A rehearsal. */

enum { MAKE, LOOK, ENTER, LEAVE, UNMAKE, REHEARSED };

static int outcome_of_rehearsal(const struct transaction *t, int told) {
  int rc = answers_code(told), which = MAKE;
  if (!code_is_answer(rc) || rc == ZOK) return rc;
  while (which < UNMAKE && t->results[which].err == ZOK) which++;
  if (which == MAKE) return rc;
  if (which == UNMAKE) return ZOK; /* (nor do we have to) */
  return rc == ZNOAUTH ? REASON_ACL : rc;
}

static void on_rehearsed(int rc, const void *data) {
  struct transaction *t = (struct transaction *)data;
  report(t, t->serial, outcome_of_rehearsal(t, rc), NULL, "");
  t->is_answered = true;
}

int transaction_rehearse(struct library *l, const struct op *op) {
  struct transaction *t = transaction_new(l, op, 0);
  char child[2 * PATH_MAX_BYTES + 40];
  zoo_op_t ops[REHEARSED];
  if (!t) return ZSYSTEMERROR;
  snprintf(child, sizeof child, "%s/rehearsal", op->path);
  zoo_create_op_init(&ops[MAKE], op->path, NULL, -1, &l->acl, 0, NULL, 0);
  zoo_check_op_init(&ops[LOOK], op->path, ANY_VERSION);
  zoo_create_op_init(&ops[ENTER], child, NULL, -1, &l->acl, 0, NULL, 0);
  zoo_delete_op_init(&ops[LEAVE], child, ANY_VERSION);
  zoo_delete_op_init(&ops[UNMAKE], op->path, ANY_VERSION);
  return send_all(l, t, ops, REHEARSED, on_rehearsed);
}

/* An exchange. */

enum { DELETE, CREATE };

/* (The library takes an answer for "ok" that refuses both for no reason, or ends
 * before its time; and one half of it may have been done for all that it knows.)
 */
static const char *doubt_exchange(const struct transaction *t, int rc) {
  int deleted = t->results[DELETE].err, created = t->results[CREATE].err;
  bool made = t->path[0];
  bool told = deleted != UNTOLD && created != UNTOLD;
  if (!code_is_answer(rc)) return NULL;
  return (rc == ZOK ? deleted == ZOK && created == ZOK && made : told && !made)
             ? NULL
             : "an exchange that is neither done nor refused";
}

/* What does the answer to both say of this one? */
static int outcome_of_part(const struct transaction *t, int part, int rc) {
  int err = t->results[part].err;
  if (rc == ZOK || !code_is_answer(rc)) return answers_code(rc);
  return err == ZOK || err == ZRUNTIMEINCONSISTENCY ? REPLY_UNDONE
                                                    : answers_code(err);
}

static void on_exchanged(int rc, const void *data) {
  struct transaction *t = (struct transaction *)data;
  const char *doubt = doubt_exchange(t, rc);
  report(t, t->other, outcome_of_part(t, DELETE, rc), doubt, "");
  report(t, t->serial, outcome_of_part(t, CREATE, rc), doubt, t->path);
  t->is_answered = true;
}

int transaction_exchange(struct library *l, const struct op *create,
                         const struct op *remove) {
  size_t room = room_for(create);
  struct transaction *t = transaction_new(l, create, room);
  zoo_op_t ops[2];
  if (!t) return ZSYSTEMERROR;
  t->other = remove->serial;
  zoo_delete_op_init(&ops[DELETE], remove->path, ANY_VERSION);
  zoo_create_op_init(&ops[CREATE], create->path, create->data, create->size,
                     &l->acl, ZOO_EPHEMERAL_SEQUENTIAL, t->path, (int)room);
  return send_all(l, t, ops, 2, on_exchanged);
}

/* Two nodes. */

enum { OWN, BESIDE };

/* (What the library says of an answer that ends before its time.) */
static const char *doubt_pair(const struct transaction *t, int rc) {
  int own = t->results[OWN].err, beside = t->results[BESIDE].err;
  bool made = t->kind != OP_CREATE || t->path[0];
  bool done = own == ZOK && beside == ZOK && made;
  bool fails = is_refused(own) || is_refused(beside);
  if (!code_is_answer(rc)) return NULL;
  return (rc == ZOK ? done : fails)
             ? NULL
             : "two nodes that are neither done nor refused";
}

/* Which of the two was refused?  (op.h) */
static int outcome_of_pair(const struct transaction *t, int rc) {
  int own = t->results[OWN].err, beside = t->results[BESIDE].err;
  if (rc == ZOK || !code_is_answer(rc)) return answers_code(rc);
  if (is_refused(own)) return answers_code(own);
  return beside == ZNONODE && t->kind == OP_REMOVE ? REPLY_UNDONE
                                                   : answers_code(beside);
}

static void on_pair(int rc, const void *data) {
  struct transaction *t = (struct transaction *)data;
  report(t, t->serial, outcome_of_pair(t, rc), doubt_pair(t, rc), t->path);
  t->is_answered = true;
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
static int send_pair(struct library *l, struct transaction *t,
                     const struct op *op, const char *beside) {
  zoo_op_t ops[2];
  if (op->kind == OP_CREATE) {
    zoo_create_op_init(&ops[OWN], op->path, NULL, -1, &l->acl,
                       ZOO_EPHEMERAL_SEQUENTIAL, t->path, (int)room_for(op));
    zoo_create_op_init(&ops[BESIDE], beside, op->data, op->size, &l->acl,
                       ZOO_EPHEMERAL, NULL, 0);
  } else {
    zoo_delete_op_init(&ops[OWN], op->path, ANY_VERSION);
    zoo_delete_op_init(&ops[BESIDE], beside, ANY_VERSION);
  }
  return send_all(l, t, ops, 2, on_pair);
}

int transaction_pair(struct library *l, const struct op *op) {
  char *beside = path_beside(op);
  struct transaction *t = beside ? transaction_new(l, op, room_for(op)) : NULL;
  int rc = t ? send_pair(l, t, op, beside) : ZSYSTEMERROR;
  free(beside);
  return rc;
}

/* On a condition. */

enum { CONDITIONAL = 3 };

/* The first that was refused; `parts`: none was. */
static int first_refused(const struct transaction *t) {
  int i = 0;
  while (i < t->parts && (t->results[i].err == ZOK ||
                          t->results[i].err == ZRUNTIMEINCONSISTENCY))
    i++;
  return i;
}

/* (What the library says of an answer that ends before its time.) */
static const char *doubt_condition(const struct transaction *t, int rc) {
  int i = first_refused(t);
  bool told = i == t->parts || t->results[i].err != UNTOLD;
  if (!code_is_answer(rc)) return NULL;
  return told && (rc == ZOK) == (i == t->parts)
             ? NULL
             : "a transaction that is neither done nor refused";
}

static int outcome_of_condition(const struct transaction *t, int rc) {
  int i = first_refused(t);
  if (rc == ZOK || !code_is_answer(rc) || i == t->parts)
    return answers_code(rc);
  int err = t->results[i].err;
  return i == t->condition && err == ZNONODE ? REPLY_UNDONE : answers_code(err);
}

static void on_condition(int rc, const void *data) {
  struct transaction *t = (struct transaction *)data;
  report(t, t->serial, outcome_of_condition(t, rc), doubt_condition(t, rc), "");
  t->is_answered = true;
}

static int add_parts(struct library *l, struct transaction *t,
                     const struct op *op, zoo_op_t ops[CONDITIONAL]) {
  int n = 0;
  zoo_check_op_init(&ops[n++], op->provided, ANY_VERSION);
  if (op->kind == OP_WRITE)
    zoo_set_op_init(&ops[n++], op->path, op->data, op->size, op->version,
                    &t->stat);
  if (op->kind == OP_REMOVE || op->anew)
    zoo_delete_op_init(&ops[n++], op->path, ANY_VERSION);
  if (op->kind == OP_MKDIR)
    zoo_create_op_init(&ops[n++], op->path, op->data, op->data ? op->size : -1,
                       op->shared ? &l->acl_shared : &l->acl, ZOO_PERSISTENT,
                       NULL, 0);
  return n;
}

int transaction_conditional(struct library *l, const struct op *op) {
  struct transaction *t = transaction_new(l, op, 0);
  zoo_op_t ops[CONDITIONAL];
  if (!t) return ZSYSTEMERROR;
  return send_all(l, t, ops, add_parts(l, t, op, ops), on_condition);
}

/* A server numbers the nodes of a directory by how many were made there before.  (No
 * list shows the one that is made, and deleted by the number that it must have.) */
int transaction_counted(struct library *l, const struct op *op) {
  int directory = (int)(strrchr(op->path, '/') - op->path);
  struct transaction *t = transaction_new(l, op, 0);
  char next[2 * PATH_MAX_BYTES + 40], expected[sizeof next + NUMBER];
  zoo_op_t ops[CONDITIONAL];
  if (!t) return ZSYSTEMERROR;
  snprintf(next, sizeof next, "%.*s/count-", directory, op->path);
  snprintf(expected, sizeof expected, "%s%010d", next, op->creates);
  t->condition = 1;
  zoo_create_op_init(&ops[0], next, NULL, -1, &l->acl, ZOO_EPHEMERAL_SEQUENTIAL,
                     NULL, 0);
  zoo_delete_op_init(&ops[1], expected, ANY_VERSION);
  zoo_delete_op_init(&ops[2], op->path, ANY_VERSION);
  return send_all(l, t, ops, CONDITIONAL, on_condition);
}
