/*   make a nonce → make it → it exists: does a session own it?
 *             ↑         → what is above it, from the first part that is there
 *
 *   make a nonce → delete it
 *
 * (Directories above it are containers, as those of locks.  A session that cannot
 * create or check a nonce does without; that request may be applied late.) */
#include "barrier.h"

#include <stdlib.h>
#include <string.h>

#include "protocol/session.h"

/* So often something may vanish that was there a moment before. */
enum { TRIES = 100 };

static op_handler on_nonce, on_made, on_looked;
static op_handler on_nonce_to_lift, on_lifted;

/* Nonces. */

/* The path of a new one, which OP_CREATE is to make; NULL: no memory. */
static const char *prepare_nonce(struct query *query) {
  struct op *op = &query->places[0].request.op;
  op->exact = true;
  op->data = NULL;
  op->size = 0;
  query->nonce = nonce_new(&query->session->nonces, query->path);
  return query->nonce ? query->nonce->path : NULL;
}

static void make_nonce(struct request *request, op_handler *handler) {
  request->op.path = prepare_nonce(request->query);
  if (request->op.path)
    query_follow(request, OP_CREATE, handler);
  else
    query_answered(request, REASON_NO_MEMORY);
}

/* Is this refused because of the nonce, perhaps?  It takes room of a quota, and a check
 * of it takes the right to read it. */
static bool is_due_to_nonce(const struct query *query, int rc) {
  return query->nonce && (rc == REPLY_NO_AUTH || rc == REPLY_QUOTA_EXCEEDED);
}

static void do_without(struct request *request) {
  query_drop_nonce(request->query);
  request->op.provided = NULL;
}

/* Its answer.  False: it may be there, or none can be made now. */
static bool note_nonce(struct request *request, int rc) {
  struct query *query = request->query;
  if (reply_is_unknown(rc) || rc == REPLY_THROTTLED) return false;
  if (rc != REPLY_OK) {
    free(query->nonce);
    query->nonce = NULL;
  }
  request->op.provided = query->nonce ? query->nonce->path : NULL;
  return true;
}

/* Setting. */

static int cost_of_making(const struct query *query, int i) {
  (void)i;
  return (int)query->size;
}

/* As much of the path as is being made: places[0] has it. */
static char *part_of(const struct query *query) {
  return query->places[0].path;
}

static bool is_whole(const struct query *query) {
  return strlen(part_of(query)) == strlen(query->path);
}

/* (Who we are a server knows: a directory that shuts out its maker would be of use
 * to nobody.) */
static enum op_kind prepare(struct query *query) {
  struct op *op = &query->places[0].request.op;
  const struct wire *wire = &query->session->wire;
  size_t length = strlen(part_of(query));
  bool whole = is_whole(query);
  op->data = whole ? query->text : NULL;
  op->size = whole ? (int)query->size : 0;
  op->persistent =
      whole || wire->no_containers || length <= wire->chroot_length;
  op->shared = length < wire->chroot_length;
  return wire->doubts_acl && wire->rehearsed_in != wire->connection
             ? OP_REHEARSE
             : OP_MKDIR;
}

static void make(struct query *query, int i) {
  query_send(query, &query->places[i].request, OP_CREATE, on_nonce,
             prepare_nonce(query));
}

static void make_part(struct request *request) {
  request->op.path = part_of(request->query);
  query_follow(request, prepare(request->query), on_made);
}

/* Something has changed: once more. */
static void go_on(struct request *request) {
  struct query *query = request->query;
  if (query->tries++ == TRIES)
    query_answered(request, REASON_NO_PARENT);
  else if (is_whole(query) && !query->nonce)
    make_nonce(request, on_nonce);
  else
    make_part(request);
}

static void make_parent(struct request *request) {
  char *slash = strrchr(part_of(request->query), '/');
  query_drop_nonce(request->query);
  request->op.provided = NULL;
  *slash = '\0';
  if (slash == part_of(request->query))
    query_answered(request, REASON_NO_PARENT);
  else
    go_on(request);
}

static void make_child(struct request *request) {
  const struct query *query = request->query;
  size_t length = strlen(part_of(query));
  const char *next = strchr(query->path + length + 1, '/');
  length = next ? (size_t)(next - query->path) : strlen(query->path);
  memcpy(part_of(query), query->path,
         length); /* NOLINT: the next line ends it */
  part_of(query)[length] = '\0';
  go_on(request);
}

static void on_nonce(struct op *op, const struct reply *reply) {
  struct request *request = op->owner;
  if (!note_nonce(request, reply->rc))
    query_answered(request, reply->rc);
  else if (reply->rc == REPLY_NO_NODE)
    make_parent(request);
  else
    make_part(request);
}

/* (Another client may have deleted the nonce.) */
static void on_made(struct op *op, const struct reply *reply) {
  struct request *request = op->owner;
  struct query *query = request->query;
  struct wire *wire = &query->session->wire;
  int rc = reply->rc;
  bool there = rc == REPLY_OK || rc == REPLY_NODE_EXISTS;
  if (rc == REPLY_OK && op->kind == OP_REHEARSE) {
    wire->rehearsed_in = wire->connection;
    go_on(request);
  } else if (rc == REPLY_NO_NODE) {
    make_parent(request);
  } else if (rc == REPLY_UNIMPLEMENTED && !op->persistent) {
    wire->no_containers = true;
    go_on(request);
  } else if (rc == REPLY_UNDONE) {
    query_drop_nonce(query);
    go_on(request);
  } else if (is_due_to_nonce(query, rc)) {
    do_without(request);
    make_part(request);
  } else if (there && !is_whole(query)) {
    make_child(request);
  } else if (rc == REPLY_NODE_EXISTS) {
    query_follow(request, OP_PING, on_looked);
  } else {
    query->marked = rc == REPLY_OK;
    query_answered(request, rc);
  }
}

/* (A session's node would lift it when the session ends.  One that may not be looked
 * at keeps its waiters waiting as if it were set.) */
static void on_looked(struct op *op, const struct reply *reply) {
  struct request *request = op->owner;
  if (reply->rc == REPLY_NO_NODE)
    go_on(request);
  else if (reply->rc == REPLY_NO_AUTH)
    query_answered(request, REPLY_OK);
  else if (reply->rc == REPLY_OK && reply->owner != 0)
    query_answered(request, REASON_OWNED);
  else
    query_answered(request, reply->rc);
}

struct query *barrier_to_set(const char *chroot, const char *path,
                             const char *data, size_t size) {
  static const struct phase phases[] = {{query_count_one, cost_of_making, make},
                                        {.count = NULL}};
  struct query *query = query_new(QUERY_SET, phases, chroot, path);
  if (!query) return NULL;
  query->places[0].path = query_join(query->path, "", "");
  query->text = malloc(size + 1);
  if (!query->text || !query->places[0].path) {
    query_free(query);
    return NULL;
  }
  memcpy(query->text, data, size);
  query->size = size;
  return query;
}

/* Lifting. */

static void lift(struct query *query, int i) {
  query_send(query, &query->places[i].request, OP_CREATE, on_nonce_to_lift,
             prepare_nonce(query));
}

static void delete_it(struct request *request) {
  request->op.path = request->query->path;
  query_follow(request, OP_REMOVE, on_lifted);
}

static void end_lifting(struct request *request, int rc) {
  request->query->missing = rc == REPLY_NO_NODE;
  query_answered(request, rc);
}

static void on_nonce_to_lift(struct op *op, const struct reply *reply) {
  struct request *request = op->owner;
  if (!note_nonce(request, reply->rc) || reply->rc == REPLY_NO_NODE)
    end_lifting(request, reply->rc);
  else
    delete_it(request);
}

static void on_lifted(struct op *op, const struct reply *reply) {
  struct request *request = op->owner;
  struct query *query = request->query;
  if (reply->rc == REPLY_UNDONE && query->tries++ < TRIES) {
    query_drop_nonce(query);
    make_nonce(request, on_nonce_to_lift);
  } else if (is_due_to_nonce(query, reply->rc)) {
    do_without(request);
    delete_it(request);
  } else {
    end_lifting(request, reply->rc);
  }
}

struct query *barrier_to_lift(const char *chroot, const char *path) {
  static const struct phase phases[] = {{query_count_one, query_cost_none,
                                         lift},
                                        {.count = NULL}};
  return query_new(QUERY_LIFT, phases, chroot, path);
}
