/* The states of a session:
 *
 *   CONNECTING ──► CONNECTED ◄──► SUSPENDED        connected, disconnected
 *                   ▲      │         │
 *                   │      ▼         ▼
 *                   └── EXPIRED ◄────┘             expired: all nodes are gone
 *
 *   CLOSED can follow any of them, and is the last.
 *
 * Each call of session.h is a step.  It begins by setting the time, and ends
 * with the chores added in it (chore.h).  A call inside another one, such as
 * from a reply handler, is a part of the outer step. */
#include "session.h"

#include <assert.h>
#include <string.h>

#include "doubts.h"
#include "way.h"

#define MILLISECOND INT64_C(1000000)
#define BACKOFF_MAX (2000 * MILLISECOND)
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

/* A call inside a step may have read a later time, and the time never goes
 * back. */
static void begin(struct session *s, int64_t now) {
  assert(s->wire.connected == session_is_connected(s));
  if (now > s->wire.now) s->wire.now = now;
  s->calls++;
}

static void end(struct session *s) {
  assert(s->wire.connected == session_is_connected(s));
  if (s->calls == 1) chores_run(&s->wire.step);
  s->calls--;
}

/* Reporting to the listener. */

static void trouble(void *self, const char *message, const char *path, int rc) {
  struct session *s = self;
  s->listener.trouble(s->listener.self, message, path, rc);
}

static void change_state(struct session *s, enum session_state state) {
  if (s->state == state) return;
  bool told = s->silent && state == SESSION_SUSPENDED;
  s->silent = false;
  s->state = state;
  if (!told) s->listener.session(s->listener.self, state);
}

static void fall_silent(void *self) {
  struct session *s = self;
  if (!session_is_connected(s) || s->silent) return;
  s->silent = true;
  s->listener.session(s->listener.self, SESSION_SUSPENDED);
}

void session_fall_silent(struct session *s, int64_t now) {
  begin(s, now);
  fall_silent(s);
  end(s);
}

static void hear_again(struct session *s) {
  if (!s->silent || !wire_lease_stands(&s->wire)) return;
  s->silent = false;
  s->listener.session(s->listener.self, SESSION_CONNECTED);
}

/* Creating and freeing a session. */

/* A round was answered. */
static void proved(void *self) {
  struct session *s = self;
  s->expirations_in_row = 0;
  hear_again(s);
  if (!s->wire.proof_wanted || !wire_lease_lasts(&s->wire)) return;
  s->wire.proof_wanted = false;
  queues_each_contender(&s->queues, life_proved);
}

void session_init(struct session *s, const struct session_options *options,
                  const struct transport *transport,
                  const struct listener *listener, int64_t now) {
  struct wire_owner owner = {s, proved, fall_silent, trouble};
  memset(s, 0, sizeof *s);
  s->listener = *listener;
  s->chroot = options->chroot;
  s->renew_at = NEVER;
  wire_init(&s->wire, transport, &owner, options->chroot, options->random);
  s->wire.now = now;
  lease_init(&s->wire.lease, options->min_timeout, options->tick);
  s->all.wire = &s->wire;
  s->all.next_id = 1;
  queues_init(&s->queues, &s->all);
  vigils_init(&s->vigils, &s->all);
  nonces_init(&s->nonces, &s->wire);
  departures_init(&s->departures, &s->vigils);
  doubts_init(&s->all.doubts);
  s->wire.doubts_acl = options->doubts_acl;
}

void session_open(struct session *s, int64_t now) {
  begin(s, now);
  s->wire.transport.open(s->wire.transport.self);
  end(s);
}

void session_free(struct session *s) {
  queues_free(&s->queues);
  nonces_end(&s->nonces);
}

/* Calls of the user. */

static const struct way *way_of(enum kind kind) {
  return kind == KIND_PERMIT   ? &semaphore_way
         : kind == KIND_UNFAIR ? &unfair_way
         : kind == KIND_MEMBER ? &gathering_way
                               : &queued_way;
}

static void refuse_credentials(struct session *s, struct contender *c) {
  life_deny(c, CANNOT_AUTHENTICATE, s->wire.chroot_length, s->refused);
}

/* An impatient request sends its requests once and waits for no connection.  It
 * waits neither for the first connection nor for the next, nor while the
 * session shows as suspended because the servers are silent. */
static bool is_out_of_reach(const struct session *s, bool patient) {
  return !patient && (!session_is_connected(s) || s->silent);
}

static void refuse_entry(struct session *s, struct contender *c) {
  if (s->refused) {
    trouble(s, "cannot contend", directory_path(&c->queue->directory),
            s->refused);
    refuse_credentials(s, c);
  } else if (is_out_of_reach(s, c->options.patient)) {
    life_refuse(c, VERDICT_DISCONNECTED, 0);
  }
}

bool session_acquire(struct session *s, int64_t now, struct contender *c,
                     const char *path) {
  begin(s, now);
  struct queue *queue = queues_get(&s->queues, path);
  if (queue) {
    life_begin(c, queue, way_of(c->options.kind));
    refuse_entry(s, c);
  }
  end(s);
  return queue != NULL;
}

void session_release(struct session *s, int64_t now, struct contender *c) {
  begin(s, now);
  life_release(c);
  end(s);
}

void session_cancel(struct session *s, int64_t now, struct contender *c) {
  begin(s, now);
  life_refuse(c, VERDICT_CANCELLED, 0);
  end(s);
}

void session_lose(struct session *s, int64_t now, struct contender *c,
                  enum loss why) {
  begin(s, now);
  life_lose(c, why);
  end(s);
}

void session_watch(struct session *s, int64_t now, struct contender *c) {
  begin(s, now);
  life_watch_own(c);
  end(s);
}

void session_look_around(struct session *s, int64_t now, struct contender *c) {
  begin(s, now);
  queue_look_around(c);
  end(s);
}

/* Vigils and departures, which have no contender. */

static void refuse_the_rest(struct session *s, enum verdict why, int reason) {
  departures_refuse(&s->departures, why, reason);
  vigils_refuse(&s->vigils, why, reason);
}

bool session_keep_vigil(struct session *s, int64_t now, struct vigil *v) {
  begin(s, now);
  bool begun = vigil_begin(&s->vigils, v);
  if (begun && s->refused)
    vigil_refuse(v, VERDICT_AUTH, s->refused);
  else if (begun && is_out_of_reach(s, v->patient))
    vigil_refuse(v, VERDICT_DISCONNECTED, 0);
  end(s);
  return begun;
}

void session_end_vigil(struct session *s, int64_t now, struct vigil *v) {
  begin(s, now);
  vigil_refuse(v, VERDICT_CANCELLED, 0);
  end(s);
}

void session_depart(struct session *s, int64_t now, struct departure *d) {
  begin(s, now);
  departure_begin(&s->departures, d);
  if (s->refused)
    departure_refuse(d, VERDICT_AUTH, s->refused);
  else if (is_out_of_reach(s, d->patient))
    departure_refuse(d, VERDICT_DISCONNECTED, 0);
  end(s);
}

void session_end_departure(struct session *s, int64_t now,
                           struct departure *d) {
  begin(s, now);
  departure_refuse(d, VERDICT_CANCELLED, 0);
  end(s);
}

bool session_ask(struct session *s, int64_t now, struct op *op) {
  begin(s, now);
  bool sent = wire_submit(&s->wire, op);
  end(s);
  return sent;
}

void session_close(struct session *s, int64_t now) {
  begin(s, now);
  change_state(s, SESSION_CLOSED);
  wire_closed(&s->wire);
  queues_each_contender(&s->queues, life_close);
  refuse_the_rest(s, VERDICT_CLOSED, 0);
  queues_each(&s->queues, queue_closed);
  s->renew_at = NEVER;
  end(s);
}

/* Reports of the client. */

void session_attempting(struct session *s, int64_t now) {
  if (s->state == SESSION_CLOSED || s->wire.session == 0) return;
  begin(s, now);
  lease_attempting(&s->wire.lease, now);
  end(s);
}

void session_greeted(struct session *s, int64_t now, int64_t timeout,
                     int64_t started) {
  if (s->state == SESSION_CLOSED) return;
  begin(s, now);
  lease_connected(&s->wire.lease, started, timeout);
  end(s);
}

/* Ends the last connection and session first, as steps of their own.  So their
 * chores run before any contender is driven. */
void session_connected(struct session *s, int64_t now, int64_t id,
                       int64_t timeout, int64_t started) {
  if (s->state == SESSION_CLOSED) return;
  if (session_is_connected(s)) session_disconnected(s, now);
  bool same = s->wire.session == id && id != 0;
  if (s->wire.session != 0 && !same) session_expired(s, now);
  if (same) lease_attempting(&s->wire.lease, started);
  begin(s, now);
  s->refused = 0;
  s->renew_at = NEVER;
  wire_connected(&s->wire, id, timeout, started, s->all.active > 0);
  nonces_drive(&s->nonces);
  change_state(s, SESSION_CONNECTED);
  if (same) counter_add(&s->wire.counters.reconnects, 1);
  queues_each(&s->queues, queue_connected);
  vigils_connected(&s->vigils);
  departures_drive(&s->departures);
  end(s);
}

void session_disconnected(struct session *s, int64_t now) {
  begin(s, now);
  if (session_is_connected(s)) {
    change_state(s, SESSION_SUSPENDED);
    s->lost_at = now;
    wire_disconnected(&s->wire);
    queues_each(&s->queues, queue_sweep);
    queues_each_contender(&s->queues, life_disconnected);
    queues_each(&s->queues, queue_disconnected);
    departures_disconnected(&s->departures);
    vigils_disconnected(&s->vigils);
  }
  end(s);
}

void session_refused(struct session *s, int64_t now, int reason) {
  if (s->state == SESSION_CLOSED) return;
  session_disconnected(s, now);
  begin(s, now);
  s->refused = reason;
  trouble(s, CANNOT_AUTHENTICATE, s->chroot[0] ? s->chroot : "/", reason);
  if (s->wire.session != 0) change_state(s, SESSION_SUSPENDED);
  for (struct queue *q = s->queues.newest; q; q = q->older)
    for (struct contender *c = q->first; c; c = c->next)
      refuse_credentials(s, c);
  refuse_the_rest(s, VERDICT_AUTH, reason);
  end(s);
}

/* Returns the pause before the next session, which grows with each expiry in a
 * row. */
static int64_t backoff(struct session *s) {
  int shift = s->expirations_in_row < 6 ? s->expirations_in_row : 6;
  int64_t pause = (50 * MILLISECOND) << shift;
  if (pause > BACKOFF_MAX) pause = BACKOFF_MAX;
  return s->expirations_in_row++ == 0 ? 0 : wire_jitter(&s->wire, pause);
}

void session_expired(struct session *s, int64_t now) {
  if (s->state == SESSION_CLOSED) return;
  session_disconnected(s, now);
  begin(s, now);
  wire_expired(&s->wire);
  /* No hold of the old session may exist when the new session has a lease. */
  queues_each_contender(&s->queues, life_session_ended);
  queues_each(&s->queues, doubts_end);
  nonces_end(&s->nonces);
  queues_each(&s->queues, queue_rewind);
  lease_reset(&s->wire.lease);
  counter_add(&s->wire.counters.expirations, 1);
  s->renew_at = now + backoff(s);
  change_state(s, SESSION_EXPIRED);
  end(s);
}

/* Without attempts a server would have expired the session by now: after its
 * timeout and a tick, which is at most half the timeout.  Each lease ended
 * before that.  But after a suspend the holds may still exist; their own clock
 * ends them. */
bool session_is_beyond_help(const struct session *s, int64_t now) {
  return s->state == SESSION_SUSPENDED && s->all.holders == 0 &&
         s->wire.counters.pending_releases > 0 &&
         now >= s->lost_at + s->wire.timeout / 2 * 3;
}

void session_reply(struct session *s, int64_t now, uint64_t serial,
                   const struct reply *reply) {
  begin(s, now);
  wire_reply(&s->wire, serial, reply);
  end(s);
}

void session_event(struct session *s, int64_t now, enum watch_event event,
                   const char *path) {
  begin(s, now);
  if (session_is_connected(s)) {
    counter_add(&s->wire.counters.events, 1);
    queues_hear(&s->queues, event, path);
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
  if (s->all.holders == 0 || wire_lease_stands(&s->wire)) return;
  queues_each_contender(&s->queues, life_lose_overdue);
}

static void open_session(struct session *s) {
  if (s->renew_at > s->wire.now) return;
  s->renew_at = NEVER;
  s->wire.transport.open(s->wire.transport.self);
}

static void try_again(struct session *s) {
  bool resumes = wire_is_to_resume(&s->wire);
  if (resumes) wire_insist(&s->wire);
  if (wire_is_to_retry(&s->wire) || resumes) {
    nonces_drive(&s->nonces);
    queues_each(&s->queues, queue_sweep);
    queues_each(&s->queues, queue_drive);
    queues_each(&s->queues, queue_rewind);
    vigils_drive(&s->vigils);
    departures_drive(&s->departures);
  }
  if (wire_is_to_look(&s->wire)) queues_each(&s->queues, queue_look_again);
}

void session_run(struct session *s, int64_t now) {
  if (s->state == SESSION_CLOSED) return;
  begin(s, now);
  assert(s->calls == 1);
  end_holds(s);
  chores_run(&s->wire.step);
  queues_run_timers(&s->queues);
  vigils_run(&s->vigils);
  chores_run(&s->wire.step);
  open_session(s);
  try_again(s);
  queues_look_for_late_nodes(&s->queues);
  queues_flush(&s->queues);
  wire_beat(&s->wire, need_of(s));
  queues_watch_holds(&s->queues);
  wire_nudge(&s->wire);
  queues_flush(&s->queues);
  end(s);
}

int64_t session_due(const struct session *s) {
  int64_t due = queues_due(&s->queues);
  int64_t others[] = {wire_due(&s->wire, need_of(s)), s->renew_at,
                      vigils_due(&s->vigils),
                      s->all.holders > 0 ? s->wire.lease.until : NEVER};
  for (size_t i = 0; i < sizeof others / sizeof *others; i++)
    if (others[i] < due) due = others[i];
  return due;
}
