/* Creates that a server may apply late.
 *
 * A server's thread may read a create and stall. Its connection breaks. The
 * client reconnects to the same server, lists the directory and does not find
 * the node. Then the thread continues and the server creates the node, because
 * the session is alive and belongs to this server. All server versions behave
 * so: PrepRequestProcessor checks only the session, and which server owns it.
 *
 * This can happen after any length of time. A server that does not own the
 * session refuses such a request, but the session may return to that server.
 * Only the end of the ZooKeeper session excludes a late create.
 *
 * Such a node would block other contenders for as long as the session lives. So
 * zklock lists the directory from time to time until the session ends. If a
 * list shows a node of this session that no contender knows, zklock deletes it
 * (orphans.c). With a session timeout of T, lists are T/8 to T/4 apart. So a
 * late node delays other contenders by less than a dead client does. If
 * AT_ONCE directories must be listed, they are listed half as often, and so on.
 * So the servers get about AT_ONCE lists per T/4 in the mean, or fewer. */
#include "contender.h"

enum { AT_ONCE = 100 };

void late_creates_expect(struct contender *c) {
  struct queue *queue = c->queue;
  const struct pipeline *pipeline = contender_pipeline(c);
  if (!c->node.unconfirmed) return;
  c->node.unconfirmed = false;
  if (contender_is_exclusive(c)) queue->late_holder_possible = true;
  queue->late_create_possible = true;
  if (queue->all->late_list_at == NEVER)
    queue->all->late_list_at = pipeline->now + pipeline->timeout / 8;
}

void late_creates_end(struct queue *queue) {
  queue->late_create_possible = queue->late_holder_possible = false;
  directory_wake(&queue->directory); /* the queue may be idle now */
}

int64_t late_creates_due(const struct contenders *all) {
  return all->pipeline->connected ? all->late_list_at : NEVER;
}

void late_creates_list(struct queue *queue) {
  struct contenders *all = queue->all;
  struct pipeline *pipeline = all->pipeline;
  int64_t pause = pipeline->timeout / 4;
  if (!queue->late_create_possible) return;
  directory_list(&queue->directory, 0);
  if (all->late_list_at == NEVER)
    all->late_list_at = pipeline->now + pipeline_jitter(pipeline, pause);
  else
    all->late_list_at += pause / AT_ONCE;
}
