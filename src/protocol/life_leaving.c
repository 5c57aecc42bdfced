#include "life_leaving.h"

#include <assert.h>

#include "doubts.h"
#include "follow.h"
#include "way.h"

#define SECOND INT64_C(1000000000)
#define CANNOT_DELETE "cannot delete our node"

/* The node. */

/* A name is a hint (name.h): what was found by it may be another's.  And in
 * another connection than the one that has told whose the node is, it may have
 * become another's: a delete whose answer was lost was applied perhaps, the
 * directory gone since, and made again.  So whose it is, is asked first; what
 * the delete that follows may hit is argued beside the strays (strays.c). */
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

/* Only its number tells which contenders are ahead of it. */
static bool stands_in_line(const struct contender *c) {
  enum kind kind = c->options.kind;
  return kind <= KIND_WRITE || kind == KIND_GATE;
}

/* A list has shown those ahead, and so each was counted.  (Its watcher counts by
 * that; where a deletion proves nothing, for somebody may have taken its place, the
 * count stays, and a list must tell.) */
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
    contender_enter(c, CONTENDER_PARKED); /* but it is not over */
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
  /* (It is to hear of its deletion before those who wait for that.) */
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
  if (c->decision != DECISION_NONE) return; /* the grant was first */
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
  life_deny(c, "cannot look at our node",
            directory_length(contender_directory(c)), REPLY_NO_AUTH);
}

void life_fail(struct contender *c, const char *what, size_t length, int rc) {
  if (c->options.patient && reply_is_transient(rc)) return;
  life_deny(c, what, length, rc);
}

/* It may never have come to wait in the queue: then that is why. */
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

/* The lease is over.  Whichever was over first, that or its own time, is why. */
static enum loss overdue(struct contender *c) {
  struct wire *wire = contender_wire(c);
  if (c->timer.due <= wire->lease.until) return LOSS_MAX_HOLD;
  wire->owner.silent(wire->owner.self);
  return LOSS_SILENCE;
}

/* Who has stood still may read of its node's end, which went with its session,
 * before it looks at its clock: the lease was over first. */
static void tell_loss(struct contender *c, enum loss why, enum verdict as) {
  if (why == LOSS_DELETED && !wire_lease_stands(contender_wire(c)))
    why = overdue(c);
  contender_decide(c, DECISION_LOST);
  c->verdict = as;
  c->loss = why;
  counter_add(&contender_wire(c)->counters.lost, 1);
  c->tell(c, NEWS_LOST);
}

void life_lose(struct contender *c, enum loss why) {
  if (c->state != CONTENDER_HELD) return;
  contender_check(c);
  tell_loss(c, why, VERDICT_LOST);
  life_leave(c);
}

void life_lose_overdue(struct contender *c) {
  if (c->state == CONTENDER_HELD) life_lose(c, overdue(c));
}

void life_lose_node(struct contender *c) {
  if (c->state != CONTENDER_HELD) return;
  contender_check(c);
  tell_loss(c, LOSS_DELETED, VERDICT_LOST);
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
    life_lose(c, LOSS_SUSPENDED);
}

/* Every node of the session is gone with it. */
void life_session_ended(struct contender *c) {
  const struct wire *wire = contender_wire(c);
  contender_check(c);
  /* No server ends by itself what is proved to live. */
  if (c->state == CONTENDER_HELD)
    tell_loss(c, wire_lease_stands(wire) ? LOSS_CLOSED : LOSS_EXPIRED,
              VERDICT_EXPIRED);
  if (c->state == CONTENDER_GONE) return;
  if (c->state != CONTENDER_PARKED) life_finish(c);
  /* The writer is gone, and its place. */
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

/* Answers. */

/* The directory's ACL forbids to delete the node, which keeps everybody behind
 * it waiting.  Who wants to begin again cannot; nor can others of ours enter. */
static void stay(struct contender *c, int rc) {
  bool known = c->kept;
  life_deny(c, CANNOT_DELETE, directory_length(&c->queue->directory), rc);
  contender_keep(c, rc);
  if (known) return;
  c->tell(c, NEWS_KEPT);
  directory_wake(&c->queue->directory);
}

/* (Undecided, it wants to begin again: that must not cost it its deadline.) */
void life_look_in(struct contender *c, int64_t pause) {
  int64_t due = contender_wire(c)->now + pause;
  if (c->decision == DECISION_NONE && c->options.deadline < due)
    due = c->options.deadline;
  timer_set(&c->queue->all->timers, &c->timer, due);
}

/* It is tried again, less and less often: an operator may change the ACL, a server
 * that is throttled recover. */
static void not_removed(struct contender *c, int rc) {
  if (reply_is_denied(rc))
    stay(c, rc);
  else
    wire_trouble(contender_wire(c), CANNOT_DELETE, c->path, rc);
  if (c->op.in_flight) return;
  if (c->attempts < 6) c->attempts++;
  life_look_in(c, wire_jitter(contender_wire(c), SECOND / 10 << c->attempts));
}

/* LEAVING: whose is the node that has its name?  (A name alone does not make it
 * ours where we may not look at it: our ACL lets us read our nodes.) */
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
    /* Who took it for a ghost of ours is to see that it is none. */
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
  } /* else the connection is about to go; then again */
}
