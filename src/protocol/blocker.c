/* Describes the node that blocks a contender, from what this session knows. */
#include "blocker.h"

#include "queue.h"

/* Returns what this session knows of the node with this name. If the node
 * belongs to one of this session's contenders, that is everything. Otherwise it
 * is what a watcher has read. */
static struct blocker know(const struct contender *c, const char *name) {
  struct blocker blocker = {.holds = true};
  const struct contender *ours = queue_find(c->queue, name);
  if (ours) {
    blocker.data = ours->options.data;
    blocker.size = ours->options.size;
    blocker.holds = ours->state == CONTENDER_HELD;
  } else {
    blocker.size =
        watch_data(&contender_directory(c)->watches, name, &blocker.data);
  }
  return blocker;
}

void blocker_store(struct contender *c, const char *nearest,
                   const char *before) {
  struct blocker none = {0}, first = nearest ? know(c, nearest) : none,
                 second = before ? know(c, before) : none;
  /* The holder of a semaphore's inner mutex has no permit yet, so it does not
   * count as a holder. */
  bool gate = c->options.kind == KIND_GATE;
  first.holds = first.holds && c->view.nearest_holds && !gate;
  second.holds = second.holds && c->view.before_holds && !gate;
  c->blocker = !first.holds && second.holds && second.size > 0 ? second : first;
}

void blocker_store_holder(struct contender *c) {
  const struct contender *holder = queue_holder(c->queue);
  if (holder)
    c->blocker =
        (struct blocker){holder->options.data, holder->options.size, true};
}

void blocker_store_watched(struct contender *c) {
  if (c->state == CONTENDER_QUEUED && c->predecessor.watch)
    blocker_store(c, watch_name(&c->predecessor), watch_name(&c->before));
}

/* A node whose owner is 0 is not ephemeral: no session owns it. */
void blocker_warn_unowned(const struct watcher *watcher,
                          const struct reply *reply) {
  if (reply && reply->rc == REPLY_OK && reply->owner == 0)
    watch_warn(watcher, "cannot take the lock", REASON_UNOWNED);
}
