/* The last states of a contender: a refusal, a release or a loss, and then the
 * deletion of its node. The delete is repeated until a server confirms it.
 * acquire_fsm.c describes all states, and calls the functions at the end of
 * this file. */
#include "acquire_fsm.h"

#include <assert.h>

#include "fast_requeue.h"

#define SECOND INT64_C(1000000000)
#define CANNOT_DELETE "cannot delete the node of this session"

/* Deleting the node. */

/* Returns whether the owner must be read before the delete. A name is only a
 * hint (name.h): a node found by name may be another session's. If a server has
 * named the owner only in an earlier connection, another node may have got the
 * name since. The reason: a delete whose reply was lost may have been applied,
 * and the directory may have been deleted and created again. orphans.c explains
 * which nodes a delete behind that read can still hit. */
static bool must_read_owner(const struct contender *c) {
  return !contender_is_surely_ours(c);
}

void acquire_fsm_try_to_leave(struct contender *c) {
  if (!contender_pipeline(c)->connected) return;
  contender_assert(c);
  assert(c->state == CONTENDER_LEAVING);
  if (c->node.known == NODE_MAYBE) {
    c->wait_ops->check(c);
  } else if (contender_has_node(c) &&
             (!c->wait_ops->may_remove || c->wait_ops->may_remove(c)) &&
             !c->op.in_flight) {
    contender_prepare(c, must_read_owner(c) ? OP_PING : OP_REMOVE);
    c->op.joins = !c->undone && fast_requeue_joins(c);
    pipeline_submit(contender_pipeline(c), &c->op);
  }
}

/* Returns whether the numbers alone decide which nodes are ahead of `c`. */
static bool waits_by_number(const struct contender *c) {
  enum kind kind = c->options.kind;
  return kind <= KIND_WRITE || kind == KIND_GATE;
}

/* Decrements the number of nodes ahead of `c`, because `gone`, a node that its
 * list has counted, was deleted. If `c` watches that node, the watch does this
 * instead. If another node may have taken the place of the deleted node
 * (rule_proves), the number stays. */
static void count_down(struct contender *c, const struct entry *gone) {
  struct entry own = {.role = rule_role(c->options.kind, c->options.layout)};
  if (c->state != CONTENDER_QUEUED || !contender_sees(c) || c->view.ahead < 2)
    return;
  if (contender_waits_by_list(c) || c->options.downgrade) return;
  if (watch_is_for(&c->predecessor, gone->name) ||
      watch_is_for(&c->before, gone->name))
    return;
  name_parse(c->node.name, &own.sequence);
  if (gone->sequence < own.sequence &&
      rule_blocks(c->options.kind, &own, gone) &&
      rule_proves(c->options.kind, &own, gone))
    c->view.ahead--;
}

void acquire_fsm_count_down(struct contender *c) {
  struct entry gone = {.name = c->node.name};
  if (c->node.has_left || c->node.known != NODE_OURS) return;
  if (!waits_by_number(c)) return;
  c->node.has_left = true;
  gone.role = name_parse(gone.name, &gone.sequence);
  for (struct contender *o = c->queue->first; o; o = o->next)
    count_down(o, &gone);
}

void acquire_fsm_finish(struct contender *c) {
  contender_unwatch(c);
  late_creates_expect(c);
  c->node.known = NODE_NONE;
  if (c->decision == DECISION_NONE) {
    contender_enter(c, CONTENDER_PARKED); /* the contender begins again */
    return;
  }
  timer_set(&c->queue->all->timers, &c->timer, NEVER);
  contender_enter(c, CONTENDER_GONE);
  c->notify(c, NEWS_REMOVED);
  contender_settle_later(c);
}

void acquire_fsm_leave(struct contender *c) {
  if (c->node.known == NODE_NONE) {
    acquire_fsm_finish(c);
    return;
  }
  contender_enter(c, CONTENDER_LEAVING);
  if (c->decision != DECISION_NONE)
    timer_set(&c->queue->all->timers, &c->timer, NEVER);
  contender_unwatch_others(c);
  /* This watch reports the deletion of the node to `c` before the waiters
   * behind `c` learn of it. */
  if (waits_by_number(c) && c->queue->entered > 1 && contender_has_node(c))
    watch_want(&c->own, &c->queue->directory.watches, c->node.name);
  acquire_fsm_try_to_leave(c);
}

void acquire_fsm_continue_leaving(struct contender *c) {
  if (c->node.known == NODE_NONE)
    acquire_fsm_finish(c);
  else
    acquire_fsm_try_to_leave(c);
}

/* Refusal, release, loss. */

static void count_refusal(struct contender *c, enum refusal_code why) {
  bool waited = why == REFUSED_TIMEOUT || why == REFUSED_BUSY;
  if (why == REFUSED_TIMEOUT)
    counter_add(&contender_pipeline(c)->counters.timeouts, 1);
  if (waited && c->blocker.size == 0 && c->wait_ops->store_blocker)
    c->wait_ops->store_blocker(c);
}

void acquire_fsm_refuse(struct contender *c, enum refusal_code why,
                        int reason) {
  if (c->decision != DECISION_NONE) return; /* the lock was granted before */
  contender_assert(c);
  contender_decide(c, DECISION_REFUSED);
  c->refusal_code = why;
  c->reason = reason;
  count_refusal(c, why);
  c->notify(c, NEWS_REFUSED);
  c->blocker.size = 0;
  acquire_fsm_leave(c);
}

void acquire_fsm_deny(struct contender *c, const char *what, size_t length,
                      int rc) {
  if (c->decision != DECISION_NONE) return;
  c->denial = (struct denial){.what = what, .length = (unsigned)length};
  acquire_fsm_refuse(c, refusal_code_of(rc), rc);
}

void acquire_fsm_deny_hidden(struct contender *c) {
  acquire_fsm_deny(c, "cannot read the node of this session",
                   directory_length(contender_directory(c)), REPLY_NO_AUTH);
}

void acquire_fsm_fail(struct contender *c, const char *what, size_t length,
                      int rc) {
  if (c->options.patient && reply_is_transient(rc)) return;
  acquire_fsm_deny(c, what, length, rc);
}

/* Refuses `c`. If a server has temporarily refused the last creates or lists,
 * this may have kept `c` out of the queue. So the owner receives this as the
 * reason. */
void acquire_fsm_time_out(struct contender *c) {
  bool by_gate = c->has_gate && c->gate->decision == DECISION_NONE;
  const struct directory *d = &(by_gate ? c->gate : c)->queue->directory;
  const struct refusals *b =
      d->making.rc && !contender_has_node(c) ? &d->making : &d->listing;
  if (b->rc && c->decision == DECISION_NONE) {
    c->denial = (struct denial){.what = b == &d->making ? "cannot create a node"
                                                        : "cannot list",
                                .length = (unsigned)directory_length(d),
                                .by_gate = by_gate};
  }
  acquire_fsm_refuse(c, REFUSED_TIMEOUT, b->rc);
}

void acquire_fsm_release(struct contender *c) {
  if (c->state != CONTENDER_HELD) return;
  contender_assert(c);
  contender_decide(c, DECISION_RELEASED);
  acquire_fsm_leave(c);
}

/* Returns why an overdue hold ends: because of its lease or its max_hold,
 * whichever has ended first. */
static enum loss overdue(struct contender *c) {
  struct pipeline *pipeline = contender_pipeline(c);
  if (c->timer.due <= pipeline->lease.until) return LOSS_MAX_HOLD_REACHED;
  pipeline->owner.unresponsive(pipeline->owner.self);
  return LOSS_LEASE_EXPIRED;
}

/* Reports a loss. If the node was deleted, but the lease had ended before,
 * reports the end of the lease. A process that was paused may read of the
 * deletion before it checks its clock. */
static void report_loss(struct contender *c, enum loss why) {
  if (why == LOSS_NODE_DELETED &&
      !pipeline_lease_is_valid(contender_pipeline(c)))
    why = overdue(c);
  contender_decide(c, DECISION_LOST);
  c->refusal_code = REFUSED_LOST;
  c->loss = why;
  counter_add(&contender_pipeline(c)->counters.losses, 1);
  c->notify(c, NEWS_LOST);
}

void acquire_fsm_lose(struct contender *c, enum loss why) {
  if (c->state != CONTENDER_HELD) return;
  contender_assert(c);
  report_loss(c, why);
  acquire_fsm_leave(c);
}

void acquire_fsm_lose_overdue(struct contender *c) {
  if (c->state == CONTENDER_HELD) acquire_fsm_lose(c, overdue(c));
}

void acquire_fsm_lose_node(struct contender *c) {
  if (c->state != CONTENDER_HELD) return;
  contender_assert(c);
  report_loss(c, LOSS_NODE_DELETED);
  if (!contender_is_exclusive(c)) c->node.known = NODE_NONE;
  acquire_fsm_leave(c);
}

/* Connections and sessions. */

static bool wants_to_hold(const struct contender *c) {
  return c->decision == DECISION_NONE;
}

void acquire_fsm_disconnected(struct contender *c) {
  contender_assert(c);
  if (wants_to_hold(c) && !c->options.patient)
    acquire_fsm_refuse(c, REFUSED_DISCONNECTED, 0);
  else if (c->state == CONTENDER_HELD && c->options.lose_on_suspend)
    acquire_fsm_lose(c, LOSS_CONNECTION_LOST);
}

/* Ends `c`, or makes `c` begin again, because its node was deleted with its
 * session. */
void acquire_fsm_session_ended(struct contender *c) {
  const struct pipeline *pipeline = contender_pipeline(c);
  contender_assert(c);
  /* If the lease is valid, no server has expired the session. So a client has
   * closed it. */
  if (c->state == CONTENDER_HELD)
    report_loss(c, pipeline_lease_is_valid(pipeline) ? LOSS_SESSION_CLOSED
                                                     : LOSS_SESSION_EXPIRED);
  if (c->state == CONTENDER_GONE) return;
  if (c->state != CONTENDER_PARKED) acquire_fsm_finish(c);
  /* A downgrade inherits the writer's queue position. The writer's node is
   * gone, so the downgrade fails. */
  if (c->options.downgrade) acquire_fsm_refuse(c, REFUSED_LOST, 0);
}

void acquire_fsm_close(struct contender *c) {
  contender_assert(c);
  if (wants_to_hold(c)) {
    contender_decide(c, DECISION_REFUSED);
    c->refusal_code = REFUSED_CLOSED;
    c->notify(c, NEWS_REFUSED);
  } else if (c->state == CONTENDER_HELD) {
    contender_decide(c, DECISION_LOST);
    c->refusal_code = REFUSED_CLOSED;
    c->notify(c, NEWS_LOST);
  }
  if (c->state != CONTENDER_GONE) acquire_fsm_finish(c);
  contender_settle_later(c);
}

/* Replies to requests. */

/* Refuses `c` and reports NEWS_UNDELETABLE, because an ACL forbids the delete.
 * The node blocks all contenders behind it. So `c` cannot begin again, and this
 * session admits no other contender to the queue. */
static void on_delete_denied(struct contender *c, int rc) {
  bool known = c->undeletable;
  acquire_fsm_deny(c, CANNOT_DELETE, directory_length(&c->queue->directory),
                   rc);
  contender_set_undeletable(c, rc);
  if (known) return;
  c->notify(c, NEWS_UNDELETABLE);
  directory_wake(&c->queue->directory);
}

/* Schedules a retry after `pause`, but not later than the deadline of a
 * contender that still waits for a decision. */
void acquire_fsm_retry_in(struct contender *c, int64_t pause) {
  int64_t due = contender_pipeline(c)->now + pause;
  if (c->decision == DECISION_NONE) due = earliest(due, c->options.deadline);
  timer_set(&c->queue->all->timers, &c->timer, due);
}

/* Called when a server has refused the delete. Repeats it after pauses that
 * grow, because an operator may change the ACL, or a throttled server may
 * recover. */
static void on_delete_refused(struct contender *c, int rc) {
  if (reply_is_denied(rc))
    on_delete_denied(c, rc);
  else
    pipeline_warn(contender_pipeline(c), CANNOT_DELETE, c->path, rc);
  if (c->op.in_flight) return;
  if (c->attempts < 6) c->attempts++;
  acquire_fsm_retry_in(c, pipeline_jitter(contender_pipeline(c),
                                          SECOND / 10 << c->attempts));
}

/* Continues LEAVING after a read of the node's owner. Deletes the node if it
 * belongs to `c`. Otherwise ends `c`, or searches for another node with the
 * same id. If an unreadable node is known only by its name, it is another
 * session's. The reason: every ACL of zklock lets its session read its own
 * nodes. */
static void on_owner_read(struct contender *c, const struct reply *reply) {
  bool hidden = reply->rc == REPLY_NO_AUTH && c->node.known == NODE_MADE;
  bool known = hidden || reply->rc == REPLY_OK || reply->rc == REPLY_NO_NODE;
  bool ours = reply->rc == REPLY_OK && contender_owns(c, reply);
  if (reply_is_unknown(reply->rc)) return;
  if (ours) {
    contender_prove(c, reply);
    acquire_fsm_try_to_leave(c);
  } else if (!known) {
    on_delete_refused(c, reply->rc);
  } else if (c->node.known == NODE_MADE) {
    contender_refute(c);
    acquire_fsm_try_to_leave(c);
  } else {
    /* Other contenders may have ignored this node, because it seemed to be this
     * session's node and about to be deleted. A list shows them that it
     * stays. */
    directory_list(&c->queue->directory, 0);
    acquire_fsm_finish(c);
  }
}

void release_fsm_on_reply(struct contender *c, enum op_kind request,
                          const struct reply *reply) {
  int rc = reply->rc;
  if (request == OP_PING) {
    on_owner_read(c, reply);
  } else if (rc == REPLY_NO_NODE && c->op.beside) {
    c->own_node_gone = true;
    acquire_fsm_try_to_leave(c);
  } else if (rc == REPLY_OK || rc == REPLY_NO_NODE) {
    if (rc == REPLY_OK) acquire_fsm_count_down(c);
    acquire_fsm_finish(c);
  } else if (rc == REPLY_UNDONE) {
    c->undone = true;
    acquire_fsm_try_to_leave(c);
  } else if (!reply_is_unknown(rc)) {
    on_delete_refused(c, rc);
  } /* otherwise the connection is lost; the delete is sent in the next */
}
