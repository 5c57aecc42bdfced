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

enum {
  PARTS = 5,         /* the most parts of a transaction */
  ANY_VERSION = -1,  /* any version of a node */
  NUMBER = 11,       /* length of the longest sequence number */
  NOT_DECIDED = 1,   /* the part has no result; no code is 1 */
  NO_CONDITION = -1, /* see struct transaction */
  SUFFIX = 40,       /* room for a number and the name of another node */
};

/* A transaction in flight. The client library writes its results. If memory
 * runs out, the library can report that nothing was sent, but later still call
 * the callback. So only the callback, or the end of the handle, allows the
 * transaction to be freed. */
struct transaction {
  struct transaction *next;
  bool is_answered;
  enum op_kind kind;
  uint64_t serial,
      other; /* `other`: the serial of an exchange's delete; or 0 */
  int parts;
  /* The part whose missing node makes the result REPLY_UNDONE (op.h); or
   * NO_CONDITION. */
  int condition;
  struct Stat stat; /* the Stat of the written node */
  zoo_op_result_t results[PARTS];
  size_t room; /* the size of each of the three texts in `path` */
  /* The path of the new node, if the server adds a number. Behind it are two
   * paths of the request, each in its own room. */
  char path[];
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

/* Results. */

/* Returns the index of the first part that was refused or has no result. If
 * there is none, returns the number of parts. */
static int first_refused(const struct transaction *t) {
  int i = 0;
  while (i < t->parts && (t->results[i].err == ZOK ||
                          t->results[i].err == ZRUNTIMEINCONSISTENCY))
    i++;
  return i;
}

/* Returns an error text if the results contradict the code `rc` of the whole
 * transaction; otherwise NULL. The library reports "ok" for a truncated reply,
 * and for a reply that refuses all parts without a reason. It can also report
 * that only some parts were carried out. */
static const char *check(const struct transaction *t, int rc) {
  int done = 0, refused = first_refused(t);
  if (!code_is_answer(rc)) return NULL;
  while (done < t->parts && t->results[done].err == ZOK) done++;
  bool made = t->path[0];
  bool is_success = done == t->parts && made == (t->kind == OP_CREATE);
  bool is_refusal =
      refused < t->parts && t->results[refused].err != NOT_DECIDED && !made;
  return (rc == ZOK ? is_success : is_refusal)
             ? NULL
             : "a transaction that neither succeeded nor failed";
}

/* If the first check of a heartbeat is refused, the result of the second check
 * shows which server has refused it. If the leader has, the second result is
 * "runtime inconsistency". Such a reply proves a heartbeat: the leader proposes
 * even a refused transaction, so the reply comes after the commit. The
 * connected server can also refuse by itself (throttled, read-only). Then it
 * refuses the whole transaction, and the client library gives the same error to
 * each part. */
static bool is_heartbeat_refused_by_leader(const zoo_op_result_t *results) {
  int why = results[0].err;
  return (why == ZNOAUTH || why == ZNONODE) &&
         results[1].err == ZRUNTIMEINCONSISTENCY;
}

/* The parts of a check of an ACL. */
enum { MAKE, CHECK, ENTER, LEAVE, UNMAKE, ACL_CHECK_PARTS };

/* Returns the code to report for the whole transaction, whose code is `rc`. If
 * a part was refused, this follows from the result of that part. */
static int outcome(const struct transaction *t, int rc) {
  int i = first_refused(t);
  if (rc == ZOK || !code_is_answer(rc) || i == t->parts)
    return answers_code(rc);
  int err = answers_code(t->results[i].err);
  if (t->kind == OP_HEARTBEAT && is_heartbeat_refused_by_leader(t->results))
    return ZOK;
  if (t->kind == OP_CHECK_ACL) /* the directory need not be deletable */
    return i == UNMAKE ? ZOK : i != MAKE && err == ZNOAUTH ? REASON_ACL : err;
  return i == t->condition && err == ZNONODE ? REPLY_UNDONE : err;
}

/* The parts of an exchange. */
enum { DELETE, CREATE };

/* Returns the code to report for one part of an exchange. */
static int outcome_of_part(const struct transaction *t, int part, int rc) {
  int err = t->results[part].err;
  if (rc == ZOK || !code_is_answer(rc)) return answers_code(rc);
  return err == ZOK || err == ZRUNTIMEINCONSISTENCY ? REPLY_UNDONE
                                                    : answers_code(err);
}

static void report(const struct transaction *t, uint64_t serial, int code,
                   const char *fault, const char *path) {
  struct incident *incident =
      incident_new(INCIDENT_REPLY, code, path, strlen(path));
  if (incident) {
    incident->serial = serial;
    incident->fault = fault;
    incident->reply.owner = t->stat.ephemeralOwner;
  }
  inbox_append(library_current, incident);
}

static void on_done(int rc, const void *data) {
  struct transaction *t = (struct transaction *)data;
  const char *fault = check(t, rc);
  if (t->other) {
    report(t, t->other, outcome_of_part(t, DELETE, rc), fault, "");
    report(t, t->serial, outcome_of_part(t, CREATE, rc), fault, t->path);
  } else {
    report(t, t->serial, outcome(t, rc), fault, t->path);
  }
  t->is_answered = true;
}

/* Parts. The functions below return the number of parts. */

static struct transaction *transaction_new(struct library *l,
                                           const struct op *op) {
  size_t room = strlen(op->path) + SUFFIX + NUMBER +
                (op->beside ? strlen(op->beside) : 0);
  struct transaction *t = calloc(1, sizeof *t + 3 * room);
  if (!t) return NULL;
  t->kind = op->kind;
  t->serial = op->serial;
  t->condition = NO_CONDITION;
  t->room = room;
  for (int i = 0; i < PARTS; i++) t->results[i].err = NOT_DECIDED;
  t->next = l->transactions;
  l->transactions = t;
  return t;
}

static int directory_length(const struct op *op) {
  return (int)(strrchr(op->path, '/') - op->path);
}

static void check_node(zoo_op_t *part, const char *path) {
  zoo_check_op_init(part, path, ANY_VERSION);
}

static void delete_node(zoo_op_t *part, const char *path) {
  zoo_delete_op_init(part, path, ANY_VERSION);
}

static void create_empty(struct library *l, zoo_op_t *part, const char *path,
                         int flags) {
  zoo_create_op_init(part, path, NULL, -1, &l->acl, flags, NULL, 0);
}

/* Adds the create of the op's node, to whose name the server adds a number. The
 * buffer for its path has one byte more than the longest valid path needs. The
 * client library truncates paths that do not fit. A truncated path is therefore
 * still too long, and zklock rejects it. */
static void create_numbered(struct library *l, struct transaction *t,
                            zoo_op_t *part, const struct op *op,
                            const void *data, int size) {
  zoo_create_op_init(part, op->path, data, size, &l->acl,
                     ZOO_EPHEMERAL_SEQUENTIAL, t->path,
                     (int)strlen(op->path) + NUMBER + 2);
}

/* A heartbeat is a transaction of two checks: a write that changes nothing. The
 * reply proves that a quorum of servers has committed the write. lease.h
 * explains why no other small write serves: a server would refuse it, or it
 * would change something. */
static int add_heartbeat(zoo_op_t *parts, const struct op *op) {
  check_node(&parts[0], op->path);
  check_node(&parts[1], op->path);
  return 2;
}

/* Tests whether this session could use a directory that has the ACL of option
 * `acl`: creates the directory, checks it, creates a child, and deletes both.
 * No other client sees any of these changes. */
static int add_acl_check(struct library *l, struct transaction *t,
                         zoo_op_t *parts, const struct op *op) {
  char *child = t->path + t->room;
  snprintf(child, t->room, "%s/rehearsal", op->path);
  create_empty(l, &parts[MAKE], op->path, 0);
  check_node(&parts[CHECK], op->path);
  create_empty(l, &parts[ENTER], child, 0);
  delete_node(&parts[LEAVE], child);
  delete_node(&parts[UNMAKE], op->path);
  return ACL_CHECK_PARTS;
}

/* Deletes the node of `remove` and creates the node of `op`. Both belong to
 * this session. Each of the two ops gets a reply. */
static int add_exchange(struct library *l, struct transaction *t,
                        zoo_op_t *parts, const struct op *op,
                        const struct op *remove) {
  t->other = remove->serial;
  delete_node(&parts[DELETE], remove->path);
  create_numbered(l, t, &parts[CREATE], op, op->data, op->size);
  return 2;
}

/* Creates or deletes two nodes: the op's node, and the node `beside`. A create
 * writes the data only to `beside`, because that is the node that all sessions
 * read. */
static int add_pair(struct library *l, struct transaction *t, zoo_op_t *parts,
                    const struct op *op) {
  char *beside = t->path + t->room;
  snprintf(beside, t->room, "%.*s/%s", directory_length(op), op->path,
           op->beside);
  if (op->kind == OP_CREATE) {
    create_numbered(l, t, &parts[0], op, NULL, -1);
    zoo_create_op_init(&parts[1], beside, op->data, op->size, &l->acl,
                       ZOO_EPHEMERAL, NULL, 0);
  } else {
    t->condition = 1;
    delete_node(&parts[0], op->path);
    delete_node(&parts[1], beside);
  }
  return 2;
}

/* Deletes the op's node unless more than `op->creates` children were ever
 * created in its directory. The number of a new sequential node is the number
 * of children that were created in its directory before. So the transaction
 * first creates a sequential node. Then it deletes the node whose number is
 * `op->creates`. If more children were created, the new node has a greater
 * number, and the node to delete does not exist. Then the server refuses the
 * transaction. No client ever sees the new node. */
static int add_counted(struct library *l, struct transaction *t,
                       zoo_op_t *parts, const struct op *op) {
  char *next = t->path + t->room, *expected = next + t->room;
  int length = directory_length(op);
  snprintf(next, t->room, "%.*s/count-", length, op->path);
  snprintf(expected, t->room, "%.*s/count-%010d", length, op->path,
           op->creates);
  t->condition = 1;
  create_empty(l, &parts[0], next, ZOO_EPHEMERAL_SEQUENTIAL);
  delete_node(&parts[1], expected);
  delete_node(&parts[2], op->path);
  return 3;
}

/* Carries out an OP_MKDIR of a persistent node, an OP_WRITE or an OP_REMOVE, if
 * the node `op->provided` exists. */
static int add_conditional(struct library *l, struct transaction *t,
                           zoo_op_t *parts, const struct op *op) {
  int n = 0;
  t->condition = n;
  check_node(&parts[n++], op->provided);
  if (op->kind == OP_WRITE)
    zoo_set_op_init(&parts[n++], op->path, op->data, op->size, op->version,
                    &t->stat);
  if (op->kind == OP_REMOVE || op->replace) delete_node(&parts[n++], op->path);
  if (op->kind == OP_MKDIR)
    zoo_create_op_init(&parts[n++], op->path, op->data,
                       op->data ? op->size : -1,
                       op->shared ? &l->acl_shared : &l->acl, ZOO_PERSISTENT,
                       NULL, 0);
  return n;
}

int transaction_submit(struct library *l, const struct op *op,
                       const struct op *before) {
  struct transaction *t = transaction_new(l, op);
  zoo_op_t parts[PARTS];
  if (!t) return ZSYSTEMERROR;
  t->parts = before                     ? add_exchange(l, t, parts, op, before)
             : op->kind == OP_HEARTBEAT ? add_heartbeat(parts, op)
             : op->kind == OP_CHECK_ACL ? add_acl_check(l, t, parts, op)
             : op->beside               ? add_pair(l, t, parts, op)
             : op->counted              ? add_counted(l, t, parts, op)
                                        : add_conditional(l, t, parts, op);
  return zoo_amulti(l->handle, t->parts, parts, t->results, on_done, t);
}
