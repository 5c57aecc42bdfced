#include "fast_requeue.h"

#include <stdlib.h>
#include <string.h>

#include "rule.h"

/* How a contender that has released the lock requeues without a list. Its last
 * list showed the queue's last node, X, which will be ahead of its new node N
 * (struct queue_tail). So the contender watches X, and requests a list only when X
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

static void set_name(char *to, const char *name) {
  memcpy(to, name, strlen(name) + 1);
}

static void forget(struct queue_tail *tail) {
  if (tail) tail->seen_in = 0;
}

void fast_requeue_forget_tail(struct queue *queue) { forget(queue->tail); }

/* Adds an entry to the tail. The caller adds the last entry of the list first.
 * Returns false if another client's name is too long to be stored. */
static bool add(struct queue_tail *tail, const struct entry *e) {
  char *name = tail->length == 0 ? tail->last : tail->before;
  tail->length++;
  if (tail->length > 2) return true;
  if (strlen(e->name) >= NAME_MAX_USUAL) return false;
  set_name(name, e->name);
  return true;
}

/* Stores the nodes behind `own` as the tail if `c` is first or second in the
 * queue. For a later contender, the tail would be outdated before its next
 * create. When `c` requeues, the stored nodes will be ahead of its next node.
 * If no node is behind `own`, the tail becomes unknown. */
void fast_requeue_store_tail(const struct contender *c,
                             const struct listing *listing,
                             const struct entry *own) {
  const struct entry *last = &listing->entries[listing->count - 1];
  enum kind kind = c->options.kind;
  struct queue_tail *tail = c->queue->tail;
  if (contender_waits_by_list(c) || c->view.ahead > 1) return;
  if (last == own) {
    forget(tail);
    return;
  }
  if (!tail) tail = c->queue->tail = malloc(sizeof *tail);
  if (!tail) return;
  struct entry next = {.role = own->role, .sequence = INT32_MAX};
  *tail = (struct queue_tail){.seen_in = contender_pipeline(c)->connection,
                              .kind = kind,
                              .role = own->role,
                              .number = last->sequence};
  for (const struct entry *e = last; e > own; e--)
    if (rule_blocks(kind, &next, e) && !add(tail, e)) forget(tail);
  if (tail->length == 0) forget(tail);
}

/* Returns the tail if it was stored in this connection, for contenders like
 * `c`; otherwise NULL. */
static struct queue_tail *tail_of(const struct contender *c) {
  struct queue_tail *tail = c->queue->tail;
  bool fits = tail && tail->seen_in == contender_pipeline(c)->connection &&
              tail->kind == c->options.kind &&
              tail->role == rule_role(c->options.kind, c->options.layout);
  return fits ? tail : NULL;
}

/* Returns how many nodes were created between the tail and the new node `name`.
 * -1: unknown, also near the end of the sequence counter, because the numbers
 * can wrap around there. */
static int gap_to(const struct queue_tail *tail, const char *name) {
  int32_t number;
  bool behind = name_parse(name, &number) == tail->role &&
                number < SEQUENCE_DANGER && number > tail->number;
  return behind ? number - tail->number - 1 : -1;
}

/* Adds the new node `name` to the tail, if no other node was created between
 * them. */
static void append(struct queue_tail *tail, const char *name) {
  struct entry next = {.role = tail->role, .sequence = INT32_MAX}, e;
  if (gap_to(tail, name) != 0) return;
  tail->number++;
  e = (struct entry){.role = tail->role, .sequence = tail->number};
  if (!rule_blocks(tail->kind, &next, &e)) return;
  set_name(tail->before, tail->last);
  set_name(tail->last, name);
  tail->length++;
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
  int gap = tail ? gap_to(tail, c->node.name) : -1;
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
  struct queue_tail *tail = tail_of(c);
  if (tail) append(tail, c->node.name);
  return !asks;
}

void fast_requeue_give_up(struct contender *c) {
  watch_drop(&c->predecessor);
  c->view.phase = VIEW_PLAIN;
  directory_list(contender_directory(c), c->node.serial);
}
