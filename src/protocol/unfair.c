/* The unfair mutex: one node with a fixed name, `holder`. The client that
 * creates this node first has the lock. A session's queue admits only one
 * contender for an unfair lock at a time (contender_is_exclusive).
 *
 * Each acquisition also has a node of its own, with a unique name and number.
 * This is the contender's node. One transaction creates it together with
 * `holder`, and another transaction deletes both nodes.
 *
 * The second node makes a late delete harmless. A server's thread may read a
 * delete and stall. The connection breaks, the client reconnects to the same
 * server and deletes the node again, and another client creates `holder`. Then
 * the thread continues (late_creates.c). A late delete of `holder` alone would
 * end the other client's hold. That client would not know this yet, so two
 * clients would believe that they hold the lock.
 *
 * ZooKeeper's delete compares only the version of the data, which is 0 for each
 * new node. But a transaction fails as a whole. The contender's node has a
 * unique name, and it was deleted before `holder` was created again. So servers
 * refuse the late transaction. A late create is refused while `holder` exists.
 * If `holder` does not exist, the late create creates both nodes. Then a list
 * shows the contender's node as an orphan, and zklock deletes both nodes
 * (orphans.c).
 *
 * A transaction has one zxid, so both nodes have the same czxid. If `holder`
 * has that czxid and this session as its owner, it is the contender's. The
 * reply to the transaction contains neither the czxid nor the owner. So zklock
 * reads `holder` right after the create. This read also sets the watch that
 * reports the deletion of `holder`.
 *
 * A waiter that is not allowed to read `holder` polls it (watch.c), and tries
 * to create it only after NO_NODE.
 *
 * If an operator deletes `holder` alone, the contender deletes its own node. A
 * waiter begins again; a holder has lost its hold. If an operator deletes the
 * contender's node alone, the contender deletes `holder` by its name after a
 * read. */
#include "acquire_fsm.h"
#include "queued.h"

static void become_first(struct contender *c) {
  c->view.listed_in = contender_pipeline(c)->connection;
  c->view.ahead = 0;
  acquire_fsm_be_first(c);
}

/* Reads and watches `holder`, to find its owner. If `watcher` has just joined a
 * watch that another watcher armed, that read did not show `holder` to this
 * contender. So reads `holder` again. */
static void read_holder(struct contender *c, struct watcher *watcher) {
  bool has_asked = watcher->watch;
  if (!watch_want(watcher, &contender_directory(c)->watches, NAME_UNFAIR))
    pipeline_retry(contender_pipeline(c));
  else if (has_asked)
    watch_arm(watcher);
  else
    watch_read(watcher);
}

/* Grants the lock if a server has confirmed in this connection that this
 * session owns `holder`. Otherwise reads `holder`. */
static void check_own(struct contender *c) {
  if (contender_is_surely_ours(c) && contender_watches_own(c))
    become_first(c);
  else if (watch_is_known(&c->own))
    watch_read(&c->own);
  else
    read_holder(c, &c->own);
}

static bool is_deleting(const struct contender *c) {
  return c->op.in_flight && c->op.kind == OP_REMOVE;
}

/* Deletes only the contender's node, because `holder` is deleted or belongs to
 * another client. If the lock was held, the hold is lost. */
static void lose_holder(struct contender *c) {
  if (c->own_node_gone)
    c->node.known = NODE_NONE;
  else
    c->undone = true;
  if (c->state == CONTENDER_HELD)
    acquire_fsm_lose_node(c);
  else if (c->state == CONTENDER_LEAVING)
    acquire_fsm_continue_leaving(c);
  else
    acquire_fsm_leave(c); /* then the contender begins again */
}

/* Makes `holder` the node to delete, because the contender's own node is
 * already deleted. */
static void keep_holder_only(struct contender *c) {
  contender_set_name(c, NAME_UNFAIR);
  c->undone = true;
  c->own_node_gone = false;
}

/* Reads the contender's own node, to compare its czxid with the czxid of
 * `holder`. */
static void ask_for_own_node(struct contender *c, int64_t czxid) {
  c->node.czxid = czxid;
  if (c->op.in_flight) return;
  contender_prepare(c, OP_PING);
  pipeline_submit(contender_pipeline(c), &c->op);
}

/* Continues after a read has shown that this session owns `holder`: grants the
 * lock, or sends the delete. */
static void on_own_holder(struct contender *c, const struct reply *reply) {
  bool by_name = contender_is_known_by_name(c);
  if (!by_name) contender_prove(c, reply);
  acquire_fsm_check_revocation(c);
  if (by_name) {
    ask_for_own_node(c, reply->czxid);
  } else if (c->state == CONTENDER_LEAVING) {
    c->view.phase = VIEW_READ;
    if (c->own_node_gone) keep_holder_only(c);
    acquire_fsm_continue_leaving(c);
  } else if (c->state != CONTENDER_HELD) {
    become_first(c);
  }
}

/* Called because the ACL of `holder` forbids reading it. Reads whether the
 * contender's own node exists. One transaction creates both nodes, and one
 * deletes both. If the own node is gone, `holder` belongs to another client. If
 * the own node exists, there are two cases. The ACL of `holder` was changed. Or
 * an operator deleted `holder` alone, and another client has created it again.
 * No server reports which case it is, so the contender deletes neither node. */
static void leave_hidden_holder(struct contender *c,
                                const struct reply *reply) {
  if (c->own_node_gone) {
    lose_holder(c);
  } else if (contender_is_surely_ours(c)) {
    release_fsm_on_reply(c, OP_PING, reply);
  } else if (!c->op.in_flight) {
    contender_prepare(c, OP_PING);
    pipeline_submit(contender_pipeline(c), &c->op);
  }
}

/* Handles a `holder` node that this session may not read. zklock's own ACLs
 * always let a session read its own nodes (doc/api.md). So the node normally
 * belongs to another client. Exception: a server has already named this session
 * as the owner, and the ACL was changed later. Then the ownership is unknown,
 * and zklock refuses the acquisition. A contender that holds the lock ignores
 * this reply; it polls `holder` to detect its deletion. */
static void on_hidden_holder(struct contender *c, const struct reply *reply) {
  if (c->state == CONTENDER_HELD || c->undone) return;
  if (c->state == CONTENDER_LEAVING)
    leave_hidden_holder(c, reply);
  else if (c->node.known == NODE_OURS)
    acquire_fsm_deny_hidden(c);
  else
    lose_holder(c);
}

/* Handles news of `holder`. Ignores news that came before the reply to the
 * create. Also ignores news while the contender's delete is in flight: the
 * reply to the delete will show whether `holder` was deleted. */
static void on_own_news(struct contender *c, enum watch_news news,
                        const struct reply *reply) {
  if (!contender_has_node(c) || is_deleting(c)) return;
  if (news == WATCH_STALE)
    watch_arm(&c->own);
  else if (news == WATCH_HIDDEN)
    on_hidden_holder(c, reply);
  else if (news == WATCH_ARMED && contender_owns(c, reply))
    on_own_holder(c, reply);
  else
    lose_holder(c);
}

/* Continues after a waiter has read the `holder` that it waits for. If this
 * session owns that `holder`, an earlier acquisition has created it. Either a
 * server has applied that create late, or an operator has deleted the other
 * node of that acquisition. So requests a list, and zklock deletes the nodes of
 * that acquisition that the list shows. */
static void on_other_holder(struct contender *c, const struct reply *reply) {
  blocker_warn_unowned(&c->predecessor, reply);
  if (reply->owner != contender_pipeline(c)->session) {
    refusals_end(&c->repeated);
    return;
  }
  c->queue->late_holder_possible = true;
  directory_list_again(contender_directory(c));
}

static void on_news(struct watcher *watcher, enum watch_news news,
                    const struct reply *reply) {
  struct contender *c = watcher_owner(watcher);
  if (watcher == &c->own)
    on_own_news(c, news, reply);
  else if (c->state != CONTENDER_QUEUED)
    return;
  else if (news == WATCH_ARMED)
    on_other_holder(c, reply);
  else if (news == WATCH_HIDDEN)
    refusals_end(&c->repeated); /* another client's: watch.c polls it */
  else if (news == WATCH_GONE)
    acquire_fsm_start_over(c);
  else
    watch_arm(watcher);
}

/* The other functions of unfair_wait_ops. */

/* Reads `holder` right after the create was sent. An impatient contender sends
 * no read: if its create fails, it is refused without another request. */
static void on_sent(struct contender *c) {
  watch_drop(&c->predecessor);
  if (c->options.patient) read_holder(c, &c->own);
}

/* Reads `holder`, unless the read that was sent after the create is in flight.
 * An earlier read does not count: the server may have answered it before the
 * create. */
static void on_created(struct contender *c) {
  if (!watch_is_asking(&c->own)) check_own(c);
}

static void found(struct contender *c, const struct listing *listing,
                  const struct entry *own) {
  (void)listing;
  (void)own;
  check_own(c);
}

/* If the reply to the create was lost, searches for the contender's node. The
 * list was requested after the create, so it shows the node if it exists. */
static void on_listed(struct contender *c, const struct listing *listing) {
  if (c->node.known == NODE_MAYBE && !contender_is_creating(c))
    queue_position_find(c, listing, found);
}

static void check(struct contender *c) {
  if (contender_has_node(c))
    check_own(c);
  else if (c->node.known == NODE_MAYBE)
    directory_list(contender_directory(c), 0);
  else
    read_holder(c, &c->predecessor);
}

/* Reads the contender's own `holder` again, if the contender has created one.
 * If a waiter is behind another client's `holder`, watches_poll reads that
 * `holder`. */
static void check_again(struct contender *c) {
  if (contender_has_node(c)) check_own(c);
}

/* Returns whether the delete can be sent now. If not, reads `holder` first. One
 * read is enough for one delete. Without a valid lease the read is needed. An
 * operator may have deleted `holder`, and the event of that deletion may be
 * late. The read is also needed if the user has checked the hold and found it
 * lost. */
static bool may_remove(struct contender *c) {
  if (c->undone) return true;
  bool was_read = c->view.phase == VIEW_READ;
  bool fresh = was_read || (c->loss != LOSS_NODE_DELETED &&
                            pipeline_lease_is_valid(contender_pipeline(c)));
  if (was_read) c->view.phase = VIEW_PLAIN;
  if (contender_watches_own(c) && fresh && !c->own_node_gone) return true;
  if (watch_is_known(&c->own))
    watch_read(&c->own);
  else
    read_holder(c, &c->own);
  return false;
}

static void store_blocker(struct contender *c) {
  if (c->state == CONTENDER_PARKED)
    blocker_store_holder(c);
  else if (watch_is_known(&c->predecessor))
    blocker_store_watched(c);
}

const struct wait_ops unfair_wait_ops = {.enter = acquire_fsm_enter,
                                         .on_sent = on_sent,
                                         .on_created = on_created,
                                         .check = check,
                                         .check_again = check_again,
                                         .may_remove = may_remove,
                                         .on_listed = on_listed,
                                         .on_news = on_news,
                                         .store_blocker = store_blocker};
