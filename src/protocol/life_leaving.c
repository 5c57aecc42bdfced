#include "life_leaving.h"

#include <assert.h>

#include "doubts.h"
#include "follow.h"
#include "way.h"

#define SECOND INT64_C(1000000000)
#define CANNOT_DELETE "cannot delete the node of this session"

/* Deleting the node. */

/* Returns whether the owner must be read before the delete.  A name is a hint
 * (name.h): a node found by name may be another session's.  In a later
 * connection than the one that named the owner, the name may also have passed
 * on.  A delete whose reply was lost may have been applied, and the directory
 * deleted and created again since.  strays.c argues what a delete behind that
 * read may hit. */
static bool is_to_be_asked(const struct contender *c) {
  return !contender_is_surely_ours(c);
}

void life_try_to_leave(struct contender *c) {
  if (!contender_wire(c)->connected) return;
  contender_check(c);
  assert(c->state == CONTENDER_LEAVING);
  if (c->node.known == NODE_MAYBE) {
    c->way->look(c);
  } else if (contender_has_node(c) && c->way->may_remove(c) &&
             !c->op.in_flight) {
    contender_prepare(c, is_to_be_asked(c) ? OP_PING : OP_REMOVE);
    c->op.joins = !c->undone && follow_joins(c);
    wire_submit(contender_wire(c), &c->op);
  }
}

/* Returns whether only its number decides which contenders are ahead. */
static bool stands_in_line(const struct contender *c) {
  enum kind kind = c->options.kind;
  return kind <= KIND_WRITE || kind == KIND_GATE;
}

/* Decrements the count of `c` for a deleted node that a list has counted.  If
 * `c` watches that node, its watch does this instead.  If another node may have
 * taken its place, the count stays and a list must follow. */
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

void life_count_down(struct contender *c) {
  struct entry gone = {.name = c->node.name};
  if (c->node.has_left || c->node.known != NODE_OURS) return;
  if (!stands_in_line(c)) return;
  c->node.has_left = true;
  gone.role = name_parse(gone.name, &gone.sequence);
  for (struct contender *o = c->queue->first; o; o = o->next)
    count_down(o, &gone);
}

void life_finish(struct contender *c) {
  contender_unwatch(c);
  doubts_note(c);
  c->node.known = NODE_NONE;
  if (c->decision == DECISION_NONE) {
    contender_enter(c, CONTENDER_PARKED); /* no decision: begins again */
    return;
  }
  timer_set(&c->queue->all->timers, &c->timer, NEVER);
  contender_enter(c, CONTENDER_GONE);
  c->tell(c, NEWS_REMOVED);
  contender_settle_later(c);
}

void life_leave(struct contender *c) {
  if (c->node.known == NODE_NONE) {
    life_finish(c);
    return;
  }
  contender_enter(c, CONTENDER_LEAVING);
  if (c->decision != DECISION_NONE)
    timer_set(&c->queue->all->timers, &c->timer, NEVER);
  contender_unwatch_others(c);
  /* The contender must learn of its node's deletion before the waiters. */
  if (stands_in_line(c) && c->queue->entered > 1 && contender_has_node(c))
    watch_want(&c->own, &c->queue->directory.watches, c->node.name);
  life_try_to_leave(c);
}

void life_go_on_leaving(struct contender *c) {
  if (c->node.known == NODE_NONE)
    life_finish(c);
  else
    life_try_to_leave(c);
}

/* Refusal, release, loss. */

static void note_refusal(struct contender *c, enum verdict why) {
  bool waited = why == VERDICT_TIMEOUT || why == VERDICT_BUSY;
  if (why == VERDICT_TIMEOUT)
    counter_add(&contender_wire(c)->counters.timeouts, 1);
  if (waited && c->rival.size == 0) c->way->note_rival(c);
}

void life_refuse(struct contender *c, enum verdict why, int reason) {
  if (c->decision != DECISION_NONE) return; /* the grant came first */
  contender_check(c);
  contender_decide(c, DECISION_REFUSED);
  c->verdict = why;
  c->reason = reason;
  note_refusal(c, why);
  c->tell(c, NEWS_REFUSED);
  c->rival.size = 0;
  life_leave(c);
}

void life_deny(struct contender *c, const char *what, size_t length, int rc) {
  if (c->decision != DECISION_NONE) return;
  c->denial = (struct denial){.what = what, .length = (unsigned)length};
  life_refuse(c, verdict_of(rc), rc);
}

void life_deny_hidden(struct contender *c) {
  life_deny(c, "cannot read the node of this session",
            directory_length(contender_directory(c)), REPLY_NO_AUTH);
}

void life_fail(struct contender *c, const char *what, size_t length, int rc) {
  if (c->options.patient && reply_is_transient(rc)) return;
  life_deny(c, what, length, rc);
}

/* Adds the last transient refusal as the reason: it may have kept the contender
 * out of the queue. */
void life_time_out(struct contender *c) {
  bool by_gate = c->gate_state == GATE_WAITS;
  const struct directory *d = &(by_gate ? c->gate : c)->queue->directory;
  const struct refusals *b =
      d->making.rc && !contender_has_node(c) ? &d->making : &d->listing;
  if (b->rc && c->decision == DECISION_NONE) {
    c->denial = (struct denial){.what = b == &d->making ? "cannot create a node"
                                                        : "cannot list",
                                .length = (unsigned)directory_length(d),
                                .by_gate = by_gate};
  }
  life_refuse(c, VERDICT_TIMEOUT, b->rc);
}

void life_release(struct contender *c) {
  if (c->state != CONTENDER_HELD) return;
  contender_check(c);
  contender_decide(c, DECISION_RELEASED);
  life_leave(c);
}

/* Returns why an overdue hold ends: its lease or its maximum time, whichever
 * ran out first. */
static enum loss overdue(struct contender *c) {
  struct wire *wire = contender_wire(c);
  if (c->timer.due <= wire->lease.until) return LOSS_MAX_HOLD_REACHED;
  wire->owner.silent(wire->owner.self);
  return LOSS_LEASE_EXPIRED;
}

/* A process that was paused may read of its node's deletion before it checks
 * its clock.  The lease expired first, so that is the reason. */
static void tell_loss(struct contender *c, enum loss why) {
  if (why == LOSS_NODE_DELETED && !wire_lease_stands(contender_wire(c)))
    why = overdue(c);
  contender_decide(c, DECISION_LOST);
  c->verdict = VERDICT_LOST;
  c->loss = why;
  counter_add(&contender_wire(c)->counters.losses, 1);
  c->tell(c, NEWS_LOST);
}

void life_lose(struct contender *c, enum loss why) {
  if (c->state != CONTENDER_HELD) return;
  contender_check(c);
  tell_loss(c, why);
  life_leave(c);
}

void life_lose_overdue(struct contender *c) {
  if (c->state == CONTENDER_HELD) life_lose(c, overdue(c));
}

void life_lose_node(struct contender *c) {
  if (c->state != CONTENDER_HELD) return;
  contender_check(c);
  tell_loss(c, LOSS_NODE_DELETED);
  if (!contender_is_exclusive(c)) c->node.known = NODE_NONE;
  life_leave(c);
}

/* Connections and sessions. */

static bool wants_to_hold(const struct contender *c) {
  return c->decision == DECISION_NONE;
}

void life_disconnected(struct contender *c) {
  contender_check(c);
  if (wants_to_hold(c) && !c->options.patient)
    life_refuse(c, VERDICT_DISCONNECTED, 0);
  else if (c->state == CONTENDER_HELD && c->options.lose_on_suspend)
    life_lose(c, LOSS_CONNECTION_LOST);
}

/* Ends the node of `c`, which is gone with its session. */
void life_session_ended(struct contender *c) {
  const struct wire *wire = contender_wire(c);
  contender_check(c);
  /* A server expires no session whose lease is valid: it was closed. */
  if (c->state == CONTENDER_HELD)
    tell_loss(c, wire_lease_stands(wire) ? LOSS_SESSION_CLOSED
                                         : LOSS_SESSION_EXPIRED);
  if (c->state == CONTENDER_GONE) return;
  if (c->state != CONTENDER_PARKED) life_finish(c);
  /* The writer's node is gone, and its place in the queue. */
  if (c->options.downgrade) life_refuse(c, VERDICT_LOST, 0);
}

void life_close(struct contender *c) {
  contender_check(c);
  if (wants_to_hold(c)) {
    contender_decide(c, DECISION_REFUSED);
    c->verdict = VERDICT_CLOSED;
    c->tell(c, NEWS_REFUSED);
  } else if (c->state == CONTENDER_HELD) {
    contender_decide(c, DECISION_LOST);
    c->verdict = VERDICT_CLOSED;
    c->tell(c, NEWS_LOST);
  }
  if (c->state != CONTENDER_GONE) life_finish(c);
  contender_settle_later(c);
}

/* Replies to requests. */

/* Handles an ACL that forbids the delete.  The node blocks all contenders
 * behind it.  So this contender cannot begin again, and no other of this
 * session may enter. */
static void stay(struct contender *c, int rc) {
  bool known = c->kept;
  life_deny(c, CANNOT_DELETE, directory_length(&c->queue->directory), rc);
  contender_keep(c, rc);
  if (known) return;
  c->tell(c, NEWS_KEPT);
  directory_wake(&c->queue->directory);
}

/* A contender without a decision begins again, and keeps its deadline. */
void life_look_in(struct contender *c, int64_t pause) {
  int64_t due = contender_wire(c)->now + pause;
  if (c->decision == DECISION_NONE && c->options.deadline < due)
    due = c->options.deadline;
  timer_set(&c->queue->all->timers, &c->timer, due);
}

/* Repeats the delete with growing pauses.  An operator may change the ACL, and
 * a throttled server may recover. */
static void not_removed(struct contender *c, int rc) {
  if (reply_is_denied(rc))
    stay(c, rc);
  else
    wire_trouble(contender_wire(c), CANNOT_DELETE, c->path, rc);
  if (c->op.in_flight) return;
  if (c->attempts < 6) c->attempts++;
  life_look_in(c, wire_jitter(contender_wire(c), SECOND / 10 << c->attempts));
}

/* LEAVING: handles a read of the node's owner.  A node that is known by name
 * only and may not be read is not ours: our ACL lets us read our nodes. */
static void asked(struct contender *c, const struct reply *reply) {
  bool hidden = reply->rc == REPLY_NO_AUTH && c->node.known == NODE_MADE;
  bool known = hidden || reply->rc == REPLY_OK || reply->rc == REPLY_NO_NODE;
  bool ours = reply->rc == REPLY_OK && contender_owns(c, reply);
  if (reply_is_unknown(reply->rc)) return;
  if (ours) {
    contender_prove(c, reply);
    life_try_to_leave(c);
  } else if (!known) {
    not_removed(c, reply->rc);
  } else if (c->node.known == NODE_MADE) {
    contender_refute(c);
    life_try_to_leave(c);
  } else {
    /* Other contenders may have ignored this node as one of ours that is being
     * deleted.  A list corrects that. */
    directory_list(&c->queue->directory, 0);
    life_finish(c);
  }
}

void life_leaving_answered(struct contender *c, enum op_kind asked_for,
                           const struct reply *reply) {
  int rc = reply->rc;
  if (asked_for == OP_PING) {
    asked(c, reply);
  } else if (rc == REPLY_NO_NODE && c->op.beside) {
    c->bereft = true;
    life_try_to_leave(c);
  } else if (rc == REPLY_OK || rc == REPLY_NO_NODE) {
    if (rc == REPLY_OK) life_count_down(c);
    life_finish(c);
  } else if (rc == REPLY_UNDONE) {
    c->undone = true;
    life_try_to_leave(c);
  } else if (!reply_is_unknown(rc)) {
    not_removed(c, rc);
  } /* otherwise the connection is lost; the delete is sent in the next */
}
