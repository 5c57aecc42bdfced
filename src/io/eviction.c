#include "eviction.h"

static op_handler on_deleted;

/* (A server deletes no node that has children.) */
static void delete_node(struct query *query, int i) {
  struct item *item = &query->items[i];
  query_send(query, &item->request, OP_REMOVE, on_deleted, item->path);
}

static void on_deleted(struct op *op, const struct reply *reply) {
  struct request *request = op->owner;
  request->query->missing = reply->rc == REPLY_NO_NODE;
  query_answered(request, reply->rc);
}

struct query *eviction_new(const char *chroot, const char *path,
                           const char *node) {
  static const struct phase phases[] = {{query_count_items, query_cost_none,
                                         delete_node},
                                        {.count = NULL}};
  struct query *query = query_new(QUERY_EVICT, phases, chroot, path);
  if (!query || query_add(query, query->path, node)) return query;
  query_free(query);
  return NULL;
}
