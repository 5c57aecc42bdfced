/* Computes a contender's position from a list, and which nodes the contender
 * must watch. acquire_fsm.c explains why this is enough for a grant. */
#include "queued.h"

#include "acquire_fsm.h"
#include "fast_requeue.h"
#include "queue.h"

/* How far from the front a waiter watches the directory, if it is not allowed
 * to read its predecessor. A server need not report the deletion of such a node
 * (watch.c). But it reports changes of the directory, which the waiter is
 * allowed to list. Only the first few waiters watch the directory. Otherwise
 * each change would make all waiters list. A waiter further back polls the node
 * before its predecessor. When that node is gone, the waiter lists (queued.c),
 * because it may be one of the first few by then. */
enum { NEAR = 3 };

static bool must_watch_children(const struct contender *c) {
  return c->options.kind == KIND_PERMIT || c->options.strategy == WAIT_PARENT ||
         (watch_is_hidden(&c->predecessor) && c->view.ahead <= NEAR);
}

void queue_position_predecessor_read(struct contender *c) {
  if (!watch_is_hidden(&c->predecessor)) return;
  if (!contender_sees(c))
    contender_list_again(c);
  else if (must_watch_children(c))
    contender_watch_children(c);
}

void queue_position_proceed(struct contender *c) {
  bool ours = contender_is_surely_ours(c);
  if (ours && c->view.ahead == 0) {
    acquire_fsm_be_first(c);
    return;
  }
  /* If another watcher of this session has already armed the watch of the node,
   * no request is needed. */
  if (!ours || !contender_watches_own(c))
    watch_read(&c->own); /* reads the owner */
  if (must_watch_children(c)) contender_watch_children(c);
  if (contender_waits_by_list(c))
    acquire_fsm_retry_in(c, c->options.strategy == WAIT_POLL
                                ? c->options.poll_interval
                                : contender_pipeline(c)->timeout);
  watch_arm(&c->predecessor);
  watch_arm(&c->before);
}

/* Returns whether all blocking nodes belong to this session and are being
 * deleted. */
static bool only_leaving_ahead(const struct contender *c,
                               const struct listing *listing,
                               const struct entry *own) {
  if (c->options.kind == KIND_PERMIT) return false;
  for (const struct entry *e = own; e-- > listing->entries;) {
    if (!rule_blocks(c->options.kind, own, e)) continue;
    const struct contender *leaving = queue_find(c->queue, e->name);
    if (!leaving || leaving->state != CONTENDER_LEAVING) return false;
  }
  return true;
}

/* Returns whether the node of the writer that `c` downgrades exists. A list
 * that shows the writer's name is not enough, because another node may have
 * that name. But the writer's node was read before the list was sent, and its
 * watch would have fired. */
static bool writer_is_there(const struct contender *c) {
  const struct contender *writer = queue_writer(c);
  return writer && contender_watches_own(writer);
}

/* Returns whether `c`, if it is a reader that downgrades, must wait for the
 * watch of the writer's node. The watch can be missing for lack of memory or of
 * permission. Then schedules a retry, or refuses `c`. After the watch is armed,
 * `c` needs another list. */
static bool must_await_writer(struct contender *c) {
  const struct contender *writer = queue_writer(c);
  if (!writer || writer->state != CONTENDER_HELD ||
      contender_watches_own(writer) || c->node.beside_writer)
    return false;
  if (watch_is_hidden(&writer->own))
    acquire_fsm_deny_hidden(c);
  else
    pipeline_retry(contender_pipeline(c));
  return true;
}

/* Returns whether a reader that downgrades has the writer's place in the queue.
 * This is so if the writer's node still existed after the reader's node was
 * created. Otherwise the next writer may have been granted the lock in
 * between. */
static bool keeps_position(struct contender *c, const struct listing *listing) {
  if (!c->options.downgrade || c->node.beside_writer) return true;
  c->node.beside_writer =
      writer_is_there(c) && listing_find(listing, queue_writer(c)->node.name);
  return c->node.beside_writer;
}

static void set_view(struct contender *c, const struct listing *listing,
                     const struct ahead *ahead) {
  c->view = (struct view){.listed_in = contender_pipeline(c)->connection,
                          .ahead = ahead->count,
                          .nearest_proves = ahead->nearest_proves,
                          .before_proves = ahead->before_proves,
                          .nearest_holds = ahead->nearest &&
                                           rule_holds(listing, ahead->nearest),
                          .before_holds = ahead->before &&
                                          rule_holds(listing, ahead->before)};
}

static const char *name_of(const struct entry *entry) {
  return entry ? entry->name : NULL;
}

/* Makes `c` QUEUED, and watches its own node and the nodes ahead. */
static void watch_ahead(struct contender *c, const struct entry *own,
                        const struct ahead *ahead) {
  struct watches *watches = &contender_directory(c)->watches;
  bool by_node = !contender_waits_by_list(c);
  const char *nearest = by_node ? name_of(ahead->nearest) : NULL;
  const char *before = by_node ? name_of(ahead->before) : NULL;
  contender_enter(c, CONTENDER_QUEUED);
  if (watch_want(&c->own, watches, own->name) &&
      watch_want(&c->predecessor, watches, nearest) &&
      watch_want(&c->before, watches, before)) {
    queue_position_proceed(c);
    return;
  }
  c->view.listed_in = 0; /* no memory: list again later */
  pipeline_retry(contender_pipeline(c));
}

static bool does_not_wait(const struct contender *c,
                          const struct listing *listing,
                          const struct entry *own, const struct ahead *ahead) {
  return ahead->count > 0 && !c->options.patient &&
         !only_leaving_ahead(c, listing, own);
}

static void refuse_as_busy(struct contender *c, const struct ahead *ahead) {
  blocker_store(c, name_of(ahead->nearest), name_of(ahead->before));
  acquire_fsm_refuse(c, REFUSED_BUSY, 0);
}

/* Computes the queue position of `c` from a list whose sequence numbers are
 * reliable. Then grants the lock, lets `c` wait, or refuses `c` as busy if it
 * is not willing to wait. */
static void queue_position_in_order(struct contender *c,
                                    const struct listing *listing,
                                    const struct entry *own) {
  struct ahead ahead;
  rule_apply(c->options.kind, c->options.permits, listing, own, &ahead);
  set_view(c, listing, &ahead);
  fast_requeue_store_tail(c, listing, own);
  if (does_not_wait(c, listing, own, &ahead))
    refuse_as_busy(c, &ahead);
  else if (ahead.count > 0 || !contender_is_surely_ours(c))
    watch_ahead(c, own, &ahead);
  else
    queue_position_proceed(c);
}

/* Deletes the node of `c`, and replaces the directory. Called when the sequence
 * numbers in a list do not show the order of the nodes. */
static void leave_disordered(struct contender *c) {
  acquire_fsm_leave(c); /* then the contender begins again */
  directory_replace(contender_directory(c));
}

/* Acts on a list that shows the node of `c`. If the sequence numbers do not
 * show the order, makes `c` leave. Refuses a downgrade that has lost its place.
 * Otherwise checks for conflicts, and computes the position. */
static void on_found(struct contender *c, const struct listing *listing,
                     const struct entry *own) {
  bool disorder =
      c->options.kind != KIND_PERMIT && listing_is_disordered(listing, own);
  if (!disorder && must_await_writer(c)) return;
  if (disorder)
    leave_disordered(c);
  else if (!keeps_position(c, listing))
    acquire_fsm_refuse(c, REFUSED_LOST, 0);
  else if (conflict_is_excluded(c, listing, own))
    queue_position_in_order(c, listing, own);
}

/* Finds the node of a create whose reply was lost: the first entry with the
 * session's base and the node's id. If that node is gone or another session's
 * (`refuted`), returns the next such entry. */
static const struct entry *seek(const struct contender *c,
                                const struct listing *listing) {
  const struct node *node = &c->node;
  enum role role = rule_role(c->options.kind, c->options.layout);
  if (c->op.exact)
    return node->refuted ? NULL : listing_find(listing, node->name);
  return listing_find_id(listing, &contender_pipeline(c)->base, node->id, role,
                         node->refuted ? node->name : "");
}

/* Returns the entry of the contender's node; NULL if the list does not show the
 * node. If the node's name is unknown or wrong, searches by its id. */
static const struct entry *find_own(struct contender *c,
                                    const struct listing *listing) {
  struct node *node = &c->node;
  const struct entry *own =
      contender_has_node(c) ? listing_find(listing, node->name) : NULL;
  if (own || node->known == NODE_OURS) return own;
  node->refuted |= node->known == NODE_MADE;
  own = seek(c, listing);
  if (!own) return NULL;
  node->known = NODE_MADE;
  node->refuted = node->cleared = false;
  contender_set_name(c, own->name);
  return own;
}

void queue_position_find(struct contender *c, const struct listing *listing,
                         void (*found)(struct contender *c,
                                       const struct listing *listing,
                                       const struct entry *own)) {
  bool maybe = c->node.known == NODE_MAYBE;
  bool leaving = c->state == CONTENDER_LEAVING;
  if (c->node.known < NODE_MAYBE || c->state == CONTENDER_HELD) return;
  if (leaving && !maybe) return;
  const struct entry *own = find_own(c, listing);
  if (!own && leaving) c->node.known = NODE_NONE;
  if (leaving)
    acquire_fsm_continue_leaving(c);
  else if (own)
    found(c, listing, own);
  else
    acquire_fsm_miss_node(c);
}

void queue_position_listed(struct contender *c, const struct listing *listing) {
  queue_position_find(c, listing, on_found);
}

/* Watches the contender's own node, unless it is watched already. A contender
 * that has requeued without a list (fast_requeue.h) has not watched its own
 * node before. */
void queue_position_watch_own(struct contender *c) {
  if (watch_want(&c->own, &contender_directory(c)->watches, c->node.name) &&
      !contender_watches_own(c))
    watch_read(&c->own);
}

/* The blocker. */

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
