#include "session.h"

#include <assert.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MILLISECOND INT64_C(1000000)

/* An operation this old gets company: a request lost in the server's commit
 * processor (ZOOKEEPER-4537) is found when another one arrives. */
#define NUDGE_AFTER (250 * MILLISECOND)
#define RETRY_AFTER (100 * MILLISECOND)
#define YOUNG_MAX (1000 * MILLISECOND)
#define BACKOFF_MAX (2000 * MILLISECOND)

static op_handler on_heartbeat, on_nudge;

const char *session_state_name(enum session_state state) {
  static const char *const names[] = {
#define X(name, text) text,
      SESSION_STATES(X)
#undef X
  };
  return names[state];
}

void session_init(struct session *s, const struct session_options *options,
                  const struct transport *transport,
                  const struct listener *listener, int64_t now) {
  memset(s, 0, sizeof *s);
  s->transport = *transport;
  s->listener = *listener;
  s->chroot = options->chroot;
  s->chroot_length = strlen(options->chroot);
  name_base_init(&s->base, options->random);
  memcpy(&s->jitter, options->random + 8, sizeof s->jitter);
  s->next_id = 1;
  s->now = now;
  lease_init(&s->lease, options->least_timeout, options->tick);
  s->flight_end = &s->flight;
  s->held_end = &s->held;
  s->dirty_end = &s->dirty;
  s->renew_at = s->retry_at = s->resume_at = NEVER;
  snprintf(s->heartbeat_path, sizeof s->heartbeat_path, "%s/%s", s->chroot,
           s->base.text);
  s->heartbeat.kind = OP_HEARTBEAT;
  s->heartbeat.handler = on_heartbeat;
  s->heartbeat.path = s->heartbeat_path;
  s->nudge.kind = OP_PING;
  s->nudge.handler = on_nudge;
  s->nudge.path = "/";
  s->heartbeat.owner = s->nudge.owner = s;
}

bool session_is_connected(const struct session *s) {
  return s->state == SESSION_CONNECTED;
}

bool session_lease_stands(const struct session *s) {
  return s->now < s->lease.until;
}

/* Telling. */

void session_trouble(struct session *s, const char *message, const char *path,
                     int rc) {
  s->listener.trouble(s->listener.self, message, path, rc);
}

static void change_state(struct session *s, enum session_state state) {
  if (s->state == state) return;
  bool told = s->silent && state == SESSION_SUSPENDED;
  s->silent = false;
  s->state = state;
  if (!told) s->listener.session(s->listener.self, state);
}

void session_fall_silent(struct session *s, int64_t now) {
  s->now = now;
  if (!session_is_connected(s) || s->silent) return;
  s->silent = true;
  s->listener.session(s->listener.self, SESSION_SUSPENDED);
}

static void hear_again(struct session *s) {
  if (!s->silent || !session_lease_stands(s)) return;
  s->silent = false;
  s->listener.session(s->listener.self, SESSION_CONNECTED);
}

/* Lanes. */

static struct lane **bucket_of(struct session *s, const char *path,
                               size_t length) {
  uint32_t hash = 2166136261u; /* FNV-1a */
  for (size_t i = 0; i < length; i++)
    hash = (hash ^ (unsigned char)path[i]) * 16777619u;
  return &s->buckets[hash % SESSION_BUCKETS];
}

static struct lane *find_lane(struct session *s, const char *path,
                              size_t length) {
  struct lane *lane = *bucket_of(s, path, length);
  while (lane &&
         (lane->length != length || memcmp(lane->path, path, length) != 0))
    lane = lane->next;
  return lane;
}

static void free_lane(struct session *s, struct lane *lane) {
  struct lane **link = bucket_of(s, lane->path, lane->length);
  while (*link != lane) link = &(*link)->next;
  *link = lane->next;
  if (lane->newer)
    lane->newer->older = lane->older;
  else
    s->lanes = lane->older;
  if (lane->older) lane->older->newer = lane->newer;
  lane_free(lane);
}

void session_dirty(struct session *s, struct lane *lane) {
  if (lane->dirty) return;
  lane->dirty = true;
  lane->dirty_next = NULL;
  *s->dirty_end = lane;
  s->dirty_end = &lane->dirty_next;
}

static void flush(struct session *s) {
  while (s->dirty) {
    struct lane *lane = s->dirty;
    s->dirty = lane->dirty_next;
    if (!s->dirty) s->dirty_end = &s->dirty;
    lane->dirty = false;
    lane_flush(lane);
    if (lane_idle(lane)) free_lane(s, lane);
  }
}

static void each_lane(struct session *s, void (*visit)(struct lane *lane)) {
  for (struct lane *lane = s->lanes; lane; lane = lane->older) visit(lane);
}

static void each_contender(struct session *s,
                           void (*visit)(struct contender *c)) {
  for (struct lane *lane = s->lanes; lane; lane = lane->older) {
    struct contender *next;
    for (struct contender *c = lane->first; c; c = next) {
      next = c->next;
      visit(c);
    }
  }
}

/* Requests. */

static bool is_write(enum op_kind kind) {
  return kind == OP_CREATE || kind == OP_REMOVE || kind == OP_MKDIR ||
         kind == OP_HEARTBEAT;
}

/* A refusal is a committed transaction too, if it is one of these. */
static bool is_committed(int rc) {
  return rc == REPLY_OK || rc == REPLY_NO_NODE || rc == REPLY_NODE_EXISTS ||
         rc == REPLY_NOT_EMPTY || rc == REPLY_NO_AUTH;
}

void session_retry(struct session *s) {
  if (s->retry_at == NEVER) s->retry_at = s->now + RETRY_AFTER;
}

static bool must_be_alone(const struct session *s, const struct op *op) {
  return op->kind == OP_CREATE &&
         suspicion_isolates(&s->suspicion, s->now, op->bytes);
}

/* The nudge may go at any time: it is what helps a server that does not answer
 * the one that is alone, and none closes its connection at a ping. */
static bool may_be_sent(const struct session *s, const struct op *op) {
  if (op == &s->nudge) return true;
  return !s->alone && (!s->flight || !must_be_alone(s, op));
}

static void append(struct op ***end, struct op *op) {
  op->in_flight = true;
  op->next = NULL;
  **end = op;
  *end = &op->next;
}

static bool transmit(struct session *s, struct op *op) {
  bool alone = must_be_alone(s, op);
  op->sent = s->now;
  op->round = is_write(op->kind) && !s->round_in_flight;
  if (!s->transport.submit(s->transport.self, op)) {
    session_retry(s);
    return false;
  }
  if (op == &s->heartbeat) {
    s->begun = s->connection;
    counter_add(&s->counters.heartbeats, 1);
  }
  if (op == &s->nudge) counter_add(&s->counters.nudges, 1);
  append(&s->flight_end, op);
  if (alone) s->alone = op;
  if (op->round) {
    s->round_in_flight = true;
    s->round_sent = s->now;
  }
  counter_add(&s->counters.requests, 1);
  counter_add(&s->counters.in_flight, 1);
  return true;
}

/* One that must be sent alone is a barrier: it waits until everything before
 * it is answered, and everything behind it waits until it is.  So its moment
 * comes however busy the session is; the others lose a round trip. */
static void send_held(struct session *s) {
  while (s->held && may_be_sent(s, s->held)) {
    struct op *op = s->held, *next = op->next;
    if (!transmit(s, op)) return;
    s->held = next;
    if (!next) s->held_end = &s->held;
  }
}

/* In a connection that is not the session's first a round goes before anything
 * else.  A server answers in order what a session asks, so whatever it reads
 * is then at least as new as that round: as new as all that was answered in
 * other connections, and not what a server shows that lags, or that is no
 * leader any more and does not know.  (The library sees to that by itself, but
 * not beyond the life of its handle.) */
static bool begin_connection(struct session *s) {
  return s->begun == s->connection || session_submit(s, &s->heartbeat);
}

bool session_submit(struct session *s, struct op *op) {
  assert(!op->in_flight);
  if (!session_is_connected(s)) return false;
  if (op != &s->heartbeat && !begin_connection(s)) return false;
  op->serial = ++s->serial;
  op->bytes = op_bytes(op);
  bool behind = s->held && op != &s->nudge;
  if (!behind && may_be_sent(s, op)) return transmit(s, op);
  op->round = false;
  append(&s->held_end, op);
  return true;
}

bool session_defers(struct session *s, const struct op *create) {
  if (s->now >= s->trusted_at ||
      !suspicion_defers(&s->suspicion, s->now, op_bytes(create)))
    return false;
  s->resume_at = s->trusted_at;
  return true;
}

void session_found(struct session *s, const struct op *create) {
  suspicion_answered(&s->suspicion, s->now, create->bytes);
}

bool session_refuses(const struct session *s, const struct op *create) {
  return suspicion_refuses(&s->suspicion, s->now, op_bytes(create));
}

static void round_confirmed(struct session *s, const struct op *op) {
  lease_confirm(&s->lease, op->sent, s->now);
  s->expiries_in_row = 0;
  hear_again(s);
  if (!s->proof_wanted || !session_lease_stands(s)) return;
  s->proof_wanted = false;
  each_contender(s, contender_proved);
}

static void finish_op(struct session *s, struct op *op,
                      const struct reply *reply) {
  op->in_flight = false;
  if (op == s->alone) s->alone = NULL;
  if (is_committed(reply->rc))
    suspicion_answered(&s->suspicion, s->now, op->bytes);
  if (op->round) {
    s->round_in_flight = false;
    if (is_committed(reply->rc)) round_confirmed(s, op);
  }
  op->handler(op, reply);
}

/* Whom does the loss accuse? */
static void suspect(struct session *s) {
  int largest = 0, alone = 0;
  for (const struct op *op = s->flight; op; op = op->next)
    if (op->kind == OP_CREATE && op->bytes > largest) largest = op->bytes;
  if (s->alone && s->now < s->alone->sent + s->timeout / 4)
    alone = s->alone->bytes;
  suspicion_lost(&s->suspicion, s->now, alone, largest);
}

/* Nobody will answer these any more: each may have been applied or not. */
static void lose_flight(struct session *s) {
  static const struct reply lost = {.rc = REPLY_LOST};
  s->counters.in_flight = 0;
  *s->flight_end = s->held;
  struct op *op = s->flight;
  s->flight = s->held = NULL;
  s->flight_end = &s->flight;
  s->held_end = &s->held;
  while (op) {
    struct op *next = op->next;
    finish_op(s, op, &lost);
    op = next;
  }
}

void session_reply(struct session *s, int64_t now, uint64_t serial,
                   const struct reply *reply) {
  s->now = now;
  struct op **link =
      &s->flight; /* (not sorted: the nudge goes before others) */
  while (*link && (*link)->serial != serial) link = &(*link)->next;
  struct op *op = *link;
  if (!op) return; /* of a connection that is over */
  counter_add(&s->counters.in_flight, -1);
  *link = op->next;
  if (!*link) s->flight_end = link;
  finish_op(s, op, reply);
  send_held(s);
}

/* The lease. */

void session_prove(struct session *s) { s->proof_wanted = true; }

static void on_heartbeat(struct op *op, const struct reply *reply) {
  (void)op;
  (void)reply; /* what it proves, finish_op has noted */
}

static void on_nudge(struct op *op, const struct reply *reply) {
  (void)op;
  (void)reply;
}

static int64_t not_before_retry(const struct session *s, int64_t due) {
  return s->retry_at != NEVER && due < s->retry_at ? s->retry_at : due;
}

/* While idle, too: the rounds are what the lease of the next acquisition stands
 * on (a little more than T/4 apart, for lease.h's P and Q), and they keep the
 * connection alive.  Who holds pays for a longer lease.  Paced when a lease
 * does not stand, or will not last until the round after next: it may take
 * several. */
static int64_t heartbeat_due(const struct session *s) {
  if (!session_is_connected(s) || s->round_in_flight || s->heartbeat.in_flight)
    return NEVER;
  int64_t timeout = s->lease.timeout;
  int64_t pause = timeout / 10 * 3;
  if (s->active > 0) {
    pause = s->holders > 0 ? lease_pace(&s->lease) : timeout / 6;
    bool lasts = s->lease.until >= s->round_sent + 2 * pause;
    if (!lasts || s->proof_wanted) pause = timeout / 24;
  }
  return not_before_retry(s, s->round_sent + pause);
}

/* Who holds for long watches its own node; who does not pays nothing. */
static int64_t guard_due(const struct session *s) {
  if (!session_is_connected(s) || s->holders == 0) return NEVER;
  return not_before_retry(s, s->guarded + s->lease.timeout / 6);
}

static int64_t nudge_due(const struct session *s) {
  if (!session_is_connected(s) || !s->flight || s->nudge.in_flight)
    return NEVER;
  int64_t since = s->flight->sent;
  if (s->nudge.sent > since) since = s->nudge.sent; /* one at a time */
  return not_before_retry(s, since + NUDGE_AFTER);
}

static void keep_alive(struct session *s) {
  if (heartbeat_due(s) <= s->now) session_submit(s, &s->heartbeat);
  if (guard_due(s) <= s->now) {
    s->guarded = s->now;
    each_contender(s, contender_guard);
  }
  if (nudge_due(s) <= s->now) session_submit(s, &s->nudge);
}

/* The user. */

/* The lane of a path, made if need be; NULL: no memory. */
struct lane *session_lane(struct session *s, const char *path) {
  size_t length = strlen(path);
  struct lane *lane = find_lane(s, path, length);
  if (!lane) {
    lane = lane_new(s, path);
    if (!lane) return NULL;
    struct lane **bucket = bucket_of(s, path, length);
    lane->next = *bucket;
    *bucket = lane;
    lane->older = s->lanes;
    if (s->lanes) s->lanes->newer = lane;
    s->lanes = lane;
  }
  session_dirty(s, lane); /* somebody enters, or it is freed */
  return lane;
}

bool session_acquire(struct session *s, int64_t now, struct contender *c,
                     const char *path) {
  s->now = now;
  struct lane *lane = session_lane(s, path);
  if (lane) contender_join(c, lane);
  return lane != NULL;
}

void session_release(struct session *s, int64_t now, struct contender *c) {
  s->now = now;
  contender_release(c);
}

void session_cancel(struct session *s, int64_t now, struct contender *c) {
  s->now = now;
  contender_refuse(c, VERDICT_CANCELLED, 0);
}

void session_lose(struct session *s, int64_t now, struct contender *c,
                  enum loss why) {
  s->now = now;
  contender_lose(c, why);
}

void session_watch(struct session *s, int64_t now, struct contender *c) {
  s->now = now;
  contender_guard(c);
}

bool session_ask(struct session *s, int64_t now, struct op *op) {
  s->now = now;
  return session_submit(s, op);
}

void session_close(struct session *s, int64_t now) {
  s->now = now;
  change_state(s, SESSION_CLOSED);
  lose_flight(s);
  each_contender(s, contender_close);
  each_lane(s, watch_sweep);
  s->renew_at = s->retry_at = s->resume_at = NEVER;
}

void session_free(struct session *s) {
  flush(s);
  while (s->lanes) free_lane(s, s->lanes);
}

/* The world. */

void session_attempting(struct session *s, int64_t now, int64_t started) {
  if (s->state == SESSION_CLOSED || s->id == 0) return;
  s->now = now;
  lease_attempting(&s->lease, started);
}

void session_connected(struct session *s, int64_t now, int64_t id,
                       int64_t timeout, int64_t started) {
  if (s->state == SESSION_CLOSED) return;
  if (s->state == SESSION_CONNECTED) session_disconnected(s, now);
  bool same = s->id == id && s->id != 0;
  if (s->id != 0 && !same) session_expired(s, now);
  session_attempting(s, now, started);
  s->now = now;
  s->id = id;
  s->timeout = timeout;
  s->connection++;
  /* Who holds or waits needs a proof at once. */
  s->round_sent = s->active > 0 ? now - timeout : now;
  s->refused = false;
  s->trusted_at = now + (timeout / 5 < YOUNG_MAX ? timeout / 5 : YOUNG_MAX);
  s->renew_at = NEVER;
  lease_connected(&s->lease, started, timeout);
  if (!same) s->begun = s->connection;
  change_state(s, SESSION_CONNECTED);
  if (same) counter_add(&s->counters.reconnects, 1);
  each_lane(s, lane_connected);
}

void session_disconnected(struct session *s, int64_t now) {
  s->now = now;
  if (!session_is_connected(s)) return;
  change_state(s, SESSION_SUSPENDED);
  s->lost_at = now;
  s->resume_at = NEVER;
  suspect(s);
  lose_flight(s);
  each_lane(s, watch_sweep);
  each_contender(s, contender_disconnected);
}

static void refuse_entry(struct contender *c) {
  contender_refuse(c, VERDICT_AUTH, REASON_CREDENTIALS);
}

void session_refused(struct session *s, int64_t now) {
  if (s->state == SESSION_CLOSED) return;
  session_disconnected(s, now);
  s->now = now;
  s->refused = true;
  session_trouble(s, "cannot authenticate", s->chroot[0] ? s->chroot : "/",
                  REASON_CREDENTIALS);
  if (s->id != 0) change_state(s, SESSION_SUSPENDED);
  each_contender(s, refuse_entry);
}

static void rewind_lane(struct lane *lane) {
  lane->parked = lane->first;
  session_dirty(lane->session, lane);
}

void session_expired(struct session *s, int64_t now) {
  if (s->state == SESSION_CLOSED) return;
  session_disconnected(s, now);
  s->now = now;
  s->id = 0;
  /* Before the new session has a lease, nobody of the old one may hold. */
  each_contender(s, contender_session_ended);
  each_lane(s, rewind_lane);
  lease_reset(&s->lease);
  counter_add(&s->counters.expiries, 1);
  int64_t backoff = (50 * MILLISECOND)
                    << (s->expiries_in_row < 6 ? s->expiries_in_row : 6);
  if (backoff > BACKOFF_MAX) backoff = BACKOFF_MAX;
  s->jitter = s->jitter * UINT64_C(6364136223846793005) + 1;
  if (s->expiries_in_row++ == 0) backoff = 0;
  s->renew_at = now + backoff / 2 +
                (int64_t)((s->jitter >> 33) % (uint64_t)(backoff / 2 + 1));
  change_state(s, SESSION_EXPIRED);
}

/* Without attempts a server would have expired it: after the timeout, and a
 * tick, which is half of it at most.  And nobody holds. */
bool session_is_beyond_help(const struct session *s, int64_t now) {
  return s->state == SESSION_SUSPENDED && s->counters.pending_releases > 0 &&
         now >= s->lost_at + s->timeout / 2 * 3;
}

void session_event(struct session *s, int64_t now, enum watch_event event,
                   const char *path) {
  s->now = now;
  if (!session_is_connected(s)) return;
  counter_add(&s->counters.events, 1);
  struct lane *directory = find_lane(s, path, strlen(path));
  if (directory && event != WATCH_CHANGED) lane_children_changed(directory);
  if (event == WATCH_CHILDREN) return;
  const char *slash = strrchr(path, '/');
  if (!slash) return;
  struct lane *lane = find_lane(s, path, (size_t)(slash - path));
  if (lane) watch_fired(lane, path, event);
}

/* The clock. */

static void run_timers(struct session *s) {
  struct timer *timer;
  while ((timer = timer_pop(&s->timers, s->now))) {
    struct contender *c =
        (struct contender *)((char *)timer - offsetof(struct contender, timer));
    contender_due(c);
  }
}

void session_run(struct session *s, int64_t now) {
  if (s->state == SESSION_CLOSED) return;
  s->now = now;
  if (s->holders > 0 && now >= s->lease.until)
    each_contender(s, contender_lose_by_lease);
  run_timers(s);
  if (s->renew_at <= now) {
    s->renew_at = NEVER;
    s->transport.open(s->transport.self);
  }
  if (s->retry_at <= now) {
    s->retry_at = NEVER;
    send_held(s);
    each_lane(s, lane_drive);
    each_lane(s, rewind_lane);
  }
  if (s->resume_at <= now) {
    s->resume_at = NEVER;
    each_lane(s, lane_drive);
  }
  flush(s);
  keep_alive(s);
  flush(s);
}

int64_t session_due(const struct session *s) {
  int64_t due = timers_due(&s->timers);
  int64_t others[] = {heartbeat_due(s),
                      guard_due(s),
                      nudge_due(s),
                      s->renew_at,
                      s->retry_at,
                      s->resume_at,
                      s->holders > 0 ? s->lease.until : NEVER};
  for (size_t i = 0; i < sizeof others / sizeof *others; i++)
    if (others[i] < due) due = others[i];
  return due;
}
