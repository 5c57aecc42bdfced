#include "companion.h"

#include <string.h>

static op_handler on_listed, on_known;

static bool is_unfair(const struct item *item) {
  return strcmp(strrchr(item->path, '/') + 1, NAME_UNFAIR) == 0;
}

static const struct item *find_unfair(const struct query *query) {
  for (int i = 0; i < query->count; i++)
    if (is_unfair(&query->items[i])) return &query->items[i];
  return NULL;
}

/* The list. */

int companion_count_list(const struct query *query) {
  return find_unfair(query) != NULL;
}

void companion_list(struct query *query, int i) {
  query_sync(query, query->path);
  query_send(query, &query->places[i].request, OP_LIST, on_listed, query->path);
}

static int note_entries(struct query *query, const struct listing *listing) {
  if (!listing) return REASON_NO_MEMORY;
  for (int i = 0; i < listing->count; i++) {
    const struct entry *entry = &listing->entries[i];
    if (entry->role != ROLE_HOLD) continue;
    struct item *item = query_add(query, query->path, entry->name);
    if (!item) return REASON_NO_MEMORY;
    item->role = ROLE_HOLD;
  }
  return REPLY_OK;
}

/* (A session that may not list the directory finds none.) */
static void on_listed(struct op *op, const struct reply *reply) {
  struct request *request = op->owner;
  int rc = reply->rc;
  if (rc == REPLY_OK) rc = note_entries(request->query, reply->listing);
  query_answered(request, rc == REPLY_NO_AUTH ? REPLY_OK : rc);
}

/* The looks. */

int companion_count_looks(const struct query *query) {
  return find_unfair(query) ? query->count : 0;
}

int companion_cost(const struct query *query, int i) {
  const struct item *item = &query->items[i];
  return item->role == ROLE_HOLD || is_unfair(item) ? (int)strlen(item->path)
                                                    : UNWANTED;
}

void companion_look(struct query *query, int i) {
  struct item *item = &query->items[i];
  item->request.item = item;
  query_send(query, &item->request, OP_PING, on_known, item->path);
}

static void on_known(struct op *op, const struct reply *reply) {
  struct request *request = op->owner;
  struct item *item = request->item;
  item->there = reply->rc == REPLY_OK;
  item->hidden = reply->rc == REPLY_NO_AUTH;
  item->czxid = reply->czxid;
  item->owner = reply->owner;
  query_answered(request, reply->rc == REPLY_NO_AUTH ? REPLY_OK : reply->rc);
}

/* What they have found. */

int companion_count_rest(const struct query *query) {
  int n = query->count;
  while (n > 0 && query->items[n - 1].role == ROLE_HOLD) n--;
  return n;
}

/* (One transaction has made both.) */
const char *companion_of(const struct query *query, const struct item *item) {
  if (!item->there || !is_unfair(item)) return NULL;
  for (int i = companion_count_rest(query); i < query->count; i++) {
    const struct item *other = &query->items[i];
    if (other->there && other->czxid == item->czxid &&
        other->owner == item->owner)
      return other->path;
  }
  return NULL;
}
