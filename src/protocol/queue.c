#include "queue.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "acquire_fsm.h"
#include "fast_requeue.h"

/* Waiting for the quota. */

/* Returns whether `c` is urgent (quota.h): the session's first contender on its
 * path, a permit or a downgrade. */
static bool is_urgent(const struct contender *c) {
  return c->queue->entered == 0 || c->options.kind == KIND_PERMIT ||
         c->options.downgrade;
}

static enum quota_answer ask_quota(const struct contender *c) {
  return contender_quota(c, is_urgent(c));
}

static void wait_for_quota(struct queue *queue) {
  struct contenders *all = queue->all;
  if (queue->awaits_quota) return;
  queue->awaits_quota = true;
  queue->quota_next = NULL;
  queue->quota_previous = all->quota_last;
  if (all->quota_last)
    all->quota_last->quota_next = queue;
  else
    all->quota_first = queue;
  all->quota_last = queue;
}

static void stop_waiting_for_quota(struct queue *queue) {
  struct contenders *all = queue->all;
  if (!queue->awaits_quota) return;
  queue->awaits_quota = false;
  if (queue->quota_previous)
    queue->quota_previous->quota_next = queue->quota_next;
  else
    all->quota_first = queue->quota_next;
  if (queue->quota_next)
    queue->quota_next->quota_previous = queue->quota_previous;
  else
    all->quota_last = queue->quota_previous;
}

bool queue_wake_for_quota(struct contenders *all) {
  for (struct queue *q = all->quota_first; q; q = q->quota_next) {
    if (ask_quota(q->parked) == QUOTA_LATER) continue;
    directory_wake(&q->directory);
    return true; /* the queue passes the quota on */
  }
  return false;
}

/* Admission. */

enum admission {
  ADMIT_NOW,
  ADMIT_LATER,
  ADMIT_BUSY,  /* the contender would wait, but is not patient */
  ADMIT_NEVER, /* quota gets free only if the user releases a lock */
};

/* Returns whether `c` must wait until a contender of this session leaves. */
static bool is_blocked_locally(const struct contender *c) {
  bool by_all = directory_is_being_replaced(&c->queue->directory);
  if (!by_all && !contender_is_admitted_alone(c)) return false;
  for (const struct contender *o = c->queue->first; o; o = o->next)
    if ((by_all || contender_is_admitted_alone(o)) &&
        contender_has_entered(o) && o->state != CONTENDER_LEAVING)
      return true;
  return false;
}

/* Decides if `c` can have a node. `first`: no contender waits before `c`. */
static enum admission admission(const struct contender *c, bool first) {
  const struct queue *queue = c->queue;
  enum replacement replacement = queue->directory.replacement;
  enum quota_answer quota = ask_quota(c);
  bool full = queue->entered >= QUEUE_ENTERED_MAX;
  bool shared = contender_is_admitted_alone(c) && queue->admitted_alone > 0;
  if (first && !full && !shared && replacement == REPLACE_NONE &&
      quota == QUOTA_YES)
    return ADMIT_NOW;
  if (!c->options.patient &&
      (full || replacement == REPLACE_OCCUPIED ||
       (quota != QUOTA_YES && !is_urgent(c)) || is_blocked_locally(c)))
    return ADMIT_BUSY;
  return first && quota == QUOTA_NEVER ? ADMIT_NEVER : ADMIT_LATER;
}

static void refuse_for_quota(struct contender *c) {
  const struct directory *d = &c->queue->directory;
  pipeline_warn(d->pipeline, "cannot contend", directory_path(d),
                REASON_NO_ROOM);
  acquire_fsm_deny(c, "cannot contend", directory_length(d), REASON_NO_ROOM);
}

/* Refuses all contenders if a server refuses to delete a node of this session.
 * A new node would be behind that node, and could not be deleted either. */
static void refuse_undeletable(struct queue *queue) {
  int rc = 0;
  for (const struct contender *c = queue->first; c; c = c->next)
    if (c->undeletable) rc = c->undeletable;
  for (struct contender *c = queue->first; c; c = c->next)
    acquire_fsm_deny(c, "cannot delete earlier nodes of this session",
                     directory_length(&queue->directory), rc);
}

/* Admits contenders in order of arrival. A contender that must wait blocks all
 * behind it, but impatient contenders are refused at once. Returns the blocking
 * contender, or NULL. */
static struct contender *admit_all(struct queue *queue) {
  struct contender *blocked = NULL;
  for (struct contender *c = queue->parked; c; c = c->next) {
    if (c->state != CONTENDER_PARKED) continue;
    switch (admission(c, !blocked)) {
      case ADMIT_NOW:
        c->wait_ops->enter(c);
        break;
      case ADMIT_BUSY:
        acquire_fsm_refuse(c, REFUSED_BUSY, 0);
        break;
      case ADMIT_NEVER:
        refuse_for_quota(c);
        break;
      case ADMIT_LATER:
        if (!blocked) blocked = c;
        if (queue->impatient == 0) return blocked;
    }
  }
  return blocked;
}

static void admit(struct queue *queue) {
  struct contender *blocked = admit_all(queue);
  queue->parked = blocked;
  if (blocked && ask_quota(blocked) == QUOTA_LATER)
    wait_for_quota(queue);
  else
    quota_pass_on(&queue->all->quota);
}

void queue_admit(struct contender *c) {
  if (!contender_pipeline(c)->connected || c->state != CONTENDER_PARKED) return;
  if (admission(c, true) == ADMIT_NOW)
    c->wait_ops->enter(c);
  else
    queue_rewind(c->queue);
}

/* Called by the session. */

void queue_flush(struct queue *queue) {
  stop_waiting_for_quota(queue);
  if (!queue->first) orphans_forget_ignored(&queue->directory);
  if (!queue->all->pipeline->connected) return;
  if (queue->undeletable > 0) refuse_undeletable(queue);
  admit(queue);
  directory_flush(&queue->directory, queue->first && queue->entered == 0);
}

void queue_rewind(struct queue *queue) {
  queue->parked = queue->first;
  directory_wake(&queue->directory);
}

/* Drives contenders in order of arrival, so that deletes precede creates. */
void queue_drive(struct queue *queue) {
  for (struct contender *c = queue->first; c; c = c->next)
    if (c->state != CONTENDER_PARKED) acquire_fsm_drive(c);
}

/* Watches the children for the holder `c`, to learn of other nodes. Does
 * nothing if the last list showed waiters, because they probably still wait. */
static void watch_contention(struct contender *c) {
  if (!fast_requeue_knows_tail(c)) contender_watch_children(c);
}

static void rewatch_contention(struct queue *queue) {
  for (struct contender *c = queue->first; c; c = c->next)
    if (c->state == CONTENDER_HELD && c->watches_children) watch_contention(c);
}

void queue_connected(struct queue *queue) {
  directory_connected(&queue->directory);
  queue_drive(queue);
  rewatch_contention(queue);
  directory_wake(&queue->directory);
}

void queue_watch_contention(struct contender *c) {
  if (c->state == CONTENDER_HELD && contender_pipeline(c)->connected &&
      c->options.local_turns > 0 && !c->watches_children)
    watch_contention(c);
}

/* A list that shows only the holder's node makes the lock uncontended, until
 * the children change. That list armed their watch, and a server reports a
 * change before it shows anything later. When other nodes come, the holder
 * stops watching the children, because these nodes stay for a while. */

/* Reports UNCONTENDED if the list shows only the node of the holder `c`. If it
 * shows other nodes, stops watching the children. An empty list lacks the
 * holder's node; the watch of that node reports the loss. */
static void find_contention(struct contender *c, const struct listing *list) {
  if (!c->watches_children || c->view.phase == VIEW_UNCONTENDED) return;
  if (list->count == 1 && listing_find(list, c->node.name)) {
    if (!directory_sees_children(contender_directory(c))) return;
    c->view.phase = VIEW_UNCONTENDED;
    c->notify(c, NEWS_UNCONTENDED);
    return;
  }
  c->watches_children = false;
  directory_unwatch_children(contender_directory(c));
}

/* Reports CONTENDED after UNCONTENDED: other nodes may be in the queue now. */
static void report_contention(struct queue *queue) {
  for (struct contender *c = queue->first; c; c = c->next) {
    if (c->view.phase != VIEW_UNCONTENDED) continue;
    c->view.phase = VIEW_PLAIN;
    c->notify(c, NEWS_CONTENDED);
  }
}

void queue_children_changed(struct queue *queue) {
  report_contention(queue);
  directory_children_changed(&queue->directory);
}

void queue_disconnected(struct queue *queue) { report_contention(queue); }

void queue_closed(struct queue *queue) {
  late_creates_end(queue);
  directory_closed(&queue->directory);
}

static bool has_created(const struct contender *c, uint64_t id) {
  return c->node.id == id && contender_has_entered(c);
}

/* Stops behind the last contender with a node: many others can be parked. */
static struct contender *creator_of(const struct queue *queue, uint64_t id) {
  int left = queue->entered;
  for (struct contender *c = queue->first; c && left > 0; c = c->next) {
    if (has_created(c, id)) return c;
    left -= contender_has_entered(c);
  }
  return NULL;
}

static bool has_node(const struct contender *c, const char *name) {
  return contender_has_node(c) && strcmp(c->node.name, name) == 0;
}

/* Compares whole names: another session may have the same base and id. */
struct contender *queue_find(const struct queue *queue, const char *name) {
  uint64_t id;
  if (!name_id(name, &queue->all->pipeline->base, &id)) return NULL;
  struct contender *c = creator_of(queue, id);
  return c && has_node(c, name) ? c : NULL;
}

struct contender *queue_writer(const struct contender *c) {
  struct contender *o = c->options.downgrade ? c->queue->first : NULL;
  while (o && (o->node.known != NODE_OURS ||
               o->node.czxid != c->options.writer_token))
    o = o->next;
  return o;
}

const struct contender *queue_holder(const struct queue *queue) {
  for (const struct contender *c = queue->first; c; c = c->next)
    if (c->state == CONTENDER_HELD) return c;
  return NULL;
}

/* Reports of the directory. */

static struct queue *of(struct directory *d) { return (struct queue *)d; }

/* Returns the contender that created the node with this id. Begins at the last
 * match: lists and queues have nearly the same order, so this saves steps. */
static struct contender *find_creator(const struct queue *queue, uint64_t id,
                                      struct contender **last) {
  struct contender *c = *last;
  for (int i = 0; c && i < 4; c = c->next, i++)
    if (has_created(c, id)) return *last = c;
  c = creator_of(queue, id);
  return c ? *last = c : NULL;
}

/* Returns whether the entry may be an orphan (orphans.c): this session may have
 * created it, but no contender uses it. A node that its contender still
 * searches for is not an orphan. */
static bool is_orphan(const struct queue *queue, const struct entry *e,
                      struct contender **last) {
  uint64_t id;
  if (!name_id(e->name, &queue->all->pipeline->base, &id)) return false;
  const struct contender *c = find_creator(queue, id, last);
  return !c || c->node.known == NODE_NONE ||
         (c->node.known == NODE_OURS && !has_node(c, e->name));
}

/* Returns whether a contender in the queue may have created `holder`. */
static bool knows_holder(const struct queue *queue) {
  for (const struct contender *c = queue->first; c; c = c->next)
    if (contender_is_exclusive(c) && c->node.known != NODE_NONE) return true;
  return false;
}

static bool knows(struct directory *d, const char *name) {
  if (strcmp(name, NAME_UNFAIR) == 0) return knows_holder(of(d));
  const struct entry e = {.name = name};
  struct contender *last = NULL;
  return !is_orphan(of(d), &e, &last);
}

/* Returns whether `holder` may be an orphan on its own: its create may have
 * been applied late, no contender has it, and the list lacks the node beside
 * it. If that node is listed, it is deleted together with `holder`. */
static bool may_be_orphan(const struct queue *queue,
                          const struct listing *listing) {
  return queue->late_holder_possible && !knows_holder(queue) &&
         !listing_has_own(listing, &queue->all->pipeline->base, ROLE_HOLD);
}

static void remove_orphans(struct queue *queue, const struct listing *listing) {
  struct contender *last = queue->first;
  if (may_be_orphan(queue, listing) &&
      directory_accepts_orphans(&queue->directory))
    directory_remove_orphan(&queue->directory, NAME_UNFAIR);
  for (int i = 0; i < listing->count; i++) {
    if (!is_orphan(queue, &listing->entries[i], &last)) continue;
    if (!directory_accepts_orphans(&queue->directory)) return;
    directory_remove_orphan(&queue->directory, listing->entries[i].name);
  }
}

void queue_add_observer(struct queue *queue, struct list_observer *o) {
  o->next = queue->observers;
  queue->observers = o;
}

void queue_remove_observer(struct queue *queue, struct list_observer *o) {
  struct list_observer **link = &queue->observers;
  while (*link != o) link = &(*link)->next;
  *link = o->next;
  directory_wake(&queue->directory); /* the queue may be idle now */
}

/* Calls all observers. A call can remove its observer from the list. */
static void notify_observers(const struct queue *queue,
                             const struct listing *listing, uint64_t serial) {
  struct list_observer *next;
  for (struct list_observer *o = queue->observers; o; o = next) {
    next = o->next;
    o->on_listed(o, listing, serial);
  }
}

static void on_listed(struct directory *d, const struct listing *listing,
                      uint64_t serial) {
  notify_observers(of(d), listing, serial);
  remove_orphans(of(d), listing);
  for (struct contender *c = of(d)->first; c; c = c->next)
    if (c->state == CONTENDER_HELD && c->node.serial < serial)
      find_contention(c, listing);
    else if (contender_has_entered(c) && c->node.serial < serial)
      c->wait_ops->on_listed(c, listing);
}

static void on_refused(struct directory *d, const char *what, int rc) {
  for (struct contender *c = of(d)->first; c; c = c->next)
    if (contender_is_waiting(c))
      acquire_fsm_fail(c, what, directory_length(d), rc);
}

static void on_unlisted(struct directory *d, const char *what, int rc) {
  struct list_observer *next;
  for (struct list_observer *o = of(d)->observers; o && !reply_is_transient(rc);
       o = next) {
    next = o->next;
    o->on_refused(o, rc);
  }
  on_refused(d, what, rc);
}

static void on_made(struct directory *d) { queue_drive(of(d)); }

static void on_not_made(struct directory *d, const char *what, int rc) {
  for (struct contender *c = of(d)->first; c; c = c->next)
    acquire_fsm_directory_failed(c, what, rc);
}

static void on_occupied(struct directory *d) { admit(of(d)); }

static const struct directory_owner owner = {.on_listed = on_listed,
                                             .knows = knows,
                                             .on_unlisted = on_unlisted,
                                             .on_refused = on_refused,
                                             .on_made = on_made,
                                             .on_not_made = on_not_made,
                                             .on_occupied = on_occupied};

/* Creating and freeing a queue. */

/* Gets the queue by a cast: the directory of `watches` is its first field. */
static bool is_ours(const struct watches *watches, const char *name) {
  size_t before = offsetof(struct directory, watches);
  return queue_find((const void *)((const char *)watches - before), name);
}

struct queue *queue_new(struct contenders *all, const char *path,
                        void (*flush)(struct deferred_call *call)) {
  struct queue *queue = calloc(1, sizeof *queue + strlen(path) + 1);
  if (!queue) return NULL;
  queue->all = all;
  queue->flush = (struct deferred_call){.run = flush};
  directory_init(&queue->directory, &owner, all->pipeline, &queue->flush,
                 strcpy((char *)(queue + 1), path));
  queue->directory.watches.is_ours = is_ours;
  return queue;
}

bool queue_is_idle(const struct queue *queue) {
  return !queue->first && !queue->observers && !queue->late_create_possible &&
         !(queue->ready_create && queue->ready_create->in_flight) &&
         directory_is_idle(&queue->directory);
}

void queue_free(struct queue *queue) {
  assert(queue_is_idle(queue));
  stop_waiting_for_quota(queue);
  directory_free(&queue->directory);
  free(queue->tail);
  free(queue->ready_create);
  free(queue);
}
