/* Why no waiter passes a barrier that is set. A node wait succeeds only by news
 * of its node that is newer than the beginning of the wait:
 *
 * * A read that found no node, or another node than the wait had seen first.
 *   The read was sent after the node wait had begun (`stale`). It was also sent
 *   behind a heartbeat that was committed after the wait had begun
 *   (`needs_heartbeat`). So it shows every change that was committed before the
 *   wait began. It cannot come from the old view of a server that lags, or of a
 *   former leader.
 * * The event of the node's deletion, once the node wait has seen the node
 *   (`seen`). A server reports a deletion to a connection before any later
 *   change. So the event belongs to exactly the node that was seen.
 *
 * Until the node wait has sent its read (`must_read`), it ignores all news.
 *
 * Why no waiter stays at a barrier that is lifted. While a node wait lasts, its
 * watch is armed or being armed, or there is no connection. zklock reads the
 * node again in each new connection. If the node was created again meanwhile,
 * it has another czxid. */
#include "node_wait.h"

#include <stdlib.h>
#include <string.h>

#include "queue.h"

static struct pipeline *pipeline_of(const struct node_waits *node_waits) {
  return node_waits->all->pipeline;
}

static struct directory *directory_of(struct node_wait *v) {
  return &v->queue->directory;
}

/* Returns the length of the directory's path. */
static size_t parent_length(const struct node_wait *v) {
  return (size_t)(strrchr(v->path, '/') - v->path);
}

static struct queue *queue_for(struct node_waits *node_waits, const char *path,
                               size_t length) {
  char *copy = malloc(length + 1);
  if (!copy) return NULL;
  memcpy(copy, path, length);
  copy[length] = '\0';
  struct queue *queue = node_waits->all->queue_of(node_waits->all, copy);
  free(copy);
  return queue;
}

/* Watches the node at the path of the node wait. `awaits`: the node is allowed
 * to be missing (watch_await). Returns false if there is no memory. */
static bool watch_node(struct node_wait *v, struct queue *queue, bool awaits) {
  const char *name = strrchr(v->path, '/') + 1;
  if (!watch_want(&v->watcher, &queue->directory.watches, name)) return false;
  if (awaits) watch_await(&v->watcher);
  return true;
}

/* Ending a node wait. */

static void stop(struct node_wait *v) {
  struct node_waits *node_waits = v->of;
  *v->link = v->next;
  if (v->next) v->next->link = v->link;
  v->of = NULL;
  timer_set(&node_waits->timers, &v->deadline, NEVER);
  watch_drop(&v->watcher);
  if (v->kind != NODE_WAIT_COUNT) return;
  queue_remove_observer(v->queue, &v->observer);
  directory_unwatch_children(directory_of(v));
}

void node_wait_succeed(struct node_wait *v) {
  stop(v);
  v->ended(v, true);
}

void node_wait_refuse(struct node_wait *v, enum refusal_code why, int reason) {
  if (!v->of) return;
  v->refusal_code = why;
  v->reason = reason;
  stop(v);
  v->ended(v, false);
}

/* Reading the node. */

static void read_later(struct node_wait *v) {
  v->must_read = true;
  deferred_call_add(&pipeline_of(v->of)->batch, &v->of->flush);
}

/* Handles the reply to the heartbeat. If a quorum has committed it, the waits
 * that began after it was sent can now send another heartbeat. If not, discards
 * the reads that followed the heartbeat, and repeats them after a pause. */
static void on_heartbeat(struct op *op, const struct reply *reply) {
  struct node_waits *node_waits = op->owner;
  if (reply_proves(op->kind, reply->rc)) {
    refusals_end(&node_waits->heartbeat_pause);
    deferred_call_add(&pipeline_of(node_waits)->batch, &node_waits->flush);
    return;
  }
  if (reply_is_unknown(reply->rc)) return; /* each new connection reads again */
  for (struct node_wait *v = node_waits->first; v; v = v->next)
    v->must_read |= v->needs_heartbeat;
  pipeline_back_off(pipeline_of(node_waits), &node_waits->heartbeat_pause,
                    reply->rc);
}

/* Returns whether the node wait must pause before its next read, because a
 * server has refused a watch. */
static bool must_pause(struct node_wait *v) {
  return v->kind != NODE_WAIT_COUNT &&
         pipeline_must_pause(pipeline_of(v->of),
                             &directory_of(v)->watches.backoff);
}

/* Sends one heartbeat for all node waits of a batch of calls. Returns whether
 * it was sent. A node wait that begins while a heartbeat is in flight waits for
 * the next one. */
static bool send_heartbeat(struct node_waits *node_waits) {
  bool wanted = false;
  for (struct node_wait *v = node_waits->first; v; v = v->next)
    wanted |= v->must_read && v->needs_heartbeat && !must_pause(v);
  return wanted && !node_waits->heartbeat.in_flight &&
         !pipeline_must_pause(pipeline_of(node_waits),
                              &node_waits->heartbeat_pause) &&
         pipeline_submit(pipeline_of(node_waits), &node_waits->heartbeat);
}

/* Sends a read of the node. If the send fails, node_waits_drive repeats it. */
static void send_read(struct node_wait *v) {
  watch_read(&v->watcher);
  v->must_read = !watch_is_asking(&v->watcher);
}

static void flush(struct deferred_call *call) {
  struct node_waits *node_waits =
      (struct node_waits *)((char *)call - offsetof(struct node_waits, flush));
  if (!pipeline_of(node_waits)->connected) return;
  for (struct node_wait *v = node_waits->first; v; v = v->next)
    if (v->must_read) v->stale = watch_is_asking(&v->watcher);
  bool sent = send_heartbeat(node_waits);
  for (struct node_wait *v = node_waits->first; v; v = v->next) {
    if (v->must_read && (sent || !v->needs_heartbeat) && !must_pause(v))
      send_read(v);
  }
}

/* Handling news. */

static void on_node_read(struct node_wait *v, const struct reply *reply) {
  if (v->kind == NODE_WAIT_EXISTS || (v->seen && v->seen != reply->czxid)) {
    node_wait_succeed(v);
    return;
  }
  v->seen = reply->czxid;
  if (!v->patient) node_wait_refuse(v, REFUSED_TIMEOUT, 0);
}

/* Acts on a node that exists, but whose ACL forbids reading. A wait until the
 * node exists succeeds. A wait that is not `patient` fails. Any other wait
 * continues: it does not notice a replacement of the node before the next
 * poll. */
static void on_node_hidden(struct node_wait *v) {
  if (v->kind == NODE_WAIT_EXISTS)
    node_wait_succeed(v);
  else if (!v->patient)
    node_wait_refuse(v, REFUSED_TIMEOUT, 0);
}

static void on_node_missing(struct node_wait *v) {
  if (v->kind == NODE_WAIT_GONE)
    node_wait_succeed(v);
  else if (!v->patient)
    node_wait_refuse(v, REFUSED_TIMEOUT, 0);
}

/* Handles news of the missing directory that a NODE_WAIT_COUNT watches.
 * Requests a list if the directory may have been created. */
static void on_directory_news(struct node_wait *v, enum watch_news news,
                              const struct reply *reply) {
  if (news == WATCH_GONE && reply) return;
  if (reply && v->unlisted) directory_doubt(directory_of(v));
  v->unlisted = reply != NULL;
  watch_drop(&v->watcher);
  directory_list_again(directory_of(v));
}

/* Ends the wait if the news of the node meets its condition. If the news proves
 * nothing, reads the node again. `reply` is NULL for an event. */
static void on_news(struct watcher *watcher, enum watch_news news,
                    const struct reply *reply) {
  struct node_wait *v = watcher_owner(watcher);
  if (v->kind == NODE_WAIT_COUNT) {
    on_directory_news(v, news, reply);
  } else if (v->must_read) {
    return;
  } else if (reply && v->stale) {
    v->stale = false;
    send_read(v);
  } else if (news == WATCH_ARMED && reply) {
    on_node_read(v, reply);
  } else if (news == WATCH_HIDDEN) {
    on_node_hidden(v);
  } else if (news == WATCH_GONE && (reply || v->seen)) {
    on_node_missing(v);
  } else {
    send_read(v);
  }
}

static const struct watcher_role role = {on_news,
                                         offsetof(struct node_wait, watcher),
                                         false};

static struct node_wait *of_observer(struct list_observer *observer) {
  return (struct node_wait *)((char *)observer -
                              offsetof(struct node_wait, observer));
}

static void watch_directory(struct node_wait *v) {
  struct queue *queue = queue_for(v->of, v->path, parent_length(v));
  if (queue && watch_node(v, queue, true))
    watch_arm(&v->watcher);
  else
    pipeline_retry(pipeline_of(v->of));
}

/* Ends the wait if the list shows another number of contenders than `known`.
 * Otherwise checks whether the watch of the children is armed. If it is not,
 * the directory can be missing, so watches the directory itself. */
static void on_listed(struct list_observer *observer,
                      const struct listing *listing, uint64_t serial) {
  struct node_wait *v = of_observer(observer);
  if (serial <= v->since) return;
  if (listing->count != v->known)
    node_wait_succeed(v);
  else if (!directory_sees_children(directory_of(v)))
    watch_directory(v);
  else
    v->unlisted = false;
}

static void on_unlisted(struct list_observer *observer, int rc) {
  node_wait_refuse(of_observer(observer), refusal_code_of(rc), rc);
}

/* Beginning a node wait. */

static bool watch(struct node_wait *v) {
  v->queue = queue_for(v->of, v->path,
                       v->kind == NODE_WAIT_COUNT ? strlen(v->path)
                                                  : parent_length(v));
  if (!v->queue) return false;
  if (v->kind == NODE_WAIT_COUNT) {
    v->observer = (struct list_observer){.on_listed = on_listed,
                                         .on_refused = on_unlisted};
    v->since = pipeline_of(v->of)->serial;
    queue_add_observer(v->queue, &v->observer);
    directory_watch_children(directory_of(v), true);
    directory_list_again(directory_of(v));
    return true;
  }
  if (!watch_node(v, v->queue, v->kind == NODE_WAIT_EXISTS)) return false;
  read_later(v);
  return true;
}

bool node_wait_begin(struct node_waits *node_waits, struct node_wait *v) {
  v->of = node_waits;
  v->must_read = v->stale = v->unlisted = false;
  v->seen = 0;
  watcher_init(&v->watcher, &role);
  timer_init(&v->deadline);
  if (v->kind != NODE_WAIT_LEAVE && !watch(v)) {
    v->of = NULL;
    return false;
  }
  v->next = node_waits->first;
  v->link = &node_waits->first;
  if (v->next) v->next->link = &v->next;
  node_waits->first = v;
  timer_set(&node_waits->timers, &v->deadline, v->until);
  if (v->kind == NODE_WAIT_LEAVE) v->drive(v);
  return true;
}

/* All node waits. */

void node_waits_init(struct node_waits *node_waits, struct contenders *all) {
  *node_waits = (struct node_waits){.all = all, .flush = {.run = flush}};
  node_waits->heartbeat = (struct op){.kind = OP_HEARTBEAT,
                                      .handler = on_heartbeat,
                                      .owner = node_waits,
                                      .path = all->pipeline->heartbeat.path};
}

void node_waits_run(struct node_waits *node_waits) {
  const struct pipeline *pipeline = pipeline_of(node_waits);
  struct timer *timer;
  while ((timer = timer_pop(&node_waits->timers, pipeline->now)))
    node_wait_refuse((struct node_wait *)((char *)timer -
                                          offsetof(struct node_wait, deadline)),
                     pipeline->connected ? REFUSED_TIMEOUT
                                         : REFUSED_DISCONNECTED,
                     0);
}

void node_waits_connected(struct node_waits *node_waits) {
  for (struct node_wait *v = node_waits->first; v; v = v->next) {
    v->stale = false;
    if (v->kind == NODE_WAIT_COUNT)
      directory_list_again(directory_of(v));
    else if (v->kind == NODE_WAIT_LEAVE)
      v->drive(v);
    else
      read_later(v);
  }
}

/* Ends the node waits that are not `patient`. The handler that is called can
 * begin another wait. That wait is put first in the list, so this loop does not
 * reach it. */
void node_waits_disconnected(struct node_waits *node_waits) {
  struct node_wait *next;
  for (struct node_wait *v = node_waits->first; v; v = next) {
    next = v->next;
    if (!v->patient) node_wait_refuse(v, REFUSED_DISCONNECTED, 0);
  }
}

void node_waits_drive(struct node_waits *node_waits) {
  for (struct node_wait *v = node_waits->first; v; v = v->next) {
    if (v->kind == NODE_WAIT_COUNT)
      directory_list_again(directory_of(v));
    else if (v->kind == NODE_WAIT_LEAVE)
      v->drive(v);
    else if (v->must_read || !v->seen || !watch_is_known(&v->watcher))
      read_later(v);
  }
}

void node_waits_refuse(struct node_waits *node_waits, enum refusal_code why,
                       int reason) {
  while (node_waits->first) node_wait_refuse(node_waits->first, why, reason);
}
