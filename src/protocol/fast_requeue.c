#include "fast_requeue.h"

#include "rule.h"

/* How a contender that has released the lock requeues without a list. Its last
 * list showed the queue's last node, X, which will be ahead of its new node N
 * (queue_tail.h). So the contender watches X, and requests a list only when X
 * is deleted. That list shows the other nodes ahead of N.
 *
 * Why this is safe:
 *
 *   * X blocks N by the rule of the lock's kind (rule.h): X has a lower number,
 *     and a list with both nodes would show X as blocking. So the contender
 *     waits for no node that it is allowed to ignore.
 *   * If X is already deleted, the reply to the watch reports that.
 *   * An orphan of this session ahead of X does not block N for long. The list
 *     that showed X also showed the orphan, and zklock has deleted it.
 *     acquire_fsm_start_over can leave another orphan, so it forgets the tail.
 *   * While the contender follows the tail, its view is from no list
 *     (`listed_in` is 0). So every event of X makes it request a list. Only a
 *     list that it has requested can lead to a grant.
 *
 * The contender requests the list when the last node ahead of N is about to
 * hold the lock. Then it can still watch that node's deletion, as every waiter
 * does.
 *
 *   * If one node was created between X and N, that node is about to hold the
 *     lock when X is deleted. Usually it belongs to the previous holder, which
 *     has requeued, too.
 *   * If no node was created between X and N, X is about to hold the lock when
 *     the node before X is deleted. So the contender also watches that node. */

enum { NEWER_MAX = 2 }; /* the most nodes created behind the tail */

/* Stores the last nodes of the queue (the tail) if `c` is first or second in
 * the queue. For a later contender, the tail would be outdated before its next
 * create. */
void fast_requeue_store_tail(const struct contender *c,
                             const struct listing *listing,
                             const struct entry *own) {
  if (contender_waits_by_list(c) || c->view.ahead > 1) return;
  queue_tail_store(&c->queue->tail, contender_pipeline(c)->connection,
                   c->options.kind, listing, own);
}

static const struct queue_tail *tail_of(const struct contender *c) {
  return queue_tail_valid_for(c->queue->tail, contender_pipeline(c)->connection,
                              c->options.kind,
                              rule_role(c->options.kind, c->options.layout));
}

bool fast_requeue_knows_tail(const struct contender *c) { return tail_of(c); }

/* Returns whether a create of `c` can share a transaction with a delete. The
 * reply to such a create does not name the node's owner. So zklock must read
 * the owner before the grant. This delays no grant if other nodes will be ahead
 * of the new node, because it must wait anyway. The tail shows such nodes. */
bool fast_requeue_joins(const struct contender *c) {
  return c->options.patient && !c->options.downgrade && tail_of(c);
}

/* Returns whether `c` can watch the queue's last node without a list. If only
 * one node is ahead, `c` requests a list at once: this costs no more requests
 * than following the tail, and then that node's deletion grants the lock. */
static bool may_follow(const struct contender *c) {
  const struct queue_tail *tail = tail_of(c);
  return tail && c->options.patient && !c->options.downgrade &&
         !contender_waits_by_list(c) && tail->length > 1;
}

static void watch_last(struct contender *c) {
  struct watches *watches = &contender_directory(c)->watches;
  if (watch_want(&c->predecessor, watches, tail_of(c)->last))
    watch_arm(&c->predecessor);
}

/* Makes `c` watch the last node of the tail. If `gap` is 0, no node was created
 * between that node and the node of `c`. Then `c` also watches the node before
 * it. Returns false if there is no memory. */
static bool watch_tail(struct contender *c, const struct queue_tail *tail,
                       int gap) {
  struct watches *watches = &contender_directory(c)->watches;
  bool early = gap == 0 && tail->before[0];
  if (early && !watch_want(&c->before, watches, tail->before)) return false;
  return watch_want(&c->predecessor, watches, tail->last);
}

/* Queues `c` behind the last known node of the queue (the tail) without listing
 * the directory. Called after the node of `c` was created. Returns false if the
 * tail is unknown, or more than NEWER_MAX nodes were created after it. Also
 * returns false if there is no memory. */
static bool queue_behind_tail(struct contender *c) {
  const struct queue_tail *tail = tail_of(c);
  int gap = tail ? queue_tail_gap(tail, c->node.name) : -1;
  if (gap < 0 || gap > NEWER_MAX || !watch_tail(c, tail, gap)) return false;
  c->view.phase = VIEW_AT_LEAST;
  c->view.ahead = tail->length + gap;
  contender_enter(c, CONTENDER_QUEUED);
  watch_arm(&c->predecessor);
  watch_arm(&c->before);
  return true;
}

bool fast_requeue_begin(struct contender *c) {
  bool follows = may_follow(c);
  c->view.phase = follows ? VIEW_FOLLOWS : VIEW_PLAIN;
  if (follows) watch_last(c);
  return follows;
}

bool fast_requeue_created(struct contender *c) {
  bool asks = false;
  if (c->view.phase == VIEW_FOLLOWS) {
    c->view.phase = VIEW_PLAIN;
    asks = !queue_behind_tail(c);
  }
  if (tail_of(c)) queue_tail_append(c->queue->tail, c->node.name);
  return !asks;
}

void fast_requeue_give_up(struct contender *c) {
  watch_drop(&c->predecessor);
  c->view.phase = VIEW_PLAIN;
  directory_list(contender_directory(c), c->node.serial);
}
