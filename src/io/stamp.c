/*   write → make it, if it is not there → write, if somebody has been quicker
 *
 * It is there mostly, and then one request does.  With the path of a lock's node both
 * are transactions that check that node.  A request that a server applies late, when
 * another client holds the lock, changes nothing. */
#include "stamp.h"

#include <stdlib.h>
#include <string.h>

/* So often somebody may make it, and delete it again, in between. */
enum { TRIES = 5, ANY_VERSION = -1 };

static op_handler on_written, on_made;

static int cost_of_write(const struct query *query, int i) {
  (void)i;
  return (int)query->size;
}

static void write_data(struct query *query, int i) {
  struct request *request = &query->places[i].request;
  request->op.data = query->text;
  request->op.size = (int)query->size;
  request->op.version = ANY_VERSION;
  request->op.persistent = true;
  request->op.provided = query->places[0].path;
  query_send(query, request, OP_WRITE, on_written, query->path);
}

/* The node of the lock is gone. */
static void refuse(struct request *request) {
  request->query->gone = true;
  query_answered(request, REPLY_NO_NODE);
}

/* (Who stamps the node of a session has not made one that stays.) */
static void on_written(struct op *op, const struct reply *reply) {
  struct request *request = op->owner;
  if (reply->rc == REPLY_UNDONE)
    refuse(request);
  else if (reply->rc == REPLY_NO_NODE)
    query_follow(request, OP_MKDIR, on_made);
  else if (reply->rc == REPLY_OK && reply->owner != 0)
    query_answered(request, REASON_OWNED);
  else
    query_answered(request, reply->rc);
}

static void on_made(struct op *op, const struct reply *reply) {
  struct request *request = op->owner;
  struct query *query = request->query;
  if (reply->rc == REPLY_UNDONE)
    refuse(request);
  else if (reply->rc == REPLY_NODE_EXISTS && ++query->tries < TRIES)
    query_follow(request, OP_WRITE, on_written);
  else if (reply->rc == REPLY_NO_NODE)
    query_answered(request, REASON_NO_PARENT);
  else
    query_answered(request, reply->rc);
}

struct query *stamp_new(const char *chroot, const char *path, const char *node,
                        const char *data, size_t size) {
  static const struct phase phases[] = {{query_count_one, cost_of_write,
                                         write_data},
                                        {.count = NULL}};
  struct query *query = query_new(QUERY_STAMP, phases, chroot, path);
  if (!query) return NULL;
  query->text = malloc(size + 1);
  if (node) query->places[0].path = query_join(chroot, node, "");
  if (!query->text || (node && !query->places[0].path)) {
    query_free(query);
    return NULL;
  }
  memcpy(query->text, data, size);
  query->size = size;
  return query;
}
