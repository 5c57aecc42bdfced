/*   read → write, if nobody has written since; else read again
 *
 * Each fresh node has the same version: so an unfair lock's is written only if the
 * node beside it is there.
 *
 * Each node by itself: who refuses, or has gone, does not protect the others.
 * A node keeps its part of the window until it is done with. */
#include "revocation.h"

#include <stdlib.h>
#include <string.h>

#include "companion.h"
#include "survey.h"

/* So often somebody else may write in between. */
enum { TRIES = 5 };

static op_handler on_read, on_written;

static int cost_of_item(const struct query *query, int i) {
  return survey_cost(query->items[i].size);
}

static void read_data(struct query *query, int i) {
  struct item *item = &query->items[i];
  item->request.item = item;
  query_send(query, &item->request, OP_READ, on_read, item->path);
}

/* What is said of one concerns it alone, but that nobody answers at all. */
static void finish(struct item *item, int rc) {
  struct query *query = item->request.query;
  if (rc == REPLY_UNDONE) rc = REPLY_NO_NODE;
  free(item->data);
  item->data = NULL;
  if (rc == REPLY_OK) {
    query->marked++;
  } else if (rc != REPLY_NO_NODE && !reply_is_unknown(rc)) {
    if (!query->refused) query->refused = item;
    if (query->refusal == REPLY_OK) query->refusal = rc;
    rc = REPLY_OK;
  }
  query_answered(&item->request, rc);
}

static bool is_too_large(const struct item *item, int size) {
  return size > REVOCATION_MAX ||
         strlen(item->path) + (size_t)size > REVOCATION_MAX;
}

static bool mark(struct item *item, const struct reply *reply) {
  size_t size = reply->size > 0 ? (size_t)reply->size : 0;
  size_t mark = sizeof REVOKE_MARK - 1;
  item->data = malloc(size + mark);
  if (!item->data) return false;
  if (size) memcpy(item->data, reply->data, size);
  memcpy(item->data + size, REVOKE_MARK, mark);
  item->request.op.data = item->data;
  item->request.op.size = (int)(size + mark);
  item->request.op.version = reply->version;
  item->request.op.provided = companion_of(item->request.query, item);
  return true;
}

static void on_read(struct op *op, const struct reply *reply) {
  struct request *request = op->owner;
  struct item *item = request->item;
  if (reply->rc != REPLY_OK)
    finish(item, reply->rc);
  else if (reply->size > 0 && data_is_revoked(reply->data, (size_t)reply->size))
    finish(item, REPLY_OK); /* by somebody else, or before */
  else if (is_too_large(item, reply->size))
    finish(item, REASON_NO_MARK);
  else if (!mark(item, reply))
    finish(item, REASON_NO_MEMORY);
  else
    query_follow(request, OP_WRITE, on_written);
}

static void on_written(struct op *op, const struct reply *reply) {
  struct request *request = op->owner;
  struct item *item = request->item;
  if (reply->rc != REPLY_BAD_VERSION || ++item->tries == TRIES) {
    finish(item, reply->rc);
    return;
  }
  free(item->data);
  item->data = NULL;
  op->data = NULL;
  op->size = 0;
  query_follow(request, OP_READ, on_read);
}

struct query *revocation_new(const char *chroot, const char *path) {
  static const struct phase phases[] = {COMPANION_PHASES,
                                        {companion_count_rest, cost_of_item,
                                         read_data},
                                        {.count = NULL}};
  return query_new(QUERY_REVOKE, phases, chroot, path);
}

bool revocation_add(struct query *query, const char *name, int size) {
  struct item *item = query_add(query, query->path, name);
  if (!item) return false;
  item->size = size;
  return true;
}
