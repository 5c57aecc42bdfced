/*   (list →) look at the node → delete it, if it is the one that is meant
 *
 * Names are used again: an unfair lock's always, other locks' when a directory is
 * made again.  A delete does not check the czxid, so another node can take the name
 * between the look and the delete.  An unfair lock's two nodes are deleted together
 * or not at all (protocol/unfair.h), so there no other node can. */
#include "eviction.h"

#include <string.h>

#include "companion.h"

static op_handler on_deleted;

static int cost_of_look(const struct query *query, int i) {
  return (int)strlen(query->items[i].path);
}

static void look(struct query *query, int i) {
  if (i == 0) query_sync(query, query->path);
  companion_look(query, i);
}

/* (A node that this session may not look at is deleted only without a token.) */
static bool is_meant(const struct item *item) {
  if (item->hidden) return item->token < 0;
  return item->there && (item->token < 0 || item->czxid == item->token);
}

/* (A server deletes no node that has children.) */
static void delete_node(struct query *query, int i) {
  struct item *item = &query->items[i];
  const char *companion = companion_of(query, item);
  item->request.op.beside = companion ? NAME_UNFAIR : NULL;
  query->missing = false;
  query_send(query, &item->request, OP_REMOVE, on_deleted,
             companion ? companion : item->path);
}

static int cost_of_delete(const struct query *query, int i) {
  return is_meant(&query->items[i]) ? 0 : UNWANTED;
}

static void on_deleted(struct op *op, const struct reply *reply) {
  struct request *request = op->owner;
  bool missing = reply->rc == REPLY_NO_NODE || reply->rc == REPLY_UNDONE;
  request->query->missing = missing;
  query_answered(request, missing ? REPLY_NO_NODE : reply->rc);
}

struct query *eviction_new(const char *chroot, const char *path,
                           const char *node, int64_t token) {
  static const struct phase phases[] = {{companion_count_list, query_cost_none,
                                         companion_list},
                                        {query_count_items, cost_of_look, look},
                                        {companion_count_rest, cost_of_delete,
                                         delete_node},
                                        {.count = NULL}};
  struct query *query = query_new(QUERY_EVICT, phases, chroot, path);
  if (!query) return NULL;
  struct item *item = query_add(query, query->path, node);
  if (!item) {
    query_free(query);
    return NULL;
  }
  item->token = token;
  query->missing = true; /* until it is deleted */
  return query;
}
