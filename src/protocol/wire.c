#include "wire.h"

#include <assert.h>

#include "timer.h"

#define MILLISECOND INT64_C(1000000)

/* An operation this old gets company: a request lost in the server's commit
 * processor (ZOOKEEPER-4537) is found when another one arrives. */
#define NUDGE_AFTER (250 * MILLISECOND)
#define RETRY_AFTER (100 * MILLISECOND)
#define YOUNG_MAX (1000 * MILLISECOND)

/* Every server reads a create of this size with a delete beside it. */
enum { JOINS_MAX = 1000 };

/* What they prove, finish has noted. */
static void on_answer(struct op *op, const struct reply *reply) {
  (void)op;
  (void)reply;
}

static void init_ops(struct wire *w, const char *chroot,
                     const unsigned char random[16]) {
  char *end = w->heartbeat_path + w->chroot_length;
  assert(w->chroot_length + 1 + NAME_OF_NOTHING <= sizeof w->heartbeat_path);
  strcpy(w->heartbeat_path, chroot);
  *end = '/';
  name_of_nothing(end + 1, random);
  w->heartbeat.kind = OP_HEARTBEAT;
  w->heartbeat.path = w->heartbeat_path;
  w->nudge.kind = OP_PING;
  w->nudge.path = "/";
  w->heartbeat.handler = w->nudge.handler = on_answer;
}

void wire_init(struct wire *w, const struct transport *transport,
               const struct wire_owner *owner, const char *chroot,
               const unsigned char random[16]) {
  w->transport = *transport;
  w->owner = *owner;
  w->chroot_length = strlen(chroot);
  name_base_init(&w->base, random);
  chores_init(&w->step);
  chores_init(&w->batch);
  w->flight_end = &w->flight;
  w->held_end = &w->held;
  w->retry_at = w->resume_at = w->look_at = NEVER;
  memcpy(&w->jitter, random + 8, sizeof w->jitter);
  init_ops(w, chroot, random);
}

void wire_trouble(struct wire *w, const char *message, const char *path,
                  int rc) {
  w->owner.trouble(w->owner.self, message, path, rc);
}

/* Sending. */

static bool is_write(enum op_kind kind) {
  return kind == OP_CREATE || kind == OP_REMOVE || kind == OP_MKDIR ||
         kind == OP_HEARTBEAT;
}

void wire_retry(struct wire *w) {
  if (w->retry_at == NEVER) w->retry_at = w->now + RETRY_AFTER;
}

static bool must_be_alone(const struct wire *w, const struct op *op) {
  return op->kind == OP_CREATE &&
         suspicion_isolates(&w->suspicion, w->now, op->bytes);
}

/* The nudge may go at any time: it is what helps a server that does not answer
 * the one that is alone, and none closes its connection at a ping. */
static bool may_be_sent(const struct wire *w, const struct op *op) {
  if (op == &w->nudge) return true;
  return !w->alone && (!w->flight || !must_be_alone(w, op));
}

static void append(struct op ***end, struct op *op) {
  op->in_flight = true;
  op->next = NULL;
  **end = op;
  *end = &op->next;
}

static void count(struct wire *w, const struct op *op) {
  if (op == &w->heartbeat) counter_add(&w->counters.heartbeats, 1);
  if (op == &w->nudge) counter_add(&w->counters.nudges, 1);
  counter_add(&w->counters.in_flight, 1);
}

static void take_off(struct wire *w, struct op *op) {
  bool alone = must_be_alone(w, op);
  op->sent = w->now;
  op->round = is_write(op->kind) && !w->round_in_flight;
  if (op == &w->heartbeat) w->begun = w->connection;
  append(&w->flight_end, op);
  if (alone) w->alone = op;
  if (op->round) {
    w->round_in_flight = true;
    w->round_sent = w->now;
  }
  count(w, op);
}

/* `before`: in one with it; NULL: nothing. */
static bool transmit(struct wire *w, struct op *op, struct op *before) {
  if (!w->transport.submit(w->transport.self, op, before)) {
    wire_retry(w);
    return false;
  }
  counter_add(&w->counters.requests, 1);
  if (before) take_off(w, before);
  take_off(w, op);
  return true;
}

/* To be tried again, before whatever comes. */
static void hold(struct wire *w, struct op *op) {
  op->round = false;
  append(&w->held_end, op);
}

/* Two in one.  Who gives a lock back, and wants it again, deletes a node and
 * makes another: one transaction does both.  So such a delete waits for such a
 * create: nothing overtakes it, and it goes by itself before anything else, and
 * at the end of the batch. */

static bool may_linger(const struct wire *w, const struct op *op) {
  return op->kind == OP_REMOVE && op->joins && !w->held && may_be_sent(w, op);
}

static bool may_join(const struct wire *w, const struct op *op) {
  return w->lingers && op->kind == OP_CREATE && op->joins &&
         op->bytes <= JOINS_MAX && !must_be_alone(w, op);
}

static bool transmit_both(struct wire *w, struct op *create) {
  struct op *remove = w->lingers;
  w->lingers = NULL;
  if (transmit(w, create, remove)) return true;
  hold(w, remove);
  return false;
}

void wire_flush(struct wire *w) {
  struct op *op = w->lingers;
  w->lingers = NULL;
  if (op && !transmit(w, op, NULL)) hold(w, op);
}

/* One that must be sent alone is a barrier: it waits until everything before
 * it is answered, and everything behind it waits until it is.  So its moment
 * comes however busy the session is; the others lose a round trip. */
static void send_held(struct wire *w) {
  while (w->held && may_be_sent(w, w->held)) {
    struct op *op = w->held, *next = op->next;
    if (!transmit(w, op, NULL)) return;
    w->held = next;
    if (!next) w->held_end = &w->held;
  }
}

/* In a connection that is not the session's first a round goes before anything
 * else.  A server answers in order what a session asks, so whatever it reads
 * is then at least as new as that round: as new as all that was answered in
 * other connections, and not what a server shows that lags, or that is no
 * leader any more and does not know.  (The library sees to that by itself, but
 * not beyond the life of its handle.) */
static bool begin_connection(struct wire *w) {
  return w->begun == w->connection || wire_submit(w, &w->heartbeat);
}

bool wire_submit(struct wire *w, struct op *op) {
  assert(!op->in_flight);
  if (!w->connected) return false;
  if (op != &w->heartbeat && !begin_connection(w)) return false;
  op->serial = ++w->serial;
  op->bytes = op_bytes(op);
  if (may_join(w, op)) return transmit_both(w, op);
  wire_flush(w);
  if (may_linger(w, op)) {
    op->in_flight = true;
    w->lingers = op;
    return true;
  }
  bool behind = w->held && op != &w->nudge;
  if (!behind && may_be_sent(w, op)) return transmit(w, op, NULL);
  hold(w, op);
  return true;
}

/* Suspicion. */

bool wire_defers(struct wire *w, const struct op *create) {
  if (w->now >= w->trusted_at ||
      !suspicion_defers(&w->suspicion, w->now, op_bytes(create)))
    return false;
  w->resume_at = w->trusted_at;
  return true;
}

void wire_found(struct wire *w, int bytes) {
  suspicion_answered(&w->suspicion, w->now, bytes);
}

bool wire_refuses(const struct wire *w, const struct op *create) {
  return suspicion_refuses(&w->suspicion, w->now, op_bytes(create));
}

/* Whom does the loss accuse? */
static void suspect(struct wire *w) {
  int largest = 0, alone = 0;
  for (const struct op *op = w->flight; op; op = op->next)
    if (op->kind == OP_CREATE && op->bytes > largest) largest = op->bytes;
  if (w->alone && w->now < w->alone->sent + w->timeout / 4)
    alone = w->alone->bytes;
  suspicion_lost(&w->suspicion, w->now, alone, largest);
}

/* Answers. */

static void round_confirmed(struct wire *w, const struct op *op) {
  lease_confirm(&w->lease, op->sent, w->now);
  w->owner.proved(w->owner.self);
}

static void finish(struct wire *w, struct op *op, const struct reply *reply) {
  op->in_flight = false;
  if (op == w->alone) w->alone = NULL;
  if (reply_is_committed(reply->rc))
    suspicion_answered(&w->suspicion, w->now, op->bytes);
  if (op->round) {
    w->round_in_flight = false;
    if (reply_is_committed(reply->rc)) round_confirmed(w, op);
  }
  op->handler(op, reply);
}

/* Each may have been applied or not. */
static void lose_flight(struct wire *w) {
  static const struct reply lost = {.rc = REPLY_LOST};
  w->counters.in_flight = 0;
  if (w->lingers) hold(w, w->lingers);
  w->lingers = NULL;
  *w->flight_end = w->held;
  struct op *op = w->flight;
  w->flight = w->held = NULL;
  w->flight_end = &w->flight;
  w->held_end = &w->held;
  while (op) {
    struct op *next = op->next;
    finish(w, op, &lost);
    op = next;
  }
}

void wire_reply(struct wire *w, uint64_t serial, const struct reply *reply) {
  struct op **link =
      &w->flight; /* (not sorted: the nudge goes before others) */
  while (*link && (*link)->serial != serial) link = &(*link)->next;
  struct op *op = *link;
  if (!op) return; /* of a connection that is over */
  counter_add(&w->counters.in_flight, -1);
  *link = op->next;
  if (!*link) w->flight_end = link;
  finish(w, op, reply);
  send_held(w);
}

/* Connections. */

void wire_connected(struct wire *w, int64_t session, int64_t timeout,
                    int64_t started, bool needed) {
  bool same = w->session == session;
  w->connected = true;
  w->session = session;
  w->timeout = timeout;
  w->connection++;
  /* Who holds or waits needs a proof at once. */
  w->round_sent = needed ? w->now - timeout : w->now;
  w->trusted_at = w->now + (timeout / 5 < YOUNG_MAX ? timeout / 5 : YOUNG_MAX);
  lease_connected(&w->lease, started, timeout);
  if (!same) w->begun = w->connection;
}

void wire_disconnected(struct wire *w) {
  w->connected = false;
  w->resume_at = w->look_at = NEVER;
  suspect(w);
  lose_flight(w);
}

void wire_expired(struct wire *w) {
  if (w->session != 0) w->former = w->session;
  w->session = 0;
}

void wire_closed(struct wire *w) {
  w->connected = false;
  lose_flight(w);
  w->retry_at = w->resume_at = w->look_at = NEVER;
}

/* The clock. */

void wire_prove(struct wire *w) { w->proof_wanted = true; }

static bool is_time(int64_t *at, int64_t now) {
  if (*at > now) return false;
  *at = NEVER;
  return true;
}

bool wire_is_to_retry(struct wire *w) {
  if (!is_time(&w->retry_at, w->now)) return false;
  send_held(w);
  return true;
}

bool wire_is_to_resume(struct wire *w) {
  return is_time(&w->resume_at, w->now);
}

/* (As often as who waits needs a proof anyway.) */
int64_t wire_jitter(struct wire *w, int64_t most) {
  w->jitter = w->jitter * UINT64_C(6364136223846793005) + 1;
  return (int64_t)((w->jitter >> 33) % (uint64_t)(most + 1));
}

/* (Sessions that begin to poll at the same moment do not go on so.) */
void wire_look_later(struct wire *w) {
  int64_t most = w->lease.timeout / 6;
  if (w->look_at == NEVER)
    w->look_at = w->now + most - wire_jitter(w, most / 4);
}

bool wire_is_to_look(struct wire *w) { return is_time(&w->look_at, w->now); }

int64_t wire_not_before_retry(const struct wire *w, int64_t due) {
  return w->retry_at != NEVER && due < w->retry_at ? w->retry_at : due;
}

/* While idle, too: the rounds are what the lease of the next acquisition stands
 * on (a little more than T/4 apart, for lease.h's P and Q), and they keep the
 * connection alive.  Who holds pays for a longer lease.  Paced when a lease
 * does not stand, or will not last until the round after next: it may take
 * several. */
static int64_t beat_due(const struct wire *w, enum need need) {
  if (!w->connected || w->round_in_flight || w->heartbeat.in_flight)
    return NEVER;
  int64_t timeout = w->lease.timeout;
  int64_t pause = timeout / 10 * 3;
  if (need != NEED_IDLE) {
    pause = need == NEED_HOLDING ? lease_pace(&w->lease) : timeout / 6;
    bool lasts = w->lease.until >= w->round_sent + 2 * pause;
    if (!lasts || w->proof_wanted) pause = timeout / 24;
  }
  return wire_not_before_retry(w, w->round_sent + pause);
}

static int64_t nudge_due(const struct wire *w) {
  if (!w->connected || !w->flight || w->nudge.in_flight) return NEVER;
  int64_t since = w->flight->sent;
  if (w->nudge.sent > since) since = w->nudge.sent; /* one at a time */
  return wire_not_before_retry(w, since + NUDGE_AFTER);
}

void wire_beat(struct wire *w, enum need need) {
  if (beat_due(w, need) <= w->now) wire_submit(w, &w->heartbeat);
}

void wire_nudge(struct wire *w) {
  if (nudge_due(w) <= w->now) wire_submit(w, &w->nudge);
}

int64_t wire_due(const struct wire *w, enum need need) {
  int64_t due = beat_due(w, need);
  int64_t others[] = {nudge_due(w), w->retry_at, w->resume_at, w->look_at};
  for (size_t i = 0; i < sizeof others / sizeof *others; i++)
    if (others[i] < due) due = others[i];
  return due;
}
