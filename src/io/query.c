#include "query.h"

#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "protocol/session.h"

static op_handler on_synced, on_verified;
static bool send_next(struct sender *sender);

char *query_join(const char *a, const char *b, const char *c) {
  size_t size = strlen(a) + strlen(b) + strlen(c) + 1;
  char *text = malloc(size);
  if (!text) return NULL;
  strcpy(text, a);
  strcat(text, b);
  strcat(text, c);
  return text;
}

static void drop(void *query) { query_free(query); }

struct query *query_new(enum query_kind kind, const struct phase *phases,
                        const char *chroot, const char *path) {
  struct query *query = calloc(1, sizeof *query);
  if (!query) return NULL;
  query->subject.drop = drop;
  message_init(&query->ask, &query->subject);
  message_init(&query->answer, &query->subject);
  query->sender = (struct sender){.owner = query, .send = send_next};
  query->kind = kind;
  query->phase = phases;
  query->path = query_join(chroot, path, "");
  if (query->path) return query;
  query_free(query);
  return NULL;
}

void query_free(struct query *query) {
  for (int i = 0; i < query->count; i++) {
    free(query->items[i].path);
    free(query->items[i].data);
  }
  for (int i = 0; i < PLACES; i++) free(query->places[i].path);
  free(query->items);
  free(query->text);
  free(query->path);
  if (query->claim) claim_drop(query->claim);
  free(query);
}

struct item *query_add(struct query *query, const char *directory,
                       const char *name) {
  int n = query->count;
  if ((n & (n - 1)) == 0) { /* a power of two: there is no room for more */
    size_t size = (size_t)(n ? 2 * n : 1) * sizeof(struct item);
    struct item *items = realloc(query->items, size);
    if (!items) return NULL;
    query->items = items;
  }
  struct item *item = &query->items[n];
  memset(item, 0, sizeof *item);
  item->path = query_join(directory, "/", name);
  if (!item->path) return NULL;
  query->count++;
  return item;
}

/* Phases. */

int query_count_one(const struct query *query) {
  (void)query;
  return 1;
}

int query_count_items(const struct query *query) { return query->count; }

int query_cost_none(const struct query *query, int i) {
  (void)query;
  (void)i;
  return 0;
}

/* Sending. */

static bool ask(struct request *request, enum op_kind kind,
                op_handler *handler) {
  request->op.kind = kind;
  request->op.insists =
      kind != OP_SYNC; /* what is read behind it would not be */
  request->op.tries = 0;
  request->op.handler = handler;
  request->op.owner = request;
  return session_ask(request->query->session, clock_now(), &request->op);
}

static bool send(struct query *query, struct request *request,
                 enum op_kind kind, op_handler *handler, const char *path) {
  request->query = query;
  request->op.path = path;
  if (!path || !ask(request, kind, handler)) return false;
  query->pending++;
  return true;
}

static void leave_window(struct window *window, int cost) {
  if (cost != OUTSIDE) window_leave(window, cost);
}

void query_send(struct query *query, struct request *request, enum op_kind kind,
                op_handler *handler, const char *path) {
  request->cost = query->in_line ? query->sender.cost : OUTSIDE;
  if (send(query, request, kind, handler, path)) return;
  query->rc = path ? REPLY_LOST : REASON_NO_MEMORY;
  leave_window(query->window, request->cost);
}

/* The next that this phase wants to send. */
static bool find_next(struct query *query) {
  const struct phase *phase = query->phase;
  if (query->rc != REPLY_OK || !phase->count) return false;
  for (int n = phase->count(query); query->cursor < n; query->cursor++) {
    query->sender.cost = phase->cost(query, query->cursor);
    if (query->sender.cost != UNWANTED) return true;
  }
  return false;
}

void query_drop_nonce(struct query *query) {
  if (query->nonce) nonce_delete(query->nonce);
  query->nonce = NULL;
}

static void end(struct query *query) {
  query_drop_nonce(query);
  query->done(query->self, query);
}

/* Nothing is unanswered, and nobody in line: what comes next?  It may end here,
 * and is the Lua thread's then. */
static void go_on(struct query *query) {
  while (!find_next(query)) {
    if (query->rc != REPLY_OK || !query->phase->count) {
      end(query);
      return;
    }
    query->phase++;
    query->cursor = 0;
  }
  query->in_line = true;
  window_join(query->window, &query->sender);
}

static bool send_next(struct sender *sender) {
  struct query *query = sender->owner;
  if (query->rc == REPLY_OK)
    query->phase->send(query, query->cursor++);
  else
    leave_window(query->window, sender->cost);
  bool more = find_next(query);
  query->in_line = more;
  if (!more && query->pending == 0) go_on(query);
  return more;
}

/* (It takes no room: it is small, and there is one of it.) */
void query_sync(struct query *query, const char *path) {
  query->sync.cost = OUTSIDE;
  if (!send(query, &query->sync, OP_SYNC, on_synced, path))
    query->rc = REPLY_LOST;
}

static void on_synced(struct op *op, const struct reply *reply) {
  query_answered(op->owner, reply->rc);
}

void query_answered(struct request *request, int rc) {
  struct query *query = request->query;
  struct window *window = query->window;
  int cost = request->cost;
  if (rc != REPLY_OK && rc != REPLY_NO_NODE && query->rc == REPLY_OK)
    query->rc = rc;
  query->pending--;
  if (query->pending == 0 && !query->in_line) go_on(query);
  leave_window(window, cost);
}

void query_follow(struct request *request, enum op_kind kind,
                  op_handler *handler) {
  if (!ask(request, kind, handler)) query_answered(request, REPLY_LOST);
}

/* QUERY_VERIFY. */

/* (The contender may have left its queue, and its session with it.  An unfair
 * lock's nodes have one name, so another acquisition of the same session may have
 * made this one.) */
static bool is_node_of(const struct claim *claim, const struct reply *reply) {
  return reply->owner == claim->contender.node.owner_session &&
         reply->czxid == claim->contender.node.czxid;
}

static void on_verified(struct op *op, const struct reply *reply) {
  struct request *request = op->owner;
  struct query *query = request->query;
  query->gone = reply->rc == REPLY_NO_NODE ||
                (reply->rc == REPLY_OK && !is_node_of(query->claim, reply));
  query_answered(request, reply->rc);
}

struct query *query_to_verify(struct claim *claim) {
  static const struct phase none[] = {{.count = NULL}};
  struct query *query = query_new(QUERY_VERIFY, none, "", "");
  if (!query) return NULL;
  claim_keep(claim);
  query->claim = claim;
  return query;
}

/* Whoever asks has a right to know at once: it waits for no room. */
static void verify(struct query *query) {
  struct claim *claim = query->claim;
  if (claim_said(claim) != CLAIM_HELD || !claim->joined) {
    query->gone = true;
    return;
  }
  char *path = query_join(claim->path, "/", claim_node(claim));
  query->places[0].path = path;
  query_sync(query, path);
  query_send(query, &query->places[0].request, OP_READ, on_verified, path);
}

void query_start(struct query *query, struct session *session,
                 struct window *window,
                 void (*done)(void *self, struct query *query), void *self) {
  query->done = done;
  query->self = self;
  query->session = session;
  query->window = window;
  /* Held until all are sent: an answer cannot come before. */
  query->pending++;
  if (query->kind == QUERY_VERIFY) verify(query);
  query->pending--;
  if (query->pending == 0) go_on(query);
}
