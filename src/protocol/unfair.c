/* The unfair mutex: one node of one name, `holder`; the client that makes it first
 * has the lock.  A queue has one contender of this kind at a time (`exclusive`).
 *
 * Each acquisition has a node of its own beside it, with a name and a number that no
 * other has.  One transaction makes both nodes, and one deletes both.  The
 * contender's node is that one; `holder` comes and goes with it.
 *
 * The reason is a delete that comes late.  A server's thread may read it and stand
 * still; our connection breaks, we reconnect to the same server, delete the node
 * once more, and another client makes it anew.  Then the thread goes on (doubts.h).
 * A delete of `holder` alone would end that client's hold, and its client would
 * not know yet: two would believe.  ZooKeeper's delete compares nothing but the
 * version of the data, and a fresh node's is always 0.  But a transaction fails as
 * a whole: our own node has a name that no other acquisition ever has, and it was
 * deleted before `holder` was made again, so the late transaction is refused.  A
 * late create is refused for as long as there is a `holder`; if there is none, both
 * nodes appear, and the list that shows ours has both deleted (strays.c).
 *
 * A transaction has one zxid, so both nodes have the same czxid: by that and its
 * owner `holder` is known as ours.  The answer to the transaction tells neither,
 * so `holder` is read behind the create, in the same flight.  The read leaves the
 * watch that tells of its deletion.
 *
 * A waiter that may not read `holder` polls it (watch.c), and only NO_NODE lets it
 * try again.
 *
 * An operator may delete `holder` alone.  Then the contender deletes its own node,
 * and begins again, or has lost.  Or our own node alone: then `holder` is deleted
 * by its name, after a look. */
#include "life.h"
#include "place.h"
#include "rival.h"
#include "way.h"

static void mine(struct contender *c) {
  c->view.listed_in = contender_wire(c)->connection;
  c->view.ahead = 0;
  life_be_first(c);
}

/* Reads `holder`, and watches it: whose is it?  A watch that is armed already may
 * have been armed for another watcher of this session, such as a barrier's waiter:
 * this contender has not seen the node then, so it reads it. */
static void look_by(struct contender *c, struct watcher *watcher) {
  bool has_asked = watcher->watch;
  if (!watch_want(watcher, &contender_directory(c)->watches, NAME_UNFAIR))
    wire_retry(contender_wire(c));
  else if (has_asked)
    watch_arm(watcher);
  else
    watch_read(watcher);
}

/* The same, unless it is known in this connection that it is ours. */
static void look_at_own(struct contender *c) {
  if (contender_is_surely_ours(c) && contender_watches_own(c))
    mine(c);
  else if (watch_is_known(&c->own))
    watch_read(&c->own);
  else
    look_by(c, &c->own);
}

static bool is_deleting(const struct contender *c) {
  return c->op.in_flight && c->op.kind == OP_REMOVE;
}

/* `holder` is gone, or is another's: our own node goes by itself. */
static void lose_holder(struct contender *c) {
  if (c->bereft)
    c->node.known = NODE_NONE;
  else
    c->undone = true;
  if (c->state == CONTENDER_HELD)
    life_lose_node(c);
  else if (c->state == CONTENDER_LEAVING)
    life_go_on_leaving(c);
  else
    life_leave(c); /* to begin again */
}

/* From now on the contender's node is `holder` itself. */
static void be_alone(struct contender *c) {
  contender_set_name(c, NAME_UNFAIR);
  c->undone = true;
  c->bereft = false;
}

static void ask_for_own_node(struct contender *c, int64_t czxid) {
  c->node.czxid = czxid;
  if (c->op.in_flight) return;
  contender_prepare(c, OP_PING);
  wire_submit(contender_wire(c), &c->op);
}

/* `holder` is ours. */
static void own_seen(struct contender *c, const struct reply *reply) {
  bool doubt = contender_is_known_by_name(c);
  if (!doubt) contender_prove(c, reply);
  life_hear_revocation(c);
  if (doubt) {
    ask_for_own_node(c, reply->czxid);
  } else if (c->state == CONTENDER_LEAVING) {
    c->view.phase = VIEW_LOOKED;
    if (c->bereft) be_alone(c);
    life_go_on_leaving(c);
  } else if (c->state != CONTENDER_HELD) {
    mine(c);
  }
}

/* Is our own node there still?  Both come and go together, so if it is gone `holder`
 * is another's.  If it is there the ACL of `holder` was changed, or an operator has
 * deleted `holder` alone: the node is kept, for no server tells which. */
static void leave_hidden(struct contender *c, const struct reply *reply) {
  if (c->bereft) {
    lose_holder(c);
  } else if (contender_is_surely_ours(c)) {
    life_leaving_answered(c, OP_PING, reply);
  } else if (!c->op.in_flight) {
    contender_prepare(c, OP_PING);
    wire_submit(contender_wire(c), &c->op);
  }
}

/* `holder` is there, and we may not look at it.  Our ACL lets us read our nodes
 * (doc/paths.md), so it is another's, unless a server has told us before that it
 * was ours: then its ACL may have been changed, and no server tells whether it still
 * is ours.  (A holder's is polled: it hears when `holder` is gone.) */
static void own_hidden(struct contender *c, const struct reply *reply) {
  if (c->state == CONTENDER_HELD || c->undone) return;
  if (c->state == CONTENDER_LEAVING)
    leave_hidden(c, reply);
  else if (c->node.known == NODE_OURS)
    life_deny_hidden(c);
  else
    lose_holder(c);
}

/* (What was asked before our create was answered tells nothing; nor does a deletion
 * while our delete is under way, which will be answered.) */
static void own_heard(struct contender *c, enum watch_news news,
                      const struct reply *reply) {
  if (!contender_has_node(c) || is_deleting(c)) return;
  if (news == WATCH_STALE)
    watch_arm(&c->own);
  else if (news == WATCH_HIDDEN)
    own_hidden(c, reply);
  else if (news == WATCH_ARMED && contender_owns(c, reply))
    own_seen(c, reply);
  else
    lose_holder(c);
}

/* (If it is ours, of an acquisition that is over, its create came late, or an
 * operator has deleted the node beside it: a list tells, and both are deleted.) */
static void other_seen(struct contender *c, const struct reply *reply) {
  rival_note_unowned(&c->predecessor, reply);
  if (reply->owner != contender_wire(c)->session) {
    backoff_end(&c->backoff);
    return;
  }
  c->queue->beside_in_doubt = true;
  directory_list_anew(contender_directory(c));
}

static void heard(struct watcher *watcher, enum watch_news news,
                  const struct reply *reply) {
  struct contender *c = watcher_owner(watcher);
  if (watcher == &c->own)
    own_heard(c, news, reply);
  else if (c->state != CONTENDER_QUEUED)
    return;
  else if (news == WATCH_ARMED)
    other_seen(c, reply);
  else if (news == WATCH_HIDDEN)
    backoff_end(&c->backoff); /* another's, as far as we know: it is polled */
  else if (news == WATCH_GONE)
    life_start_over(c);
  else
    watch_arm(watcher);
}

/* The rest of the way. */

/* (A client that does not wait is refused without another request.) */
static void sent(struct contender *c) {
  watch_drop(&c->predecessor);
  if (c->options.patient) look_by(c, &c->own);
}

/* (A look that was under way before the create may have been answered before it.) */
static void made(struct contender *c) {
  if (!watch_is_asking(&c->own)) look_at_own(c);
}

static void found(struct contender *c, const struct listing *listing,
                  const struct entry *own) {
  (void)listing;
  (void)own;
  look_at_own(c);
}

/* A list after our create: is our node there? */
static void listed(struct contender *c, const struct listing *listing) {
  if (c->node.known == NODE_MAYBE && !contender_is_creating(c))
    place_find(c, listing, found);
}

static void look(struct contender *c) {
  if (contender_has_node(c))
    look_at_own(c);
  else if (c->node.known == NODE_MAYBE)
    directory_list(contender_directory(c), 0);
  else
    look_by(c, &c->predecessor);
}

/* (Behind another's it never polls.) */
static void look_anew(struct contender *c) {
  if (contender_has_node(c)) look_at_own(c);
}

/* (One look is good for one delete.  Without a lease, when news of `holder` may be
 * long on their way, it takes one: an operator may have deleted it.  So it does if
 * the owner has asked a server, and was told of another's.) */
static bool may_remove(struct contender *c) {
  if (c->undone) return true;
  bool looked = c->view.phase == VIEW_LOOKED;
  bool fresh = looked || (c->loss != LOSS_DELETED &&
                          wire_lease_stands(contender_wire(c)));
  if (looked) c->view.phase = VIEW_PLAIN;
  if (contender_watches_own(c) && fresh && !c->bereft) return true;
  if (watch_is_known(&c->own))
    watch_read(&c->own);
  else
    look_by(c, &c->own);
  return false;
}

static void note_rival(struct contender *c) {
  if (c->state == CONTENDER_PARKED)
    rival_note_holder(c);
  else if (watch_is_known(&c->predecessor))
    rival_note_watched(c);
}

const struct way unfair_way = {.enter = life_enter,
                               .sent = sent,
                               .made = made,
                               .look = look,
                               .look_anew = look_anew,
                               .may_remove = may_remove,
                               .listed = listed,
                               .heard = heard,
                               .note_rival = note_rival,
                               .settle = life_settle};
