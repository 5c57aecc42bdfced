/* The wire: requests on their way to ZooKeeper and back, in one connection after
 * another, and the lease, which is what their answers prove.  Knows nothing of
 * locks. */
#ifndef ZKLOCK_WIRE_H
#define ZKLOCK_WIRE_H

#include <stdatomic.h>

#include "chore.h"
#include "lease.h"
#include "name.h"
#include "op.h"

#pragma GCC visibility push(hidden)

#define SESSION_COUNTERS(X) \
  X(requests)               \
  X(in_flight)              \
  X(grants)                 \
  X(handoffs)               \
  X(timeouts)               \
  X(lost)                   \
  X(reconnects)             \
  X(expiries)               \
  X(heartbeats)             \
  X(nudges)                 \
  X(lists)                  \
  X(strays)                 \
  X(watches)                \
  X(events)                 \
  X(pending_releases)       \
  X(refused_releases)       \
  X(waiting)

/* Written by the protocol's thread alone, read by any. */
struct counters {
#define X(name) _Atomic uint64_t name;
  SESSION_COUNTERS(X)
#undef X
};

/* Whom the wire tells. */
struct wire_owner {
  void *self;
  /* A round was answered: the lease is longer. */
  void (*proved)(void *self);
  /* A hold ends with the lease: the servers are too silent. */
  void (*silent)(void *self);
  void (*trouble)(void *self, const char *message, const char *path, int rc);
};

/* After a server has said *not now* (reply_is_transient): what it refused is asked
 * for again after a pause, which grows with each refusal in a row.  In another
 * connection, perhaps to another server, it is asked for at once. */
struct refusals {
  int64_t until;
  unsigned connection; /* in which the pause was made */
  int16_t times;       /* refusals in a row, a pause apart */
  int16_t rc;          /* the last of them; 0: none */
};

/* How soon a session needs its next proof. */
enum need { NEED_IDLE, NEED_WAITING, NEED_HOLDING };

struct wire {
  struct transport transport;
  struct wire_owner owner;
  struct chores step, batch; /* chore.h: to be done at the end of each */
  struct counters counters;
  struct name_base base; /* of the names of this session's nodes */
  size_t chroot_length;

  int64_t now;
  bool connected;
  unsigned connection;   /* counts connections; 0: none yet */
  unsigned begun;        /* the last that has begun: with a round */
  int64_t session;       /* ZooKeeper's session id; 0: none */
  int64_t former;        /* the one before it, which is over, or ours to end */
  int64_t timeout;       /* as negotiated last; the lease has its own */
  bool no_containers;    /* the server does not know them */
  bool doubts_acl;       /* of what we make: might it shut out ourselves? */
  unsigned rehearsed_in; /* the connection in which a server has said no */

  struct lease lease;
  struct op heartbeat, nudge;
  bool round_in_flight;
  bool round_refused; /* one was, and none was confirmed since */
  bool proof_wanted;  /* somebody is first and the lease does not stand */
  int64_t round_sent, round_before; /* when the last two rounds were sent */
  int64_t retry_at; /* something could not be sent: when to try again */

  uint64_t serial;
  struct op *flight, **flight_end; /* sent and not answered, in order */
  struct op *held, **held_end;     /* to be sent, in order */
  struct op *lingers;              /* waits for another to join it; or NULL */
  struct op *put_off;        /* those that insist, and are to be sent again */
  struct refusals insisting; /* ... then */
  int64_t resume_at;         /* something is held back until then; or NEVER */
  int64_t look_at;           /* watches are to be polled (watch.c); or NEVER */
  uint64_t jitter;           /* the state of a small generator */
};

void wire_init(struct wire *wire, const struct transport *transport,
               const struct wire_owner *owner, const char *chroot,
               const unsigned char random[16]);

/* What was submitted is sent in that order, at once or when it may be, and
 * answered.  False: there is no connection, or it could not be sent, and is to
 * be tried again when wire_is_to_retry says so. */
bool wire_submit(struct wire *wire, struct op *op);
void wire_retry(struct wire *wire);
void wire_trouble(struct wire *wire, const char *message, const char *path,
                  int rc);

/* Half of the pause, and a random part of the other half. */
int64_t wire_jitter(struct wire *wire, int64_t pause);
/* A server has refused for now, because of `rc`; or it has not. */
void wire_back_off(struct wire *wire, struct refusals *refusals, int rc);
static inline void refusals_end(struct refusals *refusals) {
  *refusals = (struct refusals){0};
}
/* True: the pause is not over, and wire_is_to_resume will say when it is. */
bool wire_holds_back(struct wire *wire, const struct refusals *refusals);
/* The same of a time. */
bool wire_waits_until(struct wire *wire, int64_t at);

/* Nobody has joined the one that waits for that: it goes by itself. */
void wire_flush(struct wire *wire);

/* Is what this session owns a node of ours?  (What is left of the one that we
 * have given up is waited for by nobody of ours, and held by nobody.) */
static inline bool wire_owns(const struct wire *wire, int64_t owner) {
  return owner != 0 && (owner == wire->session || owner == wire->former);
}

static inline bool wire_lease_stands(const struct wire *wire) {
  return wire->now < wire->lease.until;
}
/* Is a hold that is granted now kept, if nothing goes wrong from now on? */
static inline bool wire_lease_lasts(const struct wire *wire) {
  return wire_lease_stands(wire) && lease_lasts(&wire->lease, wire->now);
}
/* Renews the lease as soon as possible. */
void wire_prove(struct wire *wire);

/* For the session. */

void wire_connected(struct wire *wire, int64_t session, int64_t timeout,
                    int64_t started, bool needed);
/* Answers all that was in flight: nobody will. */
void wire_disconnected(struct wire *wire);
/* The ZooKeeper session is over, or given up. */
void wire_expired(struct wire *wire);
void wire_closed(struct wire *wire);
void wire_reply(struct wire *wire, uint64_t serial, const struct reply *reply);

/* Is it time?  Each says so once. */
bool wire_is_to_retry(struct wire *wire);
bool wire_is_to_resume(struct wire *wire);
/* Sends again what insists. */
void wire_insist(struct wire *wire);
/* Polls watches (watch.c) after T/6, or a little earlier: true, once. */
void wire_look_later(struct wire *wire);
bool wire_is_to_look(struct wire *wire);
/* Not before something is tried again that could not be sent. */
int64_t wire_not_before_retry(const struct wire *wire, int64_t due);
/* Rounds, as often as they are needed; and company for what is unanswered. */
void wire_beat(struct wire *wire, enum need need);
void wire_nudge(struct wire *wire);
/* When any of these must be called. */
int64_t wire_due(const struct wire *wire, enum need need);

static inline void counter_add(_Atomic uint64_t *counter, int n) {
  /* One writer: a load and a store do, no locked instruction. */
  atomic_store_explicit(counter,
                        atomic_load_explicit(counter, memory_order_relaxed) +
                            (uint64_t)n,
                        memory_order_relaxed);
}

#pragma GCC visibility pop

#endif
