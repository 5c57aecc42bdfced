/* Why no waiter passes a barrier that is set.  A vigil is met only by news of
 * its node from after its beginning:
 *
 * * A read that found no node, or another node than it had seen first.  The
 *   read was sent after the vigil had begun (`stale`), and behind a round that
 *   was committed after that, too (`proves`).  So it shows everything committed
 *   before.  It cannot come from the old view of a server that lags, or of a
 *   former leader.
 * * The event of the node's deletion, once the vigil has seen the node
 *   (`seen`).  A server reports a deletion before it shows a connection
 *   anything later.  So the event is that of exactly the node that was seen.
 *
 * News that comes before the vigil has sent its read (`looks`) is ignored.
 *
 * Why no waiter stays at a barrier that is lifted.  While a vigil lasts, its
 * watch is armed or being armed, or there is no connection.  Each new
 * connection reads again.  A node that was created again meanwhile has another
 * czxid. */
#include "vigil.h"

#include <stdlib.h>
#include <string.h>

#include "queue.h"

static struct wire *wire_of(const struct vigils *vigils) {
  return vigils->all->wire;
}

static struct directory *directory_of(struct vigil *v) {
  return &v->queue->directory;
}

/* Returns the length of the directory's path. */
static size_t parent_length(const struct vigil *v) {
  return (size_t)(strrchr(v->path, '/') - v->path);
}

static struct queue *queue_for(struct vigils *vigils, const char *path,
                               size_t length) {
  char *copy = malloc(length + 1);
  if (!copy) return NULL;
  memcpy(copy, path, length);
  copy[length] = '\0';
  struct queue *queue = vigils->all->queue_of(vigils->all, copy);
  free(copy);
  return queue;
}

/* Watches the node at the vigil's path.  False: no memory. */
static bool want(struct vigil *v, struct queue *queue, bool awaits) {
  const char *name = strrchr(v->path, '/') + 1;
  if (!watch_want(&v->watcher, &queue->directory.watches, name)) return false;
  if (awaits) watch_await(&v->watcher);
  return true;
}

/* Ending a vigil. */

static void stop(struct vigil *v) {
  struct vigils *vigils = v->of;
  *v->link = v->next;
  if (v->next) v->next->link = v->link;
  v->of = NULL;
  timer_set(&vigils->timers, &v->deadline.timer, NEVER);
  watch_drop(&v->watcher);
  if (v->kind != VIGIL_CROWD) return;
  queue_leave_onlooker(v->queue, &v->onlooker);
  directory_unwatch_children(directory_of(v));
}

static void meet(struct vigil *v) {
  stop(v);
  v->ended(v, true);
}

void vigil_refuse(struct vigil *v, enum verdict why, int reason) {
  if (!v->of) return;
  v->verdict = why;
  v->reason = reason;
  stop(v);
  v->ended(v, false);
}

/* Reading the node. */

static void look_later(struct vigil *v) {
  v->looks = true;
  chore_add(&wire_of(v->of)->batch, &v->of->flush);
}

/* Ignores what was read behind a round that was not committed. */
static void on_proof(struct op *op, const struct reply *reply) {
  struct vigils *vigils = op->owner;
  if (reply_proves(op->kind, reply->rc)) {
    refusals_end(&vigils->proving);
    chore_add(&wire_of(vigils)->batch, &vigils->flush);
    return;
  }
  if (reply_is_unknown(reply->rc)) return; /* each new connection reads again */
  for (struct vigil *v = vigils->first; v; v = v->next) v->looks |= v->proves;
  wire_back_off(wire_of(vigils), &vigils->proving, reply->rc);
}

/* Returns whether the vigil waits because a server refused the watch. */
static bool is_held_back(struct vigil *v) {
  return v->kind != VIGIL_CROWD &&
         wire_holds_back(wire_of(v->of), &directory_of(v)->watches.backoff);
}

/* Sends a round for all vigils of a batch.  A vigil that begins while one is in
 * flight waits for the next.  Returns whether one was sent. */
static bool prove(struct vigils *vigils) {
  bool wanted = false;
  for (struct vigil *v = vigils->first; v; v = v->next)
    wanted |= v->looks && v->proves && !is_held_back(v);
  return wanted && !vigils->proof.in_flight &&
         !wire_holds_back(wire_of(vigils), &vigils->proving) &&
         wire_submit(wire_of(vigils), &vigils->proof);
}

/* Reads the node; vigils_drive repeats it if that fails. */
static void look(struct vigil *v) {
  watch_read(&v->watcher);
  v->looks = !watch_is_asking(&v->watcher);
}

static void flush(struct chore *chore) {
  struct vigils *vigils =
      (struct vigils *)((char *)chore - offsetof(struct vigils, flush));
  if (!wire_of(vigils)->connected) return;
  for (struct vigil *v = vigils->first; v; v = v->next)
    if (v->looks) v->stale = watch_is_asking(&v->watcher);
  bool proved = prove(vigils);
  for (struct vigil *v = vigils->first; v; v = v->next) {
    if (v->looks && (proved || !v->proves) && !is_held_back(v)) look(v);
  }
}

/* Handling news. */

static void see(struct vigil *v, const struct reply *reply) {
  if (v->kind == VIGIL_THERE || (v->seen && v->seen != reply->czxid)) {
    meet(v);
    return;
  }
  v->seen = reply->czxid;
  if (!v->patient) vigil_refuse(v, VERDICT_TIMEOUT, 0);
}

/* The node exists, and no server tells which node it is.  A node that is
 * created again before the next poll counts as the same. */
static void see_hidden(struct vigil *v) {
  if (v->kind == VIGIL_THERE)
    meet(v);
  else if (!v->patient)
    vigil_refuse(v, VERDICT_TIMEOUT, 0);
}

static void miss(struct vigil *v) {
  if (v->kind == VIGIL_GONE)
    meet(v);
  else if (!v->patient)
    vigil_refuse(v, VERDICT_TIMEOUT, 0);
}

/* Handles news of the directory, which was missing: it may have been
 * created. */
static void hear_directory(struct vigil *v, enum watch_news news,
                           const struct reply *reply) {
  if (news == WATCH_GONE && reply) return;
  if (reply && v->unlisted) directory_doubt(directory_of(v));
  v->unlisted = reply != NULL;
  watch_drop(&v->watcher);
  directory_list_anew(directory_of(v));
}

/* With `reply` the node was read; without one this is an event. */
static void hear(struct watcher *watcher, enum watch_news news,
                 const struct reply *reply) {
  struct vigil *v = watcher_owner(watcher);
  if (v->kind == VIGIL_CROWD) {
    hear_directory(v, news, reply);
  } else if (v->looks) {
    return;
  } else if (reply && v->stale) {
    v->stale = false;
    look(v);
  } else if (news == WATCH_ARMED && reply) {
    see(v, reply);
  } else if (news == WATCH_HIDDEN) {
    see_hidden(v);
  } else if (news == WATCH_GONE && (reply || v->seen)) {
    miss(v);
  } else {
    look(v);
  }
}

static const struct watcher_role role = {hear, offsetof(struct vigil, watcher),
                                         false};

static struct vigil *of_onlooker(struct onlooker *onlooker) {
  return (struct vigil *)((char *)onlooker - offsetof(struct vigil, onlooker));
}

static void await_directory(struct vigil *v) {
  struct queue *queue = queue_for(v->of, v->path, parent_length(v));
  if (queue && want(v, queue, true))
    watch_arm(&v->watcher);
  else
    wire_retry(wire_of(v->of));
}

/* If a list armed no watch, the directory is missing, or another caller asked
 * for the list. */
static void listed(struct onlooker *onlooker, const struct listing *listing,
                   uint64_t serial) {
  struct vigil *v = of_onlooker(onlooker);
  if (serial <= v->since) return;
  if (listing->count != v->known)
    meet(v);
  else if (!directory_sees_children(directory_of(v)))
    await_directory(v);
  else
    v->unlisted = false;
}

static void unlisted(struct onlooker *onlooker, int rc) {
  vigil_refuse(of_onlooker(onlooker), verdict_of(rc), rc);
}

/* Beginning a vigil. */

static void too_late(struct deadline *deadline) {
  struct vigil *v =
      (struct vigil *)((char *)deadline - offsetof(struct vigil, deadline));
  vigil_refuse(v, vigils_too_late(v->of), 0);
}

static bool watch(struct vigil *v) {
  if (v->kind == VIGIL_CROWD) {
    v->onlooker = (struct onlooker){.listed = listed, .refused = unlisted};
    v->since = wire_of(v->of)->serial;
    queue_join_onlooker(v->queue, &v->onlooker);
    directory_watch_children(directory_of(v), true);
    directory_list_anew(directory_of(v));
    return true;
  }
  if (!want(v, v->queue, v->kind == VIGIL_THERE)) return false;
  look_later(v);
  return true;
}

bool vigil_begin(struct vigils *vigils, struct vigil *v) {
  v->queue =
      queue_for(vigils, v->path,
                v->kind == VIGIL_CROWD ? strlen(v->path) : parent_length(v));
  if (!v->queue) return false;
  v->of = vigils;
  v->looks = v->stale = v->unlisted = false;
  v->seen = 0;
  watcher_init(&v->watcher, &role);
  timer_init(&v->deadline.timer);
  v->deadline.due = too_late;
  if (!watch(v)) {
    v->of = NULL;
    return false;
  }
  v->next = vigils->first;
  v->link = &vigils->first;
  if (v->next) v->next->link = &v->next;
  vigils->first = v;
  deadline_set(vigils, &v->deadline, v->until);
  return true;
}

/* All vigils of a session. */

void vigils_init(struct vigils *vigils, struct contenders *all) {
  *vigils = (struct vigils){.all = all, .flush = {.run = flush}};
  vigils->proof = (struct op){.kind = OP_HEARTBEAT,
                              .handler = on_proof,
                              .owner = vigils,
                              .path = all->wire->heartbeat.path};
}

void deadline_set(struct vigils *vigils, struct deadline *deadline,
                  int64_t due) {
  timer_set(&vigils->timers, &deadline->timer, due);
}

enum verdict vigils_too_late(const struct vigils *vigils) {
  return wire_of(vigils)->connected ? VERDICT_TIMEOUT : VERDICT_DISCONNECTED;
}

void vigils_run(struct vigils *vigils) {
  struct timer *timer;
  while ((timer = timer_pop(&vigils->timers, wire_of(vigils)->now))) {
    struct deadline *deadline =
        (struct deadline *)((char *)timer - offsetof(struct deadline, timer));
    deadline->due(deadline);
  }
}

void vigils_connected(struct vigils *vigils) {
  for (struct vigil *v = vigils->first; v; v = v->next) {
    v->stale = false;
    if (v->kind == VIGIL_CROWD)
      directory_list_anew(directory_of(v));
    else
      look_later(v);
  }
}

/* The handler of a vigil's end may begin another one, which comes first in the
 * list. */
void vigils_disconnected(struct vigils *vigils) {
  struct vigil *next;
  for (struct vigil *v = vigils->first; v; v = next) {
    next = v->next;
    if (!v->patient) vigil_refuse(v, VERDICT_DISCONNECTED, 0);
  }
}

void vigils_drive(struct vigils *vigils) {
  for (struct vigil *v = vigils->first; v; v = v->next) {
    if (v->kind == VIGIL_CROWD)
      directory_list_anew(directory_of(v));
    else if (v->looks || !v->seen || !watch_is_known(&v->watcher))
      look_later(v);
  }
}

void vigils_refuse(struct vigils *vigils, enum verdict why, int reason) {
  while (vigils->first) vigil_refuse(vigils->first, why, reason);
}
