/* Who keeps one waiting: what is known of it. */
#include "rival.h"

#include "queue.h"

/* Who is known by the name of its node: one of ours, or one that somebody of
 * ours watches, for a watch reads the node. */
static struct rival know(const struct contender *c, const char *name) {
  struct rival rival = {.holds = true};
  const struct contender *ours = queue_find(c->queue, name);
  if (ours) {
    rival.data = ours->options.data;
    rival.size = ours->options.size;
    rival.holds = ours->state == CONTENDER_HELD;
  } else {
    rival.size =
        watch_data(&contender_directory(c)->watches, name, &rival.data);
  }
  return rival;
}

/* Either may be NULL.  Rather one that holds than the nearest. */
void rival_note(struct contender *c, const char *nearest, const char *before) {
  struct rival none = {0}, first = nearest ? know(c, nearest) : none,
               second = before ? know(c, before) : none;
  /* (Who is inside a semaphore's inner mutex holds no permit yet.) */
  bool gate = c->options.kind == KIND_GATE;
  first.holds = first.holds && c->view.nearest_holds && !gate;
  second.holds = second.holds && c->view.before_holds && !gate;
  c->rival = !first.holds && second.holds && second.size > 0 ? second : first;
}

/* It waits for another of this session, or for a place. */
void rival_note_holder(struct contender *c) {
  const struct contender *holder = queue_holder(c->queue);
  if (holder)
    c->rival = (struct rival){holder->options.data, holder->options.size, true};
}

void rival_note_watched(struct contender *c) {
  if (c->state == CONTENDER_QUEUED && c->predecessor.watch)
    rival_note(c, watch_name(&c->predecessor), watch_name(&c->before));
}

/* Every client's contenders are ephemeral: nothing but somebody's hand takes this
 * one away. */
void rival_note_unowned(const struct watcher *watcher,
                        const struct reply *reply) {
  if (reply && reply->rc == REPLY_OK && reply->owner == 0)
    watch_say(watcher, "cannot take the lock", REASON_STAYS);
}
