#include "eviction.h"

#include "companion.h"

static op_handler on_deleted;

static int cost_of_delete(const struct query *query, int i) {
  return companion_is_absent(&query->items[i]) ? UNWANTED : 0;
}

/* (A server deletes no node that has children.)  Of an unfair lock both nodes are
 * deleted, or none: if that comes late, it finds the next holder's. */
static void delete_node(struct query *query, int i) {
  struct item *item = &query->items[i];
  const char *companion = companion_of(query, item);
  item->request.op.beside = companion ? NAME_UNFAIR : NULL;
  query_send(query, &item->request, OP_REMOVE, on_deleted,
             companion ? companion : item->path);
}

static void on_deleted(struct op *op, const struct reply *reply) {
  struct request *request = op->owner;
  bool missing = reply->rc == REPLY_NO_NODE || reply->rc == REPLY_UNDONE;
  request->query->missing = missing;
  query_answered(request, missing ? REPLY_NO_NODE : reply->rc);
}

struct query *eviction_new(const char *chroot, const char *path,
                           const char *node) {
  static const struct phase phases[] = {COMPANION_PHASES,
                                        {companion_count_rest, cost_of_delete,
                                         delete_node},
                                        {.count = NULL}};
  struct query *query = query_new(QUERY_EVICT, phases, chroot, path);
  if (!query || query_add(query, query->path, node)) return query;
  query_free(query);
  return NULL;
}
