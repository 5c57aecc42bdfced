#include "ask.h"

#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "protocol/mkdir.h"

/* A "mkdir" sends at most TRIES + 1 requests, because other clients can delete
 * the parents again and again. */
enum { TRIES = 100 };

static op_handler on_answer, on_made, on_nonce_made, on_done_once;

/* Creating an ask. */

static void free_ask(void *self) {
  struct ask *ask = self;
  for (int i = 0; i < ask->count; i++) {
    free(ask->requests[i].text);
    free(ask->requests[i].data);
  }
  free(ask);
}

struct ask *ask_new(int count, int64_t each, int64_t all) {
  struct ask *ask =
      calloc(1, sizeof *ask + (size_t)count * sizeof ask->requests[0]);
  if (!ask) return NULL;
  subject_init(&ask->subject, free_ask);
  message_init(&ask->message, &ask->subject);
  ask->each = each;
  ask->all = all;
  return ask;
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

static int cost_of(const struct op *op) {
  switch (op->kind) {
    case OP_PING:
      return (int)strlen(op->path);
    case OP_NAMES:
      return op->version > ASK_CHILDREN ? 0 : op->version * ASK_CHILD_BYTES;
    case OP_READ:
      return op->version > ASK_READ_BYTES ? op->version : ASK_READ_BYTES;
    default:
      return op->size;
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
  r->op.kind = operation->kind;
  r->op.handler = operation->handler;
  r->op.owner = r;
  r->op.size = (int)a.data.size;
  r->op.version = a.number < 0 && operation->kind != OP_WRITE ? 0 : a.number;
  r->op.persistent = true;
  if (is(&a.operation, "delete-both")) r->op.beside = NAME_UNFAIR;
  if (makes) {
    r->whole = r->op.provided;
    r->op.provided = NULL;
    r->length = strlen(r->whole);
  }
  r->cost = cost_of(&r->op);
  ask->count++;
  return ASK_OK;
}

/* The asks in flight. */

void asks_init(struct asks *asks, struct session *session,
               void (*done)(void *self, struct ask *ask), void *self) {
  *asks = (struct asks){.session = session,
                        .done = done,
                        .self = self,
                        .end = &asks->first};
}

static void append(struct asks *asks, struct ask *ask) {
  ask->next = NULL;
  *asks->end = ask;
  asks->end = &ask->next;
}

static struct ask *take_first(struct asks *asks) {
  struct ask *ask = asks->first;
  asks->first = ask->next;
  if (!asks->first) asks->end = &asks->first;
  return ask;
}

/* Returns whether the next request of the first ask is allowed to be sent now.
 * A request that costs more than ASK_BYTES is sent when no other request is in
 * flight. Smaller requests never overtake the first request in the queue.
 * Otherwise a large request could wait for ever. */
static bool has_room(const struct asks *asks) {
  const struct ask *first = asks->first;
  return asks->requests < ASK_REQUESTS &&
         (asks->bytes == 0 ||
          first->requests[first->cursor].cost <= ASK_BYTES - asks->bytes);
}

/* Counts down what the ask waits for. The last of it ends the ask. */
static void finish_part(struct ask *ask) {
  if (--ask->pending == 0) ask->asks->done(ask->asks->self, ask);
}

static void send(struct request *r);

/* Sends the next request of the first ask, unless that ask has failed. */
static void send_next(struct asks *asks) {
  struct ask *ask = take_first(asks);
  if (ask->rc == REPLY_OK) {
    struct request *r = &ask->requests[ask->cursor++];
    asks->requests++;
    asks->bytes += r->cost;
    ask->pending++;
    send(r);
  }
  if (ask->rc == REPLY_OK && ask->cursor < ask->count)
    append(asks, ask);
  else
    finish_part(ask);
}

/* Sends requests while there is room. A request can fail at once, which calls
 * run() again. Such an inner call returns at once, because the loop of the
 * outer call serves the queue. */
static void run(struct asks *asks) {
  if (asks->runs) return;
  asks->runs = true;
  while (asks->first && has_room(asks)) send_next(asks);
  asks->runs = false;
}

void ask_begin(struct ask *ask, struct asks *asks) {
  ask->asks = asks;
  ask->pending = 1;
  append(asks, ask);
  run(asks);
}

/* Requests and replies. */

static struct session *session_of(const struct request *r) {
  return r->ask->asks->session;
}

static void drop_nonce(struct request *r) {
  if (!r->nonce) return;
  nonce_delete(r->nonce);
  r->nonce = NULL;
  r->op.provided = NULL;
}

/* Records the result `rc` of a request. The last result ends the ask. */
static void answered(struct request *r, int rc) {
  struct ask *ask = r->ask;
  struct asks *asks = ask->asks;
  drop_nonce(r);
  r->reply.rc = rc;
  if (ask->rc == REPLY_OK &&
      (reply_is_unknown(rc) || reply_is_unauthenticated(rc)))
    ask->rc = rc;
  asks->requests--;
  asks->bytes -= r->cost;
  finish_part(ask);
  run(asks);
}

/* Sends the request. If this fails, records the request as lost. After a
 * transient refusal the op is sent again, except a sync: reads that follow a
 * sync must not be older than the sync. */
static void send_or_lose(struct request *r) {
  r->op.resend = r->op.kind != OP_SYNC;
  r->op.tries = 0;
  if (!session_ask(session_of(r), clock_now(), &r->op)) answered(r, REPLY_LOST);
}

/* Keeps the node's data if the ask's limits allow it. Returns a reply code. */
static int keep_data(struct request *r, const struct reply *reply) {
  struct ask *ask = r->ask;
  int size = r->reply.length = reply->size > 0 ? reply->size : 0;
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
    r->reply = *reply;
    if (op->kind == OP_READ) rc = keep_data(r, reply);
    if (op->kind == OP_NAMES) rc = keep_names(r, reply->listing);
  }
  answered(r, rc);
}

static void make_part(struct request *r) {
  mkdir_prepare(&r->op, &session_of(r)->pipeline, r->text, r->whole, r->length);
  send_or_lose(r);
}

static void on_made(struct op *op, const struct reply *reply) {
  struct request *r = op->owner;
  switch (mkdir_on_reply(op, &session_of(r)->pipeline, reply->rc, r->whole,
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
  struct session *session = session_of(r);
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
        mkdir_checks_acl(&session_of(r)->pipeline) ? OP_CHECK_ACL : OP_MKDIR;
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
  struct pipeline *pipeline = &session_of(r)->pipeline;
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

static void send(struct request *r) {
  if (r->op.kind == OP_NAMES && r->op.version > ASK_CHILDREN)
    answered(r, REASON_TOO_MANY_CHILDREN);
  else if (r->op.handler == on_done_once)
    create_nonce(r);
  else if (r->op.handler == on_made)
    make_part(r);
  else
    send_or_lose(r);
}
