/*   look at the node → list its children, if they are wanted, and there are any
 *                    → read its data, if they are wanted
 */
#include "inspection.h"

#include <stdlib.h>
#include <string.h>

#include "survey.h"

static op_handler on_looked, on_listed, on_read;

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

/* Its data. */

static int cost_of_read(const struct query *query, int i) {
  (void)i;
  bool is_wanted = query->with_data && !query->missing && !query->hidden &&
                   query->known.length <= SURVEY_LARGE;
  return is_wanted ? survey_cost(query->known.length) : UNWANTED;
}

static void read_data(struct query *query, int i) {
  query_send(query, &query->places[i].request, OP_READ, on_read, query->path);
}

/* (All fields of the answer are of one moment.) */
static int keep_data(struct query *query, const struct reply *reply) {
  query->size = reply->size > 0 ? (size_t)reply->size : 0;
  query->text = malloc(query->size + 1);
  if (!query->text) return REASON_NO_MEMORY;
  if (query->size) memcpy(query->text, reply->data, query->size);
  query->known.mtime_ms = reply->mtime_ms;
  query->known.version = reply->version;
  query->known.length = (int)query->size;
  return REPLY_OK;
}

static void on_read(struct op *op, const struct reply *reply) {
  struct request *request = op->owner;
  struct query *query = request->query;
  int rc = reply->rc;
  query->missing = rc == REPLY_NO_NODE;
  if (rc == REPLY_OK) rc = keep_data(query, reply);
  query_answered(request, rc == REPLY_NO_AUTH ? REPLY_OK : rc);
}

struct query *inspection_of_node(const char *chroot, const char *path,
                                 bool with_data) {
  static const struct phase phases[] = {{query_count_one, query_cost_none,
                                         look},
                                        {query_count_one, cost_of_read,
                                         read_data},
                                        {.count = NULL}};
  struct query *query = query_new(QUERY_STAT, phases, chroot, path);
  if (query) query->with_data = with_data;
  return query;
}

struct query *inspection_of_children(const char *chroot, const char *path) {
  static const struct phase phases[] = {{query_count_one, query_cost_none,
                                         look},
                                        {query_count_one, cost_of_list, list},
                                        {.count = NULL}};
  return query_new(QUERY_CHILDREN, phases, chroot, path);
}
