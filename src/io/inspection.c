/*   look at the node → list its children, if they are wanted, and there are any
 */
#include "inspection.h"

#include <stdlib.h>
#include <string.h>

#include "survey.h"

static op_handler on_looked, on_listed;

/* The node. */

static void look(struct query *query, int i) {
  query_sync(query, query->path);
  query_send(query, &query->places[i].request, OP_PING, on_looked, query->path);
}

static void on_looked(struct op *op, const struct reply *reply) {
  struct request *request = op->owner;
  struct query *query = request->query;
  int rc = reply->rc;
  query->missing = rc == REPLY_NO_NODE;
  query->hidden = rc == REPLY_NO_AUTH;
  if (rc == REPLY_OK)
    query->known = (struct known){.owner = reply->owner,
                                  .ctime_ms = reply->ctime_ms,
                                  .mtime_ms = reply->mtime_ms,
                                  .version = reply->version,
                                  .length = reply->length,
                                  .children = reply->children};
  if (query->kind == QUERY_CHILDREN && query->known.children > SURVEY_CHILDREN)
    rc = REASON_CROWDED;
  query_answered(request, rc);
}

/* Its children. */

static int cost_of_list(const struct query *query, int i) {
  (void)i;
  int n = query->known.children;
  return n > 0 ? n * SURVEY_CHILD_BYTES : UNWANTED;
}

static void list(struct query *query, int i) {
  query_send(query, &query->places[i].request, OP_NAMES, on_listed,
             query->path);
}

/* One behind the other.  False: no memory, and there are none. */
static bool pack(struct query *query, const struct listing *listing) {
  size_t size = 0;
  for (int i = 0; i < listing->count; i++)
    size += strlen(listing->entries[i].name) + 1;
  char *to = query->text = malloc(size + 1);
  if (!to) return false;
  query->size = size;
  for (int i = 0; i < listing->count; i++)
    to = stpcpy(to, listing->entries[i].name) + 1;
  return true;
}

static int keep_names(struct query *query, const struct listing *listing) {
  if (!listing) return REASON_NO_MEMORY;
  if (listing->count > SURVEY_CHILDREN) return REASON_CROWDED;
  return pack(query, listing) ? REPLY_OK : REASON_NO_MEMORY;
}

static void on_listed(struct op *op, const struct reply *reply) {
  struct request *request = op->owner;
  struct query *query = request->query;
  int rc = reply->rc;
  query->missing = rc == REPLY_NO_NODE;
  if (rc == REPLY_OK) rc = keep_names(query, reply->listing);
  query_answered(request, rc);
}

struct query *inspection_of_node(const char *chroot, const char *path) {
  static const struct phase phases[] = {{query_count_one, query_cost_none,
                                         look},
                                        {.count = NULL}};
  return query_new(QUERY_STAT, phases, chroot, path);
}

struct query *inspection_of_children(const char *chroot, const char *path) {
  static const struct phase phases[] = {{query_count_one, query_cost_none,
                                         look},
                                        {query_count_one, cost_of_list, list},
                                        {.count = NULL}};
  return query_new(QUERY_CHILDREN, phases, chroot, path);
}
