#include "fast_requeue.h"

#include "rule.h"

/* Following the tail. A returning contender knows from its last list which node
 * will be just ahead of its new one (queue_tail.h). It watches that node, X,
 * and needs no list before X is deleted. Then a list shows the others ahead.
 *
 * X blocks the contender by the rule: its number is lower, and a list with both
 * would name X as blocking. So the contender waits for no node that it could
 * ignore. If X is gone already, the reply to the watch reports it. No orphan of
 * this session ahead of X blocks the contender for long. The list that showed X
 * showed such orphans, too, and they were deleted (acquire_fsm_start_over
 * forgets the tail).
 *
 * A contender that follows the tail has *seen* no list (`listed_in`). So any
 * news of X makes it ask for a list, and only that list can lead to a grant.
 *
 * The list comes in time if it is sent when the last node ahead is about to
 * hold the lock. Then the contender watches that node's deletion as every
 * waiter does. If one node was created behind X, that node is about to hold the
 * lock when X is deleted. Mostly it belongs to the previous holder, which has
 * returned as well. If none was created, X is about to hold the lock when the
 * node before X is deleted. So the contender watches that node, too. */

enum { NEWER_MAX = 2 }; /* follow a tail with at most so many newer nodes */

/* Stores the tail only for a contender that is first or second. For others the
 * search costs as much, but the tail would soon be outdated. */
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

/* Returns false if the next node of `c` may be first. The reply to a create in
 * a shared transaction does not name the node's owner, so the owner must be
 * read before a grant. If a node was behind the last node of `c`, the next one
 * must wait anyway, and the read delays nothing. */
bool fast_requeue_joins(const struct contender *c) {
  return c->options.patient && !c->options.downgrade && tail_of(c);
}

/* Returns whether the contender waits for the tail and requests no list. With
 * only one node ahead it lists at once instead: this costs no more, and the
 * deletion of that node grants. */
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

/* Makes `c` watch the last node of the tail, and the node before that if no
 * node was created in between (`gap` is 0). False: no memory. */
static bool watch_tail(struct contender *c, const struct queue_tail *tail,
                       int gap) {
  struct watches *watches = &contender_directory(c)->watches;
  bool early = gap == 0 && tail->before[0];
  if (early && !watch_want(&c->before, watches, tail->before)) return false;
  return watch_want(&c->predecessor, watches, tail->last);
}

/* Makes `c` QUEUED behind the tail, after its create. Returns false if it is
 * unknown which node is ahead, or if many nodes were created in between. */
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
