/* Sends transactions: requests of several parts. A server carries out all parts
 * or none. This file derives the result of the whole transaction from the
 * results of its parts.
 *
 * The leader returns one result for each part. If it refuses a part, the result
 * of that part is the reason. Then the earlier parts have the result "ok", and
 * the later parts have "runtime inconsistency". */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "library_codes.h"
#include "library_handle.h"
#include "path.h"

enum {
  PARTS = 5,        /* the most parts of a transaction */
  ANY_VERSION = -1, /* any version of a node */
  NUMBER = 11,      /* length of the longest sequence number */
  NOT_DECIDED = 1,  /* the part has no result; no code is 1 */
};

/* A transaction in flight. The client library writes its results. If memory
 * runs out, the library can report that nothing was sent, but later still call
 * the callback. So only the callback, or the end of the handle, allows the
 * transaction to be freed. */
struct transaction {
  struct transaction *next;
  bool is_answered;
  enum op_kind kind;
  uint64_t serial, other; /* `other`: the serial of an exchange's delete */
  int parts;
  int condition;    /* the part that checks the condition */
  struct Stat stat; /* the Stat of the written node */
  zoo_op_result_t results[PARTS];
  char path[]; /* path of the new node, if the server adds a number */
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
  for (int i = 0; i < PARTS; i++) t->results[i].err = NOT_DECIDED;
  t->next = l->transactions;
  l->transactions = t;
  return t;
}

/* Returns the buffer size for a created node's path: one byte more than the
 * longest valid path needs. The client library truncates paths that do not fit.
 * A truncated path is therefore still too long, and zklock rejects it. */
static size_t room_for(const struct op *create) {
  return strlen(create->path) + NUMBER + 2;
}

static int send_all(struct library *l, struct transaction *t,
                    const zoo_op_t *ops, int parts, void_completion_t on_done) {
  t->parts = parts;
  return zoo_amulti(l->handle, parts, ops, t->results, on_done, t);
}

static bool is_refused(int err) {
  return err != ZOK && err != ZRUNTIMEINCONSISTENCY && err != NOT_DECIDED;
}

static void report(const struct transaction *t, uint64_t serial, int code,
                   const char *fault, const char *path) {
  struct incident *incident =
      incident_new(INCIDENT_REPLY, code, path, strlen(path));
  if (incident) {
    incident->serial = serial;
    incident->fault = fault;
    incident->owner = t->stat.ephemeralOwner;
  }
  inbox_append(library_current, incident);
}

/* A heartbeat is a transaction of two checks. lease.h explains why no other
 * small write serves: a server would refuse it, or it would change something.
 *
 * If the first check is refused, the result of the second check shows which
 * server has refused it. If the leader has, the second result is "runtime
 * inconsistency". Such a reply proves a heartbeat: the leader proposes even a
 * refused transaction, so the reply comes after the commit. The connected
 * server can also refuse by itself (throttled, read-only). Then it refuses the
 * whole transaction, and the client library gives the same error to each
 * part. */

/* Returns whether the leader has refused the first check, because an ACL
 * forbids it or because the node is missing. */
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
         rc == ZOK && !done ? "a heartbeat that neither succeeded nor failed"
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

/* The functions below test an ACL: see transaction_check_acl. */

enum { MAKE, CHECK, ENTER, LEAVE, UNMAKE, ACL_CHECK_PARTS };

static int outcome_of_acl_check(const struct transaction *t, int known) {
  int rc = answers_code(known), which = MAKE;
  if (!code_is_answer(rc) || rc == ZOK) return rc;
  while (which < UNMAKE && t->results[which].err == ZOK) which++;
  if (which == MAKE) return rc;
  if (which == UNMAKE) return ZOK; /* the directory need not be deletable */
  return rc == ZNOAUTH ? REASON_ACL : rc;
}

static void on_acl_checked(int rc, const void *data) {
  struct transaction *t = (struct transaction *)data;
  report(t, t->serial, outcome_of_acl_check(t, rc), NULL, "");
  t->is_answered = true;
}

int transaction_check_acl(struct library *l, const struct op *op) {
  struct transaction *t = transaction_new(l, op, 0);
  char child[2 * PATH_MAX_BYTES + 40];
  zoo_op_t ops[ACL_CHECK_PARTS];
  if (!t) return ZSYSTEMERROR;
  snprintf(child, sizeof child, "%s/rehearsal", op->path);
  zoo_create_op_init(&ops[MAKE], op->path, NULL, -1, &l->acl, 0, NULL, 0);
  zoo_check_op_init(&ops[CHECK], op->path, ANY_VERSION);
  zoo_create_op_init(&ops[ENTER], child, NULL, -1, &l->acl, 0, NULL, 0);
  zoo_delete_op_init(&ops[LEAVE], child, ANY_VERSION);
  zoo_delete_op_init(&ops[UNMAKE], op->path, ANY_VERSION);
  return send_all(l, t, ops, ACL_CHECK_PARTS, on_acl_checked);
}

/* The functions below send an exchange: see transaction_exchange. */

enum { DELETE, CREATE };

/* Returns an error text if the results contradict the code `rc`; otherwise
 * NULL. The library reports "ok" for a truncated reply, and for a reply that
 * refuses both parts without a reason. It can also report that only one part
 * was carried out. */
static const char *check_exchange(const struct transaction *t, int rc) {
  int deleted = t->results[DELETE].err, created = t->results[CREATE].err;
  bool made = t->path[0];
  bool known = deleted != NOT_DECIDED && created != NOT_DECIDED;
  if (!code_is_answer(rc)) return NULL;
  return (rc == ZOK ? deleted == ZOK && created == ZOK && made : known && !made)
             ? NULL
             : "an exchange that neither succeeded nor failed";
}

/* Returns the code to report for the part with the index `part`. `rc` is the
 * code of the whole transaction. */
static int outcome_of_part(const struct transaction *t, int part, int rc) {
  int err = t->results[part].err;
  if (rc == ZOK || !code_is_answer(rc)) return answers_code(rc);
  return err == ZOK || err == ZRUNTIMEINCONSISTENCY ? REPLY_UNDONE
                                                    : answers_code(err);
}

static void on_exchanged(int rc, const void *data) {
  struct transaction *t = (struct transaction *)data;
  const char *fault = check_exchange(t, rc);
  report(t, t->other, outcome_of_part(t, DELETE, rc), fault, "");
  report(t, t->serial, outcome_of_part(t, CREATE, rc), fault, t->path);
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

/* Transactions on two nodes (see transaction_pair): sending them and checking
 * their results. */

enum { OWN, BESIDE };

/* Returns an error text if the results contradict the code `rc`; otherwise
 * NULL. The library reports such results for a truncated reply. */
static const char *check_pair(const struct transaction *t, int rc) {
  int own = t->results[OWN].err, beside = t->results[BESIDE].err;
  bool made = t->kind != OP_CREATE || t->path[0];
  bool done = own == ZOK && beside == ZOK && made;
  bool fails = is_refused(own) || is_refused(beside);
  if (!code_is_answer(rc)) return NULL;
  return (rc == ZOK ? done : fails)
             ? NULL
             : "two creates that neither succeeded nor failed";
}

/* Returns the code of the whole transaction. If a part was refused, this is the
 * result of that part. Exception: if a delete finds no node `beside`, it is
 * REPLY_UNDONE (op.h). */
static int outcome_of_pair(const struct transaction *t, int rc) {
  int own = t->results[OWN].err, beside = t->results[BESIDE].err;
  if (rc == ZOK || !code_is_answer(rc)) return answers_code(rc);
  if (is_refused(own)) return answers_code(own);
  return beside == ZNONODE && t->kind == OP_REMOVE ? REPLY_UNDONE
                                                   : answers_code(beside);
}

static void on_pair(int rc, const void *data) {
  struct transaction *t = (struct transaction *)data;
  report(t, t->serial, outcome_of_pair(t, rc), check_pair(t, rc), t->path);
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

/* Sends a transaction that creates or deletes two nodes. A create writes the
 * data only to `beside`, because that is the node that all sessions read. */
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

/* The functions below send transactions with a condition: see
 * transaction_conditional and transaction_counted. */

enum { CONDITIONAL = 3 };

/* Returns the index of the first part that was refused or has no result. If
 * there is none, returns the number of parts. */
static int first_refused(const struct transaction *t) {
  int i = 0;
  while (i < t->parts && (t->results[i].err == ZOK ||
                          t->results[i].err == ZRUNTIMEINCONSISTENCY))
    i++;
  return i;
}

/* Returns an error text if the results contradict the code `rc`; otherwise
 * NULL. The library reports such results for a truncated reply. */
static const char *check_condition(const struct transaction *t, int rc) {
  int i = first_refused(t);
  bool known = i == t->parts || t->results[i].err != NOT_DECIDED;
  if (!code_is_answer(rc)) return NULL;
  return known && (rc == ZOK) == (i == t->parts)
             ? NULL
             : "a transaction that neither succeeded nor failed";
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
  report(t, t->serial, outcome_of_condition(t, rc), check_condition(t, rc), "");
  t->is_answered = true;
}

static int add_parts(struct library *l, struct transaction *t,
                     const struct op *op, zoo_op_t ops[CONDITIONAL]) {
  int n = 0;
  zoo_check_op_init(&ops[n++], op->provided, ANY_VERSION);
  if (op->kind == OP_WRITE)
    zoo_set_op_init(&ops[n++], op->path, op->data, op->size, op->version,
                    &t->stat);
  if (op->kind == OP_REMOVE || op->replace)
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

/* Sends a delete that a server refuses if more than `op->creates` children were
 * ever created in the directory. The number of a new sequential node is the
 * number of children that were created in its directory before. So the
 * transaction first creates a sequential node. Then it deletes the node whose
 * number is `op->creates`. If more children were created, the new node has a
 * greater number, and the node to delete does not exist. Then the server
 * refuses the transaction. Otherwise the last part deletes the node of `op`. No
 * client ever sees the new node. */
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
