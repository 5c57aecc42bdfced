#include "ask.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "protocol/mkdir.h"
#include "protocol/session.h"

enum { NO_SHARE = -1 };

/* A "mkdir" sends at most TRIES + 1 requests, because other clients can delete
 * the parents again and again. */
enum { TRIES = 100 };

static op_handler on_answer, on_made, on_nonce_made, on_done_once, on_verified;
static bool send_next(struct sender *sender);

/* Creating an ask. */

static void drop(void *ask) { ask_free(ask); }

struct ask *ask_new(int count, int64_t each, int64_t all) {
  struct ask *ask =
      calloc(1, sizeof *ask + (size_t)count * sizeof ask->requests[0]);
  if (!ask) return NULL;
  ask->subject.drop = drop;
  message_init(&ask->begin, &ask->subject);
  message_init(&ask->answered, &ask->subject);
  ask->sender = (struct sender){.owner = ask, .send = send_next};
  ask->each = each;
  ask->all = all;
  return ask;
}

void ask_free(struct ask *ask) {
  for (int i = 0; i < ask->count; i++) {
    free(ask->requests[i].text);
    free(ask->requests[i].data);
  }
  if (ask->acquisition) acquisition_drop(ask->acquisition);
  free(ask);
}

static const struct operation {
  const char *word;
  enum op_kind kind;
  op_handler *handler;
} operations[] = {
    {"sync", OP_SYNC, on_answer},
    {"exists", OP_PING, on_answer},
    {"list", OP_NAMES, on_answer},
    {"get", OP_READ, on_answer},
    {"set", OP_WRITE, on_answer},
    {"create", OP_MKDIR, on_answer},
    {"delete", OP_REMOVE, on_answer},
    {"delete-both", OP_REMOVE, on_answer},
    {"mkdir", OP_MKDIR, on_made},
    {"create-once", OP_MKDIR, on_done_once},
    {"delete-once", OP_REMOVE, on_done_once},
};

static bool is(const struct text *text, const char *word) {
  return text->size == strlen(word) &&
         memcmp(text->text, word, text->size) == 0;
}

static const struct operation *find_operation(const struct text *word) {
  for (size_t i = 0; i < sizeof operations / sizeof *operations; i++)
    if (is(word, operations[i].word)) return &operations[i];
  return NULL;
}

/* Returns whether the path is absolute, short enough and without a NUL. The
 * client library checks the other rules for paths. */
static bool is_path(const struct text *path) {
  return path->size > 0 && path->size < ASK_PACKET && path->text[0] == '/' &&
         !memchr(path->text, '\0', path->size);
}

static char *put(char *to, const char *text, size_t size) {
  if (text) memcpy(to, text, size);
  return to + size;
}

/* Writes the chroot, the path and a NUL to `to`. Returns the address after the
 * NUL. */
static char *put_path(char *to, const char *chroot, const struct text *path) {
  bool is_chroot = path->size == 1 && *chroot;
  to = put(to, chroot, strlen(chroot));
  if (!is_chroot) to = put(to, path->text, path->size);
  *to++ = '\0';
  return to;
}

/* Copies the paths and the data of `a` to `r`. Returns false if there is no
 * memory. */
static bool copy(struct request *r, const char *chroot, const struct asked *a) {
  size_t length = strlen(chroot);
  char *to =
      malloc(2 * (length + 1) + a->path.size + a->provided.size + a->data.size);
  if (!to) return false;
  r->op.path = r->text = to;
  to = put_path(to, chroot, &a->path);
  if (a->provided.text) {
    r->op.provided = to;
    to = put_path(to, chroot, &a->provided);
  }
  if (a->data.text) r->op.data = to;
  put(to, a->data.text, a->data.size);
  return true;
}

/* Returns how many bytes of the in-flight limit the request uses. */
static int cost_of(const struct request *r) {
  switch (r->op.kind) {
    case OP_PING:
      return (int)strlen(r->op.path);
    case OP_NAMES:
      return r->number > ASK_CHILDREN ? 0 : r->number * ASK_CHILD_BYTES;
    case OP_READ:
      return r->number > ASK_READ_BYTES ? r->number : ASK_READ_BYTES;
    default:
      return r->op.size;
  }
}

enum ask_fault ask_add(struct ask *ask, const char *chroot,
                       const struct asked *asked) {
  const struct operation *operation = find_operation(&asked->operation);
  struct asked a = *asked;
  if (!operation || !is_path(&a.path) || a.data.size > ASK_PACKET)
    return ASK_WRONG;
  if (a.provided.text && !is_path(&a.provided)) return ASK_WRONG;
  bool makes = operation->handler == on_made;
  if (makes) a.provided = a.path; /* a second copy, for the parents' paths */
  struct request *r = &ask->requests[ask->count];
  if (!copy(r, chroot, &a)) return ASK_NO_MEMORY;
  r->ask = ask;
  r->number = a.number < 0 && operation->kind != OP_WRITE ? 0 : a.number;
  r->op.kind = operation->kind;
  r->op.handler = operation->handler;
  r->op.owner = r;
  r->op.size = (int)a.data.size;
  r->op.version = r->number;
  r->op.persistent = true;
  if (is(&a.operation, "delete-both")) r->op.beside = NAME_UNFAIR;
  if (makes) {
    r->whole = r->op.provided;
    r->op.provided = NULL;
    r->length = strlen(r->whole);
  }
  ask->count++;
  return ASK_OK;
}

/* Requests and replies. */

/* Sends the request. After a transient refusal the op is sent again, except a
 * sync: reads that follow a sync must not be older than the sync. */
static bool submit(struct request *r) {
  r->op.resend = r->op.kind != OP_SYNC;
  r->op.tries = 0;
  return session_ask(r->ask->session, clock_now(), &r->op);
}

static void end(struct ask *ask) { ask->done(ask->self, ask); }

static void drop_nonce(struct request *r) {
  if (!r->nonce) return;
  nonce_delete(r->nonce);
  r->nonce = NULL;
  r->op.provided = NULL;
}

/* Returns whether the code `rc` of one request must end the whole ask. */
static bool ends_ask(const struct ask *ask, int rc) {
  return reply_is_unknown(rc) || reply_is_unauthenticated(rc) ||
         (ask->acquisition && rc != REPLY_OK && rc != REPLY_NO_NODE);
}

/* Records the result `rc` of a request. The last result ends the ask. */
static void answered(struct request *r, int rc) {
  struct ask *ask = r->ask;
  struct in_flight_limit *limit = ask->limit;
  int cost = r->cost;
  drop_nonce(r);
  r->rc = rc;
  if (ask->rc == REPLY_OK && ends_ask(ask, rc)) ask->rc = rc;
  ask->pending--;
  if (ask->pending == 0 && !ask->is_queued) end(ask);
  if (cost != NO_SHARE) in_flight_limit_leave(limit, cost);
}

/* Sends the request. If this fails, records the request as lost. */
static void send_or_lose(struct request *r) {
  if (!submit(r)) answered(r, REPLY_LOST);
}

static int at_least_none(int n) { return n > 0 ? n : 0; }

static void copy_stat(struct known *known, const struct reply *reply) {
  *known = (struct known){.czxid = reply->czxid,
                          .owner = reply->owner,
                          .ctime_ms = reply->ctime_ms,
                          .mtime_ms = reply->mtime_ms,
                          .version = reply->version,
                          .length = at_least_none(reply->length),
                          .children = at_least_none(reply->children)};
}

/* Keeps the node's data if the ask's limits allow it. Returns a reply code. */
static int keep_data(struct request *r, const struct reply *reply) {
  struct ask *ask = r->ask;
  int size = r->known.length = at_least_none(reply->size);
  if (size > ask->each || size > ask->all - ask->kept) return REPLY_OK;
  r->data = malloc((size_t)size + 1);
  if (!r->data) return REASON_NO_MEMORY;
  if (size) memcpy(r->data, reply->data, (size_t)size);
  r->size = (size_t)size;
  ask->kept += size;
  return REPLY_OK;
}

static int keep_names(struct request *r, const struct listing *listing) {
  if (!listing) return REASON_NO_MEMORY;
  if (listing->count > ASK_CHILDREN) return REASON_TOO_MANY_CHILDREN;
  for (int i = 0; i < listing->count; i++)
    r->size += strlen(listing->entries[i].name) + 1;
  char *to = r->data = malloc(r->size + 1);
  if (!r->data) return REASON_NO_MEMORY;
  for (int i = 0; i < listing->count; i++)
    to = stpcpy(to, listing->entries[i].name) + 1;
  return REPLY_OK;
}

static void on_answer(struct op *op, const struct reply *reply) {
  struct request *r = op->owner;
  int rc = reply->rc;
  if (rc == REPLY_OK) {
    copy_stat(&r->known, reply);
    if (op->kind == OP_READ) rc = keep_data(r, reply);
    if (op->kind == OP_NAMES) rc = keep_names(r, reply->listing);
  }
  answered(r, rc);
}

static void make_part(struct request *r) {
  mkdir_prepare(&r->op, &r->ask->session->pipeline, r->text, r->whole,
                r->length);
  send_or_lose(r);
}

static void on_made(struct op *op, const struct reply *reply) {
  struct request *r = op->owner;
  switch (mkdir_on_reply(op, &r->ask->session->pipeline, reply->rc, r->whole,
                         &r->length)) {
    case MKDIR_DONE:
      answered(r, REPLY_OK);
      break;
    case MKDIR_CONTINUES:
      if (r->tries++ == TRIES)
        answered(r, REPLY_NO_NODE);
      else
        make_part(r);
      break;
    case MKDIR_REFUSED:
      answered(r, reply->rc);
      break;
  }
}

/* Executes "create-once" or "delete-once", at most once. First creates a nonce
 * (nonce.h), then sends a transaction that checks the nonce. If the session is
 * not allowed to use a nonce, sends the request without one. After REPLY_UNDONE
 * the caller can retry, because another client may have deleted the nonce. */

static void create_nonce(struct request *r) {
  struct session *session = r->ask->session;
  struct nonce *n = r->nonce = nonce_new(&session->nonces, r->op.path);
  if (!n) {
    answered(r, REASON_NO_MEMORY);
    return;
  }
  n->op = (struct op){.kind = OP_CREATE,
                      .handler = on_nonce_made,
                      .owner = r,
                      .path = n->path,
                      .exact = true,
                      .resend = true};
  if (!session_ask(session, clock_now(), &n->op)) answered(r, REPLY_LOST);
}

static void send_once(struct request *r) {
  if (r->op.kind != OP_REMOVE)
    r->op.kind =
        mkdir_checks_acl(&r->ask->session->pipeline) ? OP_CHECK_ACL : OP_MKDIR;
  send_or_lose(r);
}

/* Handles the reply to the nonce's create. Sends the transaction, unless it is
 * unknown whether the nonce exists. */
static void on_nonce_made(struct op *op, const struct reply *reply) {
  struct request *r = op->owner;
  int rc = reply->rc;
  if (reply_is_unknown(rc) || rc == REPLY_THROTTLED) {
    answered(r, rc);
    return;
  }
  if (rc != REPLY_OK) {
    free(r->nonce);
    r->nonce = NULL;
  }
  if (r->nonce) r->op.provided = r->nonce->path;
  if (rc == REPLY_NO_NODE)
    answered(r, rc);
  else
    send_once(r);
}

/* Returns whether a server may have refused the request because of its nonce. A
 * nonce counts towards a quota, and its check needs permission to read. */
static bool is_due_to_nonce(const struct request *r, int rc) {
  return r->nonce && (rc == REPLY_NO_AUTH || rc == REPLY_QUOTA_EXCEEDED);
}

static void on_done_once(struct op *op, const struct reply *reply) {
  struct request *r = op->owner;
  struct pipeline *pipeline = &r->ask->session->pipeline;
  if (reply->rc == REPLY_OK && op->kind == OP_CHECK_ACL) {
    pipeline->acl_checked_in = pipeline->connection;
    send_once(r);
  } else if (is_due_to_nonce(r, reply->rc)) {
    drop_nonce(r);
    send_once(r);
  } else {
    answered(r, reply->rc);
  }
}

struct ask *ask_to_verify(struct acquisition *acquisition) {
  struct ask *ask = ask_new(2, 0, 0);
  if (!ask) return NULL;
  acquisition_keep(acquisition);
  ask->acquisition = acquisition;
  return ask;
}

/* Returns whether this hold has created the node. If not, another session has
 * created it, or another hold of the same unfair lock. */
static bool is_node_of(const struct acquisition *acquisition,
                       const struct reply *reply) {
  return reply->owner == acquisition->contender.node.owner_session &&
         reply->czxid == acquisition->contender.node.czxid;
}

static void on_verified(struct op *op, const struct reply *reply) {
  struct request *r = op->owner;
  struct ask *ask = r->ask;
  ask->gone = reply->rc == REPLY_NO_NODE ||
              (reply->rc == REPLY_OK && !is_node_of(ask->acquisition, reply));
  answered(r, reply->rc);
}

static char *path_of_node(struct acquisition *acquisition) {
  const char *node = acquisition_node(acquisition);
  size_t size = strlen(acquisition->path) + strlen(node) + 2;
  char *path = malloc(size);
  if (path) snprintf(path, size, "%s/%s", acquisition->path, node);
  return path;
}

static void send_to_verify(struct ask *ask, struct request *r, char *path,
                           enum op_kind kind, op_handler *handler) {
  r->ask = ask;
  r->cost = NO_SHARE;
  r->op.kind = kind;
  r->op.handler = handler;
  r->op.owner = r;
  r->op.path = path;
  send_or_lose(r);
}

/* Starts the check of a hold (ask_to_verify). Ignores the in-flight limit. */
static void verify(struct ask *ask) {
  struct acquisition *acquisition = ask->acquisition;
  char *path = NULL;
  ask->gone = acquisition_outcome(acquisition) != ACQUISITION_HELD ||
              !acquisition->in_session;
  if (!ask->gone && !(path = path_of_node(acquisition)))
    ask->rc = REASON_NO_MEMORY;
  if (!path) {
    end(ask);
    return;
  }
  ask->count = 2;
  ask->pending = 3; /* one more than sent: keeps a reply from ending the ask */
  ask->requests[0].text = path;
  send_to_verify(ask, &ask->requests[0], path, OP_SYNC, on_answer);
  send_to_verify(ask, &ask->requests[1], path, OP_READ, on_verified);
  if (--ask->pending == 0) end(ask);
}

static void send(struct request *r) {
  if (r->op.kind == OP_NAMES && r->number > ASK_CHILDREN)
    answered(r, REASON_TOO_MANY_CHILDREN);
  else if (r->op.handler == on_done_once)
    create_nonce(r);
  else if (r->op.handler == on_made)
    make_part(r);
  else
    send_or_lose(r);
}

/* Sends the next request unless the ask failed. Returns whether requests are
 * left. */
static bool send_next(struct sender *sender) {
  struct ask *ask = sender->owner;
  if (ask->rc != REPLY_OK) {
    ask->is_queued = false;
    in_flight_limit_leave(ask->limit, sender->cost);
    if (ask->pending == 0) end(ask);
    return false;
  }
  struct request *r = &ask->requests[ask->cursor++];
  bool more = ask->cursor < ask->count;
  r->cost = sender->cost;
  if (more) sender->cost = cost_of(r + 1);
  ask->is_queued = more;
  ask->pending++;
  send(r);
  return more;
}

void ask_begin(struct ask *ask, struct session *session,
               struct in_flight_limit *limit,
               void (*done)(void *self, struct ask *ask), void *self) {
  ask->session = session;
  ask->limit = limit;
  ask->done = done;
  ask->self = self;
  if (ask->acquisition) {
    verify(ask);
    return;
  }
  ask->sender.cost = cost_of(&ask->requests[0]);
  ask->is_queued = true;
  in_flight_limit_join(limit, &ask->sender);
}
