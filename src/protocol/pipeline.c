#include "pipeline.h"

#include <assert.h>
#include <string.h>

#include "timer.h"

#define MILLISECOND INT64_C(1000000)

/* If an op is unanswered for this long, zklock sends a nudge, a small request.
 * A server that has overlooked the op (ZOOKEEPER-4537) then processes it. */
#define NUDGE_AFTER (250 * MILLISECOND)
#define RETRY_AFTER (100 * MILLISECOND)
#define BACKOFF_FIRST (100 * MILLISECOND)
#define BACKOFF_MAX (2000 * MILLISECOND)
#define REPEAT_FIRST (10 * MILLISECOND)

/* How often an op with `resend` is resent at most, within about 4 seconds. */
enum { TRIES_MAX = 6 };

/* How many repetitions of a create are sent without a pause (pipeline_repeat).
 * An ordinary recovery needs no more. */
enum { AT_ONCE = 3 };

/* Does nothing: `finish` has already stored what the reply proves. */
static void on_answer(struct op *op, const struct reply *reply) {
  (void)op;
  (void)reply;
}

static void init_ops(struct pipeline *w) {
  w->heartbeat.kind = OP_HEARTBEAT;
  w->nudge.kind = OP_PING;
  w->heartbeat.path = w->nudge.path = "/"; /* this node always exists */
  w->heartbeat.handler = w->nudge.handler = on_answer;
}

void pipeline_init(struct pipeline *w, const struct transport *transport,
                   const struct pipeline_owner *owner, const char *chroot,
                   const unsigned char random[16]) {
  w->transport = *transport;
  w->owner = *owner;
  w->chroot_length = strlen(chroot);
  name_base_init(&w->base, random);
  memcpy(&w->jitter, random + 8, sizeof w->jitter);
  deferred_calls_init(&w->step);
  deferred_calls_init(&w->batch);
  w->flight_end = &w->flight;
  w->queued_end = &w->queued;
  w->retry_at = w->poll_at = NEVER;
  init_ops(w);
}

void pipeline_warn(struct pipeline *w, const char *message, const char *path,
                   int rc) {
  w->owner.warn(w->owner.self, message, path, rc);
}

/* Sending. */

static void retry_by(struct pipeline *w, int64_t at) {
  if (at < w->retry_at) w->retry_at = at;
}

void pipeline_retry(struct pipeline *w) { retry_by(w, w->now + RETRY_AFTER); }

/* Pauses all sends, including heartbeats, after a send has failed. */
static void pause_sends(struct pipeline *w) {
  pipeline_retry(w);
  w->paused_until = w->now + RETRY_AFTER;
}

static bool is_confirmed(const struct pipeline *w) {
  return w->confirmed_in == w->connection;
}

/* Returns whether the op can be sent before queued ops: it is a nudge, or a
 * connection's first heartbeat, for which all other ops wait. */
static bool may_overtake(const struct pipeline *w, const struct op *op) {
  return op == &w->nudge || (op == &w->heartbeat && !is_confirmed(w));
}

static bool may_be_sent(const struct pipeline *w, const struct op *op) {
  return may_overtake(w, op) || is_confirmed(w);
}

static void append(struct op ***end, struct op *op) {
  op->in_flight = true;
  op->next = NULL;
  **end = op;
  *end = &op->next;
}

/* Decides whether the op is a renewal of the lease. One renewal is in flight at
 * a time, and the next heartbeat is sent a while after a renewal. But a server
 * may refuse all requests except heartbeats, and a refusal renews nothing. So
 * after a refusal, other requests do not delay the heartbeat. */
static void decide_renewal(struct pipeline *w, struct op *op) {
  bool is_heartbeat = op->kind == OP_HEARTBEAT;
  op->renews = op_is_write(op->kind) &&
               (!w->renewal_in_flight || (w->renewal_refused && is_heartbeat));
  if (!op->renews) return;
  w->renewal_in_flight = true;
  if (w->renewal_refused && !is_heartbeat) return;
  w->renewal_before = w->renewal_sent;
  w->renewal_sent = w->now;
}

static void record_sent(struct pipeline *w, struct op *op) {
  op->sent = w->now;
  append(&w->flight_end, op);
  decide_renewal(w, op);
  if (op == &w->nudge) counter_add(&w->counters.nudges, 1);
  counter_add(&w->counters.in_flight, 1);
}

/* Sends `op`. If `before` is not NULL, sends both in one transaction. */
static bool transmit(struct pipeline *w, struct op *op, struct op *before) {
  if (!w->transport.submit(w->transport.self, op, before)) {
    pause_sends(w);
    return false;
  }
  counter_add(&w->counters.requests, 1);
  if (before) record_sent(w, before);
  record_sent(w, op);
  return true;
}

/* Queues an op. The pipeline sends it before any later op. */
static void enqueue(struct pipeline *w, struct op *op) {
  op->renews = false;
  append(&w->queued_end, op);
}

/* The pipeline can send two requests in one transaction. A client that releases
 * a lock and acquires it again deletes a node and creates another. So the
 * pipeline delays the delete, to send it in one transaction with the create. If
 * another op comes, or at the end of the batch, it sends the delete alone. */

static bool may_delay(const struct pipeline *w, const struct op *op) {
  return op->kind == OP_REMOVE && op->joins && !w->queued && may_be_sent(w, op);
}

static bool may_join(const struct pipeline *w, const struct op *op) {
  return w->delayed_delete && op->kind == OP_CREATE && op->joins;
}

static bool transmit_both(struct pipeline *w, struct op *create) {
  struct op *remove = w->delayed_delete;
  w->delayed_delete = NULL;
  if (transmit(w, create, remove)) return true;
  enqueue(w, remove);
  return false;
}

void pipeline_flush(struct pipeline *w) {
  struct op *op = w->delayed_delete;
  w->delayed_delete = NULL;
  if (op && !transmit(w, op, NULL)) enqueue(w, op);
}

static void send_queued(struct pipeline *w) {
  while (w->queued && may_be_sent(w, w->queued)) {
    struct op *op = w->queued, *next = op->next;
    if (!transmit(w, op, NULL)) return;
    w->queued = next;
    if (!next) w->queued_end = &w->queued;
  }
}

/* Sends the heartbeat with which each connection begins, except the session's
 * first. A server answers the requests of a session in order. So every later
 * reply is at least as new as the heartbeat, and as all replies of earlier
 * connections. No reply shows the old state of a server that lags, or of a
 * former leader. The client library ensures this only within one handle. All
 * other ops wait until the heartbeat is confirmed: a server that refuses the
 * heartbeat by itself can return old data. */
static bool confirm_connection(struct pipeline *w) {
  return is_confirmed(w) || w->heartbeat.in_flight ||
         w->now < w->paused_until || pipeline_submit(w, &w->heartbeat);
}

bool pipeline_submit(struct pipeline *w, struct op *op) {
  assert(!op->in_flight);
  if (!w->connected) return false;
  if (op != &w->heartbeat && !confirm_connection(w)) return false;
  op->serial = ++w->serial;
  if (may_join(w, op)) return transmit_both(w, op);
  pipeline_flush(w);
  if (may_delay(w, op)) {
    op->in_flight = true;
    w->delayed_delete = op;
    return true;
  }
  bool behind = w->queued && !may_overtake(w, op);
  if (!behind && may_be_sent(w, op)) return transmit(w, op, NULL);
  enqueue(w, op);
  return true;
}

/* Backoff. */

int64_t pipeline_jitter(struct pipeline *w, int64_t pause) {
  w->jitter = w->jitter * UINT64_C(6364136223846793005) + 1;
  return pause / 2 + (int64_t)((w->jitter >> 33) % (uint64_t)(pause / 2 + 1));
}

static bool is_paused(const struct pipeline *w, const struct refusals *b) {
  return b->connection == w->connection && w->now < b->until;
}

/* Begins a pause of at least half of `pause` or of `longest`. */
static void begin_pause(struct pipeline *w, struct refusals *b, int64_t pause,
                        int64_t longest) {
  b->connection = w->connection;
  b->until = w->now + pipeline_jitter(w, pause < longest ? pause : longest);
}

/* If several requests are refused in one pause, they count as one refusal. */
void pipeline_back_off(struct pipeline *w, struct refusals *b, int rc) {
  b->rc = (int16_t)rc;
  if (!is_paused(w, b)) {
    begin_pause(w, b, BACKOFF_FIRST << b->times, BACKOFF_MAX);
    if (b->times < 5) b->times++;
  }
  pipeline_must_pause(w, b);
}

void pipeline_repeat(struct pipeline *w, struct refusals *b) {
  if (b->connection != w->connection || w->now >= b->until + w->timeout)
    b->times = 0;
  int64_t pause = 0;
  if (b->times >= AT_ONCE) pause = REPEAT_FIRST << (b->times - AT_ONCE);
  begin_pause(w, b, pause, w->timeout / 4);
  if (b->times < AT_ONCE + 20) b->times++;
}

bool pipeline_must_pause(struct pipeline *w, const struct refusals *b) {
  if (!is_paused(w, b)) return false;
  retry_by(w, b->until);
  return true;
}

/* Replies. */

static void renewal_confirmed(struct pipeline *w, const struct op *op) {
  w->renewal_refused = false;
  lease_confirm(&w->lease, op->sent, w->now);
  w->owner.lease_renewed(w->owner.self);
}

static void renewal_refused(struct pipeline *w, const struct op *op) {
  if (!w->renewal_refused && op->kind != OP_HEARTBEAT)
    w->renewal_sent = w->renewal_before;
  w->renewal_refused = true;
}

static void renewal_answered(struct pipeline *w, const struct op *op, int rc) {
  w->renewal_in_flight = false;
  if (reply_proves(op->kind, rc))
    renewal_confirmed(w, op);
  else if (!reply_is_unknown(rc))
    renewal_refused(w, op);
}

/* Counts a heartbeat only if the servers have committed it. So the counter does
 * not grow while no server replies. */
static void heartbeat_answered(struct pipeline *w, int rc) {
  if (reply_proves(OP_HEARTBEAT, rc)) {
    w->confirmed_in = w->connection;
    counter_add(&w->counters.heartbeats, 1);
  } else if (!is_confirmed(w) && !reply_is_unknown(rc)) {
    pause_sends(w);
  }
}

/* Returns true if the pipeline will send the op again after a pause. Then the
 * op's handler is called with a later reply, or when the connection is lost. If
 * a server's quota refuses a create, the handler is called at once: the
 * contender can wait without a node. */
static bool schedule_resend(struct pipeline *w, struct op *op, int rc) {
  bool full = op->kind == OP_CREATE && rc == REPLY_QUOTA_EXCEEDED;
  if (!op->resend) return false;
  if (!reply_is_transient(rc)) refusals_end(&w->resend_pause);
  if (!reply_is_transient(rc) || full || op->tries >= TRIES_MAX) return false;
  op->tries++;
  op->in_flight = true;
  op->next = w->resends;
  w->resends = op;
  pipeline_back_off(w, &w->resend_pause, rc);
  return true;
}

static void finish(struct pipeline *w, struct op *op,
                   const struct reply *reply) {
  op->in_flight = false;
  if (op == &w->heartbeat) heartbeat_answered(w, reply->rc);
  if (op->renews) renewal_answered(w, op, reply->rc);
  if (!schedule_resend(w, op, reply->rc)) op->handler(op, reply);
}

/* Calls the handlers of all ops in flight with REPLY_LOST: the servers may have
 * applied these ops or not. */
static void lose_flight(struct pipeline *w) {
  static const struct reply lost = {.rc = REPLY_LOST};
  w->counters.in_flight = 0;
  if (w->delayed_delete) enqueue(w, w->delayed_delete);
  w->delayed_delete = NULL;
  *w->flight_end = w->queued;
  if (w->queued) w->flight_end = w->queued_end;
  *w->flight_end = w->resends;
  w->resends = NULL;
  struct op *op = w->flight;
  w->flight = w->queued = NULL;
  w->flight_end = &w->flight;
  w->queued_end = &w->queued;
  while (op) {
    struct op *next = op->next;
    finish(w, op, &lost);
    op = next;
  }
}

void pipeline_reply(struct pipeline *w, uint64_t serial,
                    const struct reply *reply) {
  struct op **link = &w->flight; /* unsorted: a nudge overtakes ops */
  while (*link && (*link)->serial != serial) link = &(*link)->next;
  struct op *op = *link;
  if (!op) return; /* the reply is from an earlier connection */
  counter_add(&w->counters.in_flight, -1);
  *link = op->next;
  if (!*link) w->flight_end = link;
  finish(w, op, reply);
  send_queued(w);
}

/* Connections. */

void pipeline_connected(struct pipeline *w, int64_t session, int64_t timeout,
                        int64_t started, bool needed) {
  bool same = w->session == session;
  w->connected = true;
  w->session = session;
  w->timeout = timeout;
  w->connection++;
  /* Holders and waiters need a renewal at once. */
  w->renewal_sent = needed ? w->now - timeout : w->now;
  w->renewal_refused = false;
  lease_connected(&w->lease, started, timeout);
  if (!same) w->confirmed_in = w->connection;
}

void pipeline_disconnected(struct pipeline *w) {
  w->connected = false;
  w->poll_at = NEVER;
  lose_flight(w);
}

void pipeline_expired(struct pipeline *w) {
  if (w->session != 0) w->former = w->session;
  w->session = 0;
}

void pipeline_closed(struct pipeline *w) {
  pipeline_disconnected(w);
  w->retry_at = w->poll_at = NEVER;
}

/* The clock. */

void pipeline_renew_lease(struct pipeline *w) { w->renewal_wanted = true; }

static bool is_time(int64_t *at, int64_t now) {
  bool due = *at <= now;
  if (due) *at = NEVER;
  return due;
}

/* Sends the refused ops with `resend` again, if their pause is over. */
static void resend(struct pipeline *w) {
  static const struct reply lost = {.rc = REPLY_LOST};
  if (!w->resends || pipeline_must_pause(w, &w->resend_pause)) return;
  struct op *op = w->resends;
  w->resends = NULL;
  while (op) {
    struct op *next = op->next;
    op->in_flight = false;
    if (!pipeline_submit(w, op)) op->handler(op, &lost);
    op = next;
  }
}

bool pipeline_retry_is_due(struct pipeline *w) {
  if (!is_time(&w->retry_at, w->now)) return false;
  if (w->now < w->paused_until) retry_by(w, w->paused_until);
  resend(w);
  if (w->queued) confirm_connection(w);
  send_queued(w);
  return true;
}

/* Schedules a poll after about T/6, when a waiter sends a renewal anyway.
 * Jitter separates sessions that begin to poll at the same moment. */
void pipeline_poll_later(struct pipeline *w) {
  int64_t most = w->lease.timeout / 6;
  if (w->poll_at == NEVER)
    w->poll_at = w->now + most / 2 + pipeline_jitter(w, most / 2);
}

bool pipeline_poll_is_due(struct pipeline *w) {
  return is_time(&w->poll_at, w->now);
}

/* Returns when the next renewal is due. An idle session sends renewals a little
 * more than T/4 apart. They keep the connection alive and give the next
 * acquisition a lease (P and Q in lease.h). A holder sends more, for a longer
 * lease. The pause is only T/24 if the lease would end within two pauses:
 * several renewals may be needed. */
static int64_t heartbeat_due(const struct pipeline *w, enum need need) {
  bool waits = w->renewal_in_flight && !w->renewal_refused;
  if (!w->connected || waits || w->heartbeat.in_flight) return NEVER;
  int64_t timeout = w->lease.timeout;
  int64_t pause = timeout / 10 * 3;
  if (need != NEED_IDLE) {
    pause = need == NEED_HOLDING ? lease_pace(&w->lease) : timeout / 6;
    bool lasts = w->lease.until >= w->renewal_sent + 2 * pause;
    if (!lasts || w->renewal_wanted) pause = timeout / 24;
  }
  return pipeline_after_pause(w, w->renewal_sent + pause);
}

static int64_t nudge_due(const struct pipeline *w) {
  if (!w->connected || !w->flight || w->nudge.in_flight) return NEVER;
  int64_t since = w->flight->sent;
  if (w->nudge.sent > since) since = w->nudge.sent; /* one nudge at a time */
  return pipeline_after_pause(w, since + NUDGE_AFTER);
}

void pipeline_send_heartbeat(struct pipeline *w, enum need need) {
  if (heartbeat_due(w, need) <= w->now) pipeline_submit(w, &w->heartbeat);
}

void pipeline_send_nudge(struct pipeline *w) {
  if (nudge_due(w) <= w->now) pipeline_submit(w, &w->nudge);
}

int64_t pipeline_due(const struct pipeline *w, enum need need) {
  return earliest(earliest(heartbeat_due(w, need), nudge_due(w)),
                  earliest(w->retry_at, w->poll_at));
}
