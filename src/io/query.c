#include "query.h"

#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "protocol/session.h"

/* The directories of a survey. */
enum { LISTS_PATH, LISTS_LOCKS, LISTS_PERMITS, READS_HOLDER };

static op_handler on_verified, on_listed, on_holder, on_read, on_revoked;

static char *join(const char *a, const char *b, const char *c) {
  size_t size = strlen(a) + strlen(b) + strlen(c) + 1;
  char *text = malloc(size);
  if (!text) return NULL;
  strcpy(text, a);
  strcat(text, b);
  strcat(text, c);
  return text;
}

static void drop(void *query) { query_free(query); }

static struct query *new_query(enum query_kind kind, const char *chroot,
                               const char *path) {
  struct query *query = calloc(1, sizeof *query);
  if (!query) return NULL;
  query->ask = query->answer = (struct message){.subject = query, .drop = drop};
  query->kind = kind;
  query->path = join(chroot, path, "");
  if (query->path) return query;
  query_free(query);
  return NULL;
}

struct query *query_to_verify(struct claim *claim) {
  struct query *query = new_query(QUERY_VERIFY, "", "");
  if (!query) return NULL;
  claim_keep(claim);
  query->claim = claim;
  return query;
}

struct query *query_for_contenders(const char *chroot, const char *path) {
  return new_query(QUERY_CONTENDERS, chroot, path);
}

struct query *query_to_revoke(const char *chroot, const char *path,
                              const void *data, size_t size, int version) {
  struct query *query = new_query(QUERY_REVOKE, chroot, path);
  if (!query) return NULL;
  query->version = version;
  query->size = (int)size;
  query->data = malloc(size + 1);
  if (!query->data) {
    query_free(query);
    return NULL;
  }
  memcpy(query->data, data, size);
  return query;
}

void query_free(struct query *query) {
  for (int i = 0; i < query->count; i++) {
    free(query->items[i].path);
    free(query->items[i].data);
  }
  for (int i = 0; i < 4; i++) free(query->paths[i]);
  free(query->items);
  free(query->path);
  free(query->data);
  if (query->claim) claim_drop(query->claim);
  free(query);
}

static void submit(struct query *query, struct op *op, enum op_kind kind,
                   op_handler *handler, const char *path, void *owner) {
  op->kind = kind;
  op->handler = handler;
  op->path = path;
  op->owner = owner;
  if (path && session_ask(query->session, clock_now(), op))
    query->pending++;
  else
    query->rc = REPLY_LOST;
}

static void read_items(struct query *query) {
  query->reading = true;
  for (int i = 0; i < query->count; i++) {
    struct item *item = &query->items[i];
    submit(query, &item->read, OP_READ, on_read, item->path, item);
  }
}

/* One answer less to wait for. */
static void settle(struct query *query) {
  if (query->pending > 0) return;
  if (query->kind == QUERY_CONTENDERS && !query->reading) {
    read_items(query);
    if (query->pending > 0) return;
  }
  query->done(query->self, query);
}

static void answered(struct query *query, int rc) {
  if (rc != REPLY_OK && rc != REPLY_NO_NODE) query->rc = rc;
  query->pending--;
}

/* QUERY_VERIFY: `sync`, then a read: the connected server answers from a
 * state that is not older than the question. */

static void on_verified(struct op *op, const struct reply *reply) {
  struct query *query = op->owner;
  if (op->kind == OP_READ)
    query->gone = reply->rc == REPLY_NO_NODE ||
                  (reply->rc == REPLY_OK &&
                   reply->owner != query->claim->contender.node.owner_session);
  answered(query, reply->rc);
  settle(query);
}

static void verify(struct query *query) {
  struct claim *claim = query->claim;
  if (claim->state != CLAIM_HELD || !claim->joined) {
    query->gone = true;
    return;
  }
  const char *path = claim->contender.path;
  submit(query, &query->ops[0], OP_SYNC, on_verified, path, query);
  submit(query, &query->ops[1], OP_READ, on_verified, path, query);
}

/* QUERY_CONTENDERS: one list of each directory that the kinds use, then all
 * nodes at once. */

static struct item *add_item(struct query *query, const char *directory,
                             const char *name) {
  size_t size = (size_t)(query->count + 1) * sizeof(struct item);
  struct item *items = realloc(query->items, size);
  if (!items) return NULL;
  query->items = items;
  struct item *item = &items[query->count];
  memset(item, 0, sizeof *item);
  item->query = query;
  item->path = join(directory, "/", name);
  if (!item->path) return NULL;
  query->count++;
  return item;
}

/* Of a semaphore: permits are in one directory, the mutexes of its gate in the
 * other, and in neither is anything else of interest. */
static bool belongs(const struct query *query, const struct op *op,
                    enum role role) {
  if (op == &query->ops[LISTS_PERMITS]) return role == ROLE_PERMIT;
  if (op == &query->ops[LISTS_LOCKS]) return role == ROLE_LOCK;
  return role != ROLE_PERMIT;
}

static void on_listed(struct op *op, const struct reply *reply) {
  struct query *query = op->owner;
  const struct listing *listing = reply->listing;
  if (reply->rc == REPLY_OK && !listing) query->rc = REASON_NO_MEMORY;
  for (int i = 0; listing && i < listing->count; i++) {
    const struct entry *entry = &listing->entries[i];
    if (!belongs(query, op, entry->role)) continue;
    struct item *item = add_item(query, op->path, entry->name);
    if (!item) {
      query->rc = REASON_NO_MEMORY;
      break;
    }
    item->role = entry->role;
    item->sequence = entry->sequence;
  }
  if (op == &query->ops[LISTS_PATH])
    query->missing = reply->rc == REPLY_NO_NODE;
  answered(query, reply->rc);
  settle(query);
}

static void on_holder(struct op *op, const struct reply *reply) {
  struct query *query = op->owner;
  if (reply->rc == REPLY_OK && !add_item(query, query->path, NAME_UNFAIR))
    query->rc = REASON_NO_MEMORY;
  answered(query, reply->rc);
  settle(query);
}

static void on_read(struct op *op, const struct reply *reply) {
  struct item *item = op->owner;
  if (reply->rc == REPLY_OK) {
    item->there = true;
    item->czxid = reply->czxid;
    item->owner = reply->owner;
    item->ctime_ms = reply->ctime_ms;
    item->version = reply->version;
    item->size = reply->size;
    if (reply->size > 0 && (item->data = malloc((size_t)reply->size)))
      memcpy(item->data, reply->data, (size_t)reply->size);
    if (reply->size > 0 && !item->data) {
      item->there = false;
      item->query->rc = REASON_NO_MEMORY;
    }
  }
  answered(item->query, reply->rc);
  settle(item->query);
}

static void survey(struct query *query) {
  static const char *const parts[] = {"", LOCKS, PERMITS, ("/" NAME_UNFAIR)};
  for (int i = 0; i < 4; i++) {
    query->paths[i] = join(query->path, parts[i], "");
    bool list = i != READS_HOLDER;
    submit(query, &query->ops[i], list ? OP_LIST : OP_READ,
           list ? on_listed : on_holder, query->paths[i], query);
  }
}

/* QUERY_REVOKE */

static void on_revoked(struct op *op, const struct reply *reply) {
  struct query *query = op->owner;
  query->gone = reply->rc == REPLY_NO_NODE;
  answered(query, reply->rc);
  settle(query);
}

static void revoke(struct query *query) {
  struct op *op = &query->ops[0];
  op->data = query->data;
  op->size = query->size;
  op->version = query->version;
  submit(query, op, OP_WRITE, on_revoked, query->path, query);
}

void query_start(struct query *query, struct session *session,
                 void (*done)(void *self, struct query *query), void *self) {
  query->done = done;
  query->self = self;
  query->session = session;
  /* Held until all are sent: an answer cannot come before. */
  query->pending++;
  switch (query->kind) {
    case QUERY_VERIFY:
      verify(query);
      break;
    case QUERY_CONTENDERS:
      survey(query);
      break;
    case QUERY_REVOKE:
      revoke(query);
      break;
  }
  query->pending--;
  settle(query);
}
