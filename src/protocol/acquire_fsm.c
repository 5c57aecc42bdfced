/* doc/dev/protocol.md draws the states of a contender.
 *
 * The functions that enter each state:
 *   PARKED     acquire_fsm_begin, _finish, _session_ended, _start_over
 *   ENTERING   acquire_fsm_enter, _start_over
 *   FINDING    on_create_unknown, acquire_fsm_refute
 *   QUEUED     acquire_fsm_be_first, wait_for_holder; functions of conflict.c,
 *              fast_requeue.c, queue_position.c and barrier_enter.c
 *   HELD       grant
 *   LEAVING    acquire_fsm_leave; GONE: acquire_fsm_finish (release_fsm.c)
 *
 * contender_assert asserts the facts of each state. The user sees HELD as
 * "suspended" while there is no connection.
 *
 * Why two clients never believe at the same time that they hold the lock. A
 * grant needs all of these facts:
 *
 *   1. The contender's node exists and belongs to the current session
 *      (NODE_OURS). A session ends its holds when it expires.
 *   2. A server has shown that no node is ahead, by a list. The list was
 *      requested after the create and in this connection. (Each connection but
 *      the first begins with a committed heartbeat: pipeline.c.) Either the
 *      list showed no node ahead, or all nodes ahead that it showed were
 *      deleted since. No node can be added ahead later, because numbers grow
 *      with every create.
 *   3. If deletions have shown fact 2, the contender's own node still exists. A
 *      server has confirmed the watch of exactly that node in this connection,
 *      and the watch has not fired. A server reports changes in their order. So
 *      it would have reported an earlier deletion of the own node first.
 *   4. The lease is valid at the moment of the grant. The process may have been
 *      stopped for any time while replies waited in a buffer.
 *
 * After a reconnection zklock must establish 2 and 3 again (`listed_in`,
 * `armed_in`): a server may report missed deletions in any order. Only a
 * deletion grants; any other event of the predecessor leads to another list.
 *
 * This file ensures 4 for every way of waiting, and asserts 1. Each way ensures
 * 1, 2 and 3: queued.c and queue_position.c by the order of nodes, unfair.c by
 * the one node `holder`, semaphore.c by the number of permits. A local turn
 * (acquisition.c) changes no condition of the grant. */
#include "acquire_fsm.h"

#include <assert.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "fast_requeue.h"

#define CANNOT_CREATE "cannot create a node"

static op_handler on_answer;

static void report_revocation(struct contender *c) {
  if (c->revocation != REVOCATION_SEEN || c->state != CONTENDER_HELD) return;
  c->revocation = REVOCATION_REPORTED;
  c->notify(c, NEWS_REVOKED);
}

/* Records that the data of the node ask the holder to release the lock. Reports
 * this now if `c` holds the lock; otherwise the grant reports it. */
void acquire_fsm_check_revocation(struct contender *c) {
  if (watch_is_revoked(&c->own) && c->revocation == REVOCATION_NONE)
    c->revocation = REVOCATION_SEEN;
  report_revocation(c);
}

/* Begin and end. */

static void settle(struct deferred_call *call) {
  struct contender *c =
      (struct contender *)((char *)call -
                           offsetof(struct contender, deferred_call));
  if (c->wait_ops->settle)
    c->wait_ops->settle(c);
  else
    acquire_fsm_settle(c);
}

void acquire_fsm_settle(struct contender *c) {
  if (c->state != CONTENDER_GONE || deferred_call_waits(&c->deferred_call))
    return;
  if (c->op.in_flight || c->check || c->has_gate) return;
  contender_assert(c);
  contender_drop(c);
  c->notify(c, NEWS_FORGOTTEN);
}

static void on_news(struct watcher *watcher, enum watch_news news,
                    const struct reply *reply) {
  const struct contender *c = watcher_owner(watcher);
  c->wait_ops->on_news(watcher, news, reply);
}

static const struct watcher_role
    own_role = {on_news, offsetof(struct contender, own), true},
    predecessor_role = {on_news, offsetof(struct contender, predecessor),
                        false},
    before_role = {on_news, offsetof(struct contender, before), false};

void acquire_fsm_begin(struct contender *c, struct queue *queue,
                       const struct wait_ops *wait_ops) {
  c->wait_ops = wait_ops;
  c->deferred_call = (struct deferred_call){.run = settle};
  c->op.handler = on_answer;
  if (c->gate) *c->gate = (struct contender){.decision = DECISION_NONE};
  watcher_init(&c->own, &own_role);
  watcher_init(&c->predecessor, &predecessor_role);
  watcher_init(&c->before, &before_role);
  contender_prepare(c, OP_CREATE);
  contender_join(c, queue);
  timer_set(&queue->all->timers, &c->timer, c->options.deadline);
}

void acquire_fsm_watch_own(struct contender *c) {
  if (c->state != CONTENDER_HELD) return;
  contender_assert(c);
  if (!watch_want(&c->own, &c->queue->directory.watches,
                  contender_watch_name(c)))
    return;
  if (contender_watches_own(c))
    acquire_fsm_check_revocation(c); /* another watcher has read the node */
  else
    watch_read(&c->own);
}

static void grant(struct contender *c) {
  struct contenders *all = c->queue->all;
  int64_t max_hold = c->options.max_hold;
  timer_set(&all->timers, &c->timer,
            max_hold == NEVER ? NEVER : all->pipeline->now + max_hold);
  contender_unwatch_others(c);
  contender_decide(c, DECISION_GRANTED);
  c->node.granted_in = all->pipeline->connection;
  contender_enter(c, CONTENDER_HELD);
  contender_assert(c);
  if (c->options.kind != KIND_GATE)
    counter_add(&all->pipeline->counters.grants, 1);
  c->notify(c, NEWS_GRANTED);
  report_revocation(c);
}

/* Grants the lock if the lease lasts (lease_lasts). Otherwise waits for a
 * renewal, then checks the queue again. Without a valid lease, the last list
 * may be outdated. If the lease is nearly over, the hold would soon be lost. */
void acquire_fsm_be_first(struct contender *c) {
  struct pipeline *pipeline = contender_pipeline(c);
  contender_assert(c);
  if (pipeline_lease_lasts(pipeline)) {
    if (conflict_permits_grant(c)) grant(c);
    return;
  }
  contender_enter(c, CONTENDER_QUEUED);
  c->view.listed_in = 0;
  c->view.phase = VIEW_AWAITS_LEASE;
  pipeline_renew_lease(pipeline);
}

void acquire_fsm_lease_renewed(struct contender *c) {
  if (c->view.phase != VIEW_AWAITS_LEASE) return;
  c->view.phase = VIEW_PLAIN;
  if (c->state != CONTENDER_QUEUED) return;
  contender_assert(c);
  c->wait_ops->check_again(c);
}

/* The node. */

/* Chooses a name that no earlier node of this session had. So zklock cannot
 * mistake an event of an earlier node for one of the new node. */
static void take_new_name(struct contender *c) {
  late_creates_expect(c);
  char name[NAME_MAX_OWN];
  c->node = (struct node){.id = c->queue->all->next_id++};
  c->undone = c->own_node_gone = false;
  c->view = (struct view){0};
  c->revocation = REVOCATION_NONE;
  contender_new_name(c, name, sizeof name);
  contender_set_name(c, name);
}

void acquire_fsm_enter(struct contender *c) {
  contender_assert(c);
  if (c->node.id > 0) /* not the first create */
    pipeline_repeat(contender_pipeline(c), &c->repeated);
  take_new_name(c);
  contender_enter(c, CONTENDER_ENTERING);
  acquire_fsm_drive(c);
}

/* Begins again with a new node. If the old node remains, it is an orphan and
 * may be ahead of the new node. Only a list shows orphans. So `c` must not use
 * the tail, which replaces a list (fast_requeue.c). */
void acquire_fsm_start_over(struct contender *c) {
  pipeline_repeat(contender_pipeline(c), &c->repeated);
  contender_unwatch(c);
  fast_requeue_forget_tail(c->queue);
  if (!contender_is_exclusive(c) && contender_quota(c, true) != QUOTA_YES) {
    late_creates_expect(c);
    c->node.known = NODE_NONE; /* the quota is used up */
    contender_enter(c, CONTENDER_PARKED);
    return;
  }
  take_new_name(c);
  contender_enter(c, CONTENDER_ENTERING);
  acquire_fsm_drive(c);
}

/* Copies the old node's name first, because acquire_fsm_start_over overwrites
 * it. Then deletes the old node as an orphan, if this session owns it. */
void acquire_fsm_miss_node(struct contender *c) {
  char name[NAME_MAX_OWN];
  bool named = contender_has_node(c);
  snprintf(name, sizeof name, "%s", c->node.name);
  acquire_fsm_start_over(c);
  if (named) directory_remove_orphan(&c->queue->directory, name);
}

void acquire_fsm_refute(struct contender *c) {
  contender_refute(c);
  if (c->state != CONTENDER_LEAVING) contender_enter(c, CONTENDER_FINDING);
  acquire_fsm_drive(c);
}

static void create_failed(struct contender *c, int rc) {
  if (rc == REPLY_NO_NODE && c->options.downgrade) {
    acquire_fsm_refuse(c, REFUSED_LOST, 0); /* the writer's node is gone, too */
    return;
  }
  if (rc == REPLY_NO_NODE) {
    pipeline_repeat(contender_pipeline(c), &c->repeated);
    directory_make(&c->queue->directory);
    return;
  }
  const struct directory *d = &c->queue->directory;
  pipeline_warn(d->pipeline, CANNOT_CREATE, directory_path(d), rc);
  if (reply_is_transient(rc))
    pipeline_back_off(d->pipeline, &c->queue->directory.making, rc);
  acquire_fsm_fail(c, CANNOT_CREATE, directory_length(d), rc);
}

/* Returns whether `c` must delay its create, because a server has temporarily
 * refused another. A patient contender waits for the end of that pause, so that
 * creates are sent in order. An impatient contender does not wait. */
static bool must_pause_create(struct contender *c) {
  struct pipeline *pipeline = contender_pipeline(c);
  return c->options.patient &&
         pipeline_must_pause(pipeline, &c->queue->directory.making);
}

static void try_create(struct contender *c) {
  struct pipeline *pipeline = contender_pipeline(c);
  if (c->op.in_flight || pipeline_must_pause(pipeline, &c->repeated)) return;
  if (c->queue->directory.missing) {
    directory_wake(&c->queue->directory);
    return;
  }
  contender_prepare(c, OP_CREATE);
  c->op.joins = fast_requeue_joins(c);
  if (must_pause_create(c) || !pipeline_submit(pipeline, &c->op)) return;
  c->node.serial = c->op.serial;
  if (c->node.known == NODE_NONE) c->node.known = NODE_ASKED;
  c->wait_ops->on_sent(c);
}

void acquire_fsm_drive(struct contender *c) {
  const struct pipeline *pipeline = contender_pipeline(c);
  if (!pipeline->connected) return;
  contender_assert(c);
  switch (c->state) {
    case CONTENDER_ENTERING:
      if (contender_has_node(c))
        c->wait_ops->check(c);
      else
        try_create(c);
      break;
    case CONTENDER_FINDING:
    case CONTENDER_QUEUED:
      c->wait_ops->check(c);
      break;
    case CONTENDER_HELD:
      /* Reads the node in a new connection: it may have been deleted
       * meanwhile. */
      if (pipeline->connection > c->node.granted_in) acquire_fsm_watch_own(c);
      break;
    case CONTENDER_LEAVING:
      acquire_fsm_try_to_leave(c);
      break;
    case CONTENDER_PARKED: /* admitted by its queue */
    case CONTENDER_GONE:
      break;
  }
}

/* After a pause, sets the timer to the deadline and sends the request again. */
static void check_again(struct contender *c) {
  timer_set(&c->queue->all->timers, &c->timer,
            c->decision != DECISION_NONE ? NEVER : c->options.deadline);
  if (c->state == CONTENDER_QUEUED)
    c->wait_ops->check_again(c);
  else
    acquire_fsm_drive(c);
}

static void time_out(struct contender *c) {
  if (conflict_is_suspected(c))
    acquire_fsm_refuse(c, REFUSED_CONFLICT, 0);
  else
    acquire_fsm_time_out(c);
}

void acquire_fsm_on_timer(struct contender *c) {
  const struct pipeline *pipeline = contender_pipeline(c);
  bool over =
      c->decision == DECISION_NONE && pipeline->now >= c->options.deadline;
  contender_assert(c);
  if (c->state == CONTENDER_HELD)
    acquire_fsm_lose(c, LOSS_MAX_HOLD_REACHED);
  else if (over && pipeline->connected && c->options.patient)
    time_out(c);
  else if (over)
    acquire_fsm_refuse(c, REFUSED_DISCONNECTED, 0);
  else
    check_again(c);
}

void acquire_fsm_directory_failed(struct contender *c, const char *what,
                                  int rc) {
  if (c->state == CONTENDER_ENTERING && !contender_has_node(c) &&
      !contender_is_creating(c))
    acquire_fsm_fail(c, what, c->queue->directory.mkdir_length, rc);
}

/* Replies to requests. */

/* Returns whether `path`, from a create's reply, is the requested path, plus a
 * number unless `exact`. The caller treats any other path as a lost reply. */
static bool has_requested_path(const struct contender *c, const char *path) {
  size_t length = strlen(c->path);
  if (!path || strncmp(path, c->path, length) != 0) return false;
  if (c->op.exact) return path[length] == '\0';
  const char *name = path + directory_length(&c->queue->directory) + 1;
  int32_t number; /* the number at the end of the name */
  return strlen(name) < NAME_MAX_OWN && path[length] != '\0' &&
         name_parse(name, &number) != ROLE_FOREIGN;
}

static void on_created(struct contender *c, const struct reply *reply) {
  refusals_end(&c->queue->directory.making);
  bool ours = reply->owner == contender_pipeline(c)->session;
  c->node.known = ours ? NODE_OURS : NODE_MADE;
  c->node.czxid = reply->czxid;
  c->node.owner_session = reply->owner;
  c->node.owner_seen_in = contender_pipeline(c)->connection;
  contender_set_name(c,
                     reply->path + directory_length(&c->queue->directory) + 1);
  if (c->state == CONTENDER_ENTERING) c->wait_ops->on_created(c);
}

static void on_create_unknown(struct contender *c) {
  c->node.known = NODE_MAYBE;
  c->node.unconfirmed = true;
  if (c->state != CONTENDER_ENTERING) return;
  contender_enter(c, CONTENDER_FINDING);
  acquire_fsm_drive(c);
}

/* Makes `c` wait until the node `holder` is deleted. If `c` is not patient,
 * refuses `c` with REFUSED_BUSY. */
static void wait_for_holder(struct contender *c) {
  if (!c->options.patient) {
    acquire_fsm_refuse(c, REFUSED_BUSY, 0);
    return;
  }
  contender_enter(c, CONTENDER_QUEUED);
  c->view.ahead = 1;
  c->view.nearest_holds = true;
  watch_drop(&c->own);
  c->wait_ops->check(c);
}

static void on_create_refused(struct contender *c, int rc) {
  if (c->node.known == NODE_ASKED) c->node.known = NODE_NONE;
  if (c->state != CONTENDER_ENTERING) return;
  if (rc == REPLY_UNDONE)
    acquire_fsm_drive(c);
  else if (rc == REPLY_NODE_EXISTS && contender_is_exclusive(c))
    wait_for_holder(c);
  else
    create_failed(c, rc);
}

static void on_create_answer(struct contender *c, const struct reply *reply) {
  bool leaving = c->state == CONTENDER_LEAVING;
  if (reply_is_unknown(reply->rc))
    on_create_unknown(c);
  else if (reply->rc != REPLY_OK)
    on_create_refused(c, reply->rc);
  else if (has_requested_path(c, reply->path))
    on_created(c, reply);
  else
    on_create_unknown(c);
  if (leaving) acquire_fsm_continue_leaving(c);
}

/* Handles a read of the node beside `holder` (unfair.c), unless `c` is LEAVING.
 * `c` owns the node if this session owns it and its czxid is that of `holder`.
 * Ignores the reply if `c` has begun again since. */
static void on_own_node_read(struct contender *c, const struct reply *reply) {
  bool ours = reply->rc == REPLY_OK && reply->czxid == c->node.czxid &&
              contender_owns(c, reply);
  if (!contender_is_known_by_name(c) || reply_is_unknown(reply->rc)) {
    acquire_fsm_drive(c);
  } else if (ours) {
    contender_prove(c, reply);
    acquire_fsm_drive(c);
  } else if (reply->rc == REPLY_OK || reply->rc == REPLY_NO_NODE ||
             reply->rc == REPLY_NO_AUTH) {
    acquire_fsm_refute(c);
  } else {
    pipeline_retry(contender_pipeline(c));
  }
}

static void on_answer(struct op *op, const struct reply *reply) {
  struct contender *c = op->owner;
  if (c->state == CONTENDER_GONE)
    contender_settle_later(c);
  else if (op->kind == OP_CREATE)
    on_create_answer(c, reply);
  else if (c->state == CONTENDER_LEAVING)
    release_fsm_on_reply(c, op->kind, reply);
  else if (op->kind == OP_PING)
    on_own_node_read(c, reply);
  else
    acquire_fsm_drive(c); /* the contender has begun again */
}
