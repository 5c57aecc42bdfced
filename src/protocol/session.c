/* Each call of session.h is a step. A step first sets the time, and at its end
 * runs the deferred calls that it has added (deferred_call.h). A call inside
 * another call, such as from a reply handler, belongs to the outer step. */
#include "session.h"

#include <assert.h>
#include <string.h>

#include "acquire_fsm.h"

#define CANNOT_AUTHENTICATE "cannot authenticate"

const char *session_state_name(enum session_state state) {
  static const char *const names[] = {
#define X(name, text) text,
      SESSION_STATES(X)
#undef X
  };
  return names[state];
}

/* Steps. */

/* Sets the time, which never goes back: a call inside a step may have set a
 * later time. */
static void begin(struct session *s, int64_t now) {
  assert(s->pipeline.connected == session_is_connected(s));
  if (now > s->pipeline.now) s->pipeline.now = now;
  s->calls++;
}

static void end(struct session *s) {
  if (s->calls == 1) deferred_calls_run(&s->pipeline.step);
  s->calls--;
}

/* Reporting to the listener. */

static void warn(void *self, const char *message, const char *path, int rc) {
  struct session *s = self;
  s->listener.warn(s->listener.self, message, path, rc);
}

static void change_state(struct session *s, enum session_state state) {
  if (s->state == state) return;
  bool reported = s->unresponsive && state == SESSION_SUSPENDED;
  s->unresponsive = false;
  s->state = state;
  if (!reported) s->listener.session(s->listener.self, state);
}

static void set_unresponsive(void *self) {
  struct session *s = self;
  if (!session_is_connected(s) || s->unresponsive) return;
  s->unresponsive = true;
  s->listener.session(s->listener.self, SESSION_SUSPENDED);
}

void session_set_unresponsive(struct session *s, int64_t now) {
  begin(s, now);
  set_unresponsive(s);
  end(s);
}

static void set_responsive(struct session *s) {
  if (!s->unresponsive || !pipeline_lease_is_valid(&s->pipeline)) return;
  s->unresponsive = false;
  s->listener.session(s->listener.self, SESSION_CONNECTED);
}

/* Creating and freeing a session. */

/* Called when a renewal was committed. If the lease lasts now, continues the
 * acquisitions that waited for it. */
static void on_lease_renewed(void *self) {
  struct session *s = self;
  set_responsive(s);
  if (!s->pipeline.renewal_wanted || !pipeline_lease_lasts(&s->pipeline))
    return;
  s->pipeline.renewal_wanted = false;
  queues_each_contender(&s->queues, acquire_fsm_lease_renewed);
}

void session_init(struct session *s, const struct session_options *options,
                  const struct transport *transport,
                  const struct listener *listener, int64_t now) {
  struct pipeline_owner owner = {s, on_lease_renewed, set_unresponsive, warn};
  memset(s, 0, sizeof *s);
  s->listener = *listener;
  s->chroot = options->chroot;
  pipeline_init(&s->pipeline, transport, &owner, options->chroot,
                options->random);
  s->pipeline.now = now;
  lease_init(&s->pipeline.lease, options->min_timeout, options->tick);
  s->all.pipeline = &s->pipeline;
  s->all.next_id = 1;
  queues_init(&s->queues, &s->all);
  node_waits_init(&s->node_waits, &s->all);
  nonces_init(&s->nonces, &s->pipeline);
  s->all.late_list_at = NEVER;
  s->pipeline.acl_may_deny = options->acl_may_deny;
}

void session_open(struct session *s, int64_t now) {
  begin(s, now);
  s->pipeline.transport.open(s->pipeline.transport.self);
  end(s);
}

void session_free(struct session *s) {
  queues_free(&s->queues);
  nonces_end(&s->nonces);
}

/* Calls of the user. */

static const struct wait_ops *wait_ops_of(enum kind kind) {
  return kind == KIND_PERMIT   ? &semaphore_wait_ops
         : kind == KIND_UNFAIR ? &unfair_wait_ops
         : kind == KIND_MEMBER ? &barrier_enter_wait_ops
                               : &queued_wait_ops;
}

static void refuse_credentials(struct session *s, struct contender *c) {
  acquire_fsm_deny(c, CANNOT_AUTHENTICATE, s->pipeline.chroot_length,
                   s->refused);
}

/* Returns whether an acquisition or a wait must fail at once. It must if it is
 * not `patient`, and there is no connection or the user sees SUSPENDED. */
static bool is_out_of_reach(const struct session *s, bool patient) {
  return !patient && (!session_is_connected(s) || s->unresponsive);
}

static void refuse_entry(struct session *s, struct contender *c) {
  if (s->refused) {
    warn(s, "cannot contend", directory_path(&c->queue->directory), s->refused);
    refuse_credentials(s, c);
  } else if (is_out_of_reach(s, c->options.patient)) {
    acquire_fsm_refuse(c, REFUSED_DISCONNECTED, 0);
  }
}

bool session_acquire(struct session *s, int64_t now, struct contender *c,
                     const char *path) {
  begin(s, now);
  struct queue *queue = queues_get(&s->queues, path);
  if (queue) {
    acquire_fsm_begin(c, queue, wait_ops_of(c->options.kind));
    refuse_entry(s, c);
  }
  end(s);
  return queue != NULL;
}

void session_release(struct session *s, int64_t now, struct contender *c) {
  begin(s, now);
  acquire_fsm_release(c);
  end(s);
}

void session_cancel(struct session *s, int64_t now, struct contender *c) {
  begin(s, now);
  acquire_fsm_refuse(c, REFUSED_CANCELLED, 0);
  end(s);
}

void session_lose(struct session *s, int64_t now, struct contender *c,
                  enum loss why) {
  begin(s, now);
  acquire_fsm_lose(c, why);
  end(s);
}

void session_watch(struct session *s, int64_t now, struct contender *c) {
  begin(s, now);
  acquire_fsm_watch_own(c);
  end(s);
}

void session_watch_contention(struct session *s, int64_t now,
                              struct contender *c) {
  begin(s, now);
  queue_watch_contention(c);
  end(s);
}

/* Waits without a contender. */

bool session_begin_node_wait(struct session *s, int64_t now,
                             struct node_wait *v) {
  begin(s, now);
  bool begun = node_wait_begin(&s->node_waits, v);
  if (begun && s->refused)
    node_wait_refuse(v, REFUSED_AUTH, s->refused);
  else if (begun && is_out_of_reach(s, v->patient))
    node_wait_refuse(v, REFUSED_DISCONNECTED, 0);
  end(s);
  return begun;
}

void session_end_node_wait(struct session *s, int64_t now,
                           struct node_wait *v) {
  begin(s, now);
  node_wait_refuse(v, REFUSED_CANCELLED, 0);
  end(s);
}

bool session_ask(struct session *s, int64_t now, struct op *op) {
  begin(s, now);
  bool sent = pipeline_submit(&s->pipeline, op);
  end(s);
  return sent;
}

void session_close(struct session *s, int64_t now) {
  begin(s, now);
  change_state(s, SESSION_CLOSED);
  pipeline_closed(&s->pipeline);
  queues_each_contender(&s->queues, acquire_fsm_close);
  node_waits_refuse(&s->node_waits, REFUSED_CLOSED, 0);
  queues_each(&s->queues, queue_closed);
  end(s);
}

/* Reports of the client. */

void session_attempting(struct session *s, int64_t now) {
  if (s->state == SESSION_CLOSED || s->pipeline.lease.timeout == 0) return;
  begin(s, now);
  lease_attempting(&s->pipeline.lease, now);
  end(s);
}

void session_greeted(struct session *s, int64_t now, int64_t id,
                     int64_t timeout, int64_t started) {
  if (s->state == SESSION_CLOSED) return;
  begin(s, now);
  /* If the server has granted another session than last time, discards the
   * lease of the old session. */
  if (s->pipeline.session == 0 && id != s->greeted)
    lease_reset(&s->pipeline.lease);
  s->greeted = id;
  lease_connected(&s->pipeline.lease, started, timeout);
  end(s);
}

/* First ends the last connection and the last session, if they have not ended.
 * Each ends in a step of its own. So the deferred calls of these steps run
 * before any contender sends a request. */
void session_connected(struct session *s, int64_t now, int64_t id,
                       int64_t timeout, int64_t started) {
  if (s->state == SESSION_CLOSED) return;
  if (session_is_connected(s)) session_disconnected(s, now);
  bool same = s->pipeline.session == id && id != 0;
  if (s->pipeline.session != 0 && !same) session_expired(s, now);
  if (same) lease_attempting(&s->pipeline.lease, started);
  begin(s, now);
  s->refused = 0;
  pipeline_connected(&s->pipeline, id, timeout, started, s->all.active > 0);
  nonces_drive(&s->nonces);
  change_state(s, SESSION_CONNECTED);
  if (same) counter_add(&s->pipeline.counters.reconnects, 1);
  queues_each(&s->queues, queue_connected);
  node_waits_connected(&s->node_waits);
  end(s);
}

void session_disconnected(struct session *s, int64_t now) {
  begin(s, now);
  if (session_is_connected(s)) {
    change_state(s, SESSION_SUSPENDED);
    s->lost_at = now;
    pipeline_disconnected(&s->pipeline);
    queues_each(&s->queues, queue_sweep);
    queues_each_contender(&s->queues, acquire_fsm_disconnected);
    queues_each(&s->queues, queue_disconnected);
    node_waits_disconnected(&s->node_waits);
  }
  end(s);
}

void session_refused(struct session *s, int64_t now, int reason) {
  if (s->state == SESSION_CLOSED) return;
  session_disconnected(s, now);
  begin(s, now);
  s->refused = reason;
  warn(s, CANNOT_AUTHENTICATE, s->chroot[0] ? s->chroot : "/", reason);
  if (s->pipeline.session != 0) change_state(s, SESSION_SUSPENDED);
  for (struct queue *q = s->queues.newest; q; q = q->older)
    for (struct contender *c = q->first; c; c = c->next)
      refuse_credentials(s, c);
  node_waits_refuse(&s->node_waits, REFUSED_AUTH, reason);
  end(s);
}

void session_expired(struct session *s, int64_t now) {
  if (s->state == SESSION_CLOSED) return;
  session_disconnected(s, now);
  begin(s, now);
  pipeline_expired(&s->pipeline);
  /* No hold of the old session may exist when the new session has a lease. */
  queues_each_contender(&s->queues, acquire_fsm_session_ended);
  queues_each(&s->queues, late_creates_end);
  nonces_end(&s->nonces);
  queues_each(&s->queues, queue_rewind);
  lease_reset(&s->pipeline.lease);
  counter_add(&s->pipeline.counters.expirations, 1);
  change_state(s, SESSION_EXPIRED);
  end(s);
}

/* Returns true if nodes must be deleted, and a server would have expired the
 * session without the attempts to reconnect. A server expires a session after
 * the timeout and a tick, which is at most half the timeout. Each lease ended
 * before that. But if the machine was suspended, holds may still exist.
 * zklock's clock must end these holds first. */
bool session_is_overdue(const struct session *s, int64_t now) {
  return s->state == SESSION_SUSPENDED && s->all.holders == 0 &&
         s->pipeline.counters.pending_releases > 0 &&
         now >= s->lost_at + s->pipeline.timeout / 2 * 3;
}

void session_reply(struct session *s, int64_t now, uint64_t serial,
                   const struct reply *reply) {
  begin(s, now);
  pipeline_reply(&s->pipeline, serial, reply);
  end(s);
}

void session_event(struct session *s, int64_t now, enum watch_event event,
                   const char *path) {
  begin(s, now);
  if (session_is_connected(s)) {
    counter_add(&s->pipeline.counters.events, 1);
    queues_on_event(&s->queues, event, path);
  }
  end(s);
}

/* The clock. */

static enum need need_of(const struct session *s) {
  return s->all.holders > 0  ? NEED_HOLDING
         : s->all.active > 0 ? NEED_WAITING
                             : NEED_IDLE;
}

static void end_holds(struct session *s) {
  if (s->all.holders == 0 || pipeline_lease_is_valid(&s->pipeline)) return;
  queues_each_contender(&s->queues, acquire_fsm_lose_overdue);
}

static void try_again(struct session *s) {
  if (pipeline_retry_is_due(&s->pipeline)) {
    nonces_drive(&s->nonces);
    queues_each(&s->queues, queue_sweep);
    queues_each(&s->queues, queue_drive);
    queues_each(&s->queues, queue_rewind);
    node_waits_drive(&s->node_waits);
  }
  if (pipeline_poll_is_due(&s->pipeline)) queues_each(&s->queues, queue_poll);
}

void session_run(struct session *s, int64_t now) {
  if (s->state == SESSION_CLOSED) return;
  begin(s, now);
  assert(s->calls == 1);
  end_holds(s);
  deferred_calls_run(&s->pipeline.step);
  queues_run_timers(&s->queues);
  node_waits_run(&s->node_waits);
  deferred_calls_run(&s->pipeline.step);
  try_again(s);
  queues_list_for_late_creates(&s->queues);
  queues_flush(&s->queues);
  pipeline_send_heartbeat(&s->pipeline, need_of(s));
  queues_watch_holds(&s->queues);
  pipeline_send_nudge(&s->pipeline);
  queues_flush(&s->queues);
  end(s);
}

int64_t session_due(const struct session *s) {
  int64_t protocol =
      earliest(queues_due(&s->queues), pipeline_due(&s->pipeline, need_of(s)));
  int64_t lease = s->all.holders > 0 ? s->pipeline.lease.until : NEVER;
  return earliest(lease, earliest(protocol, node_waits_due(&s->node_waits)));
}
