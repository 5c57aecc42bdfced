/* The wire: requests to ZooKeeper and their replies, over successive
 * connections.  Also the lease, which follows from the replies.  It knows
 * nothing of locks. */
#ifndef ZKLOCK_WIRE_H
#define ZKLOCK_WIRE_H

#include <stdatomic.h>

#include "chore.h"
#include "lease.h"
#include "name.h"
#include "op.h"

#pragma GCC visibility push(hidden)

/* Counters that users need. */
#define PUBLIC_COUNTERS(X) \
  X(requests)              \
  X(in_flight)             \
  X(grants)                \
  X(handoffs)              \
  X(timeouts)              \
  X(losses)                \
  X(reconnects)            \
  X(expirations)           \
  X(heartbeats)            \
  X(watches)               \
  X(events)                \
  X(pending_releases)      \
  X(refused_releases)      \
  X(waiting)

/* Counters of how zklock works inside. */
#define INTERNAL_COUNTERS(X) \
  X(nudges)                  \
  X(lists)                   \
  X(strays)

#define SESSION_COUNTERS(X) \
  PUBLIC_COUNTERS(X)        \
  INTERNAL_COUNTERS(X)

/* Written by the protocol's thread only, read by any thread. */
struct counters {
#define X(name) _Atomic uint64_t name;
  SESSION_COUNTERS(X)
#undef X
};

/* The functions that the wire calls to report to its owner. */
struct wire_owner {
  void *self;
  /* A round was answered: the lease is longer. */
  void (*proved)(void *self);
  /* The lease of a hold has run out: the servers are silent. */
  void (*silent)(void *self);
  void (*trouble)(void *self, const char *message, const char *path, int rc);
};

/* The pause after a transient refusal (reply_is_transient).  The refused
 * request is sent again after it.  The pause grows with each refusal in a row.
 * In a new connection, perhaps to another server, the request is sent at
 * once. */
struct refusals {
  int64_t until;
  unsigned connection; /* the pause holds in this connection only */
  int16_t times;       /* refusals in a row, with pauses between */
  int16_t rc;          /* of the last refusal; 0: none */
};

/* How soon a session needs its next round. */
enum need { NEED_IDLE, NEED_WAITING, NEED_HOLDING };

struct wire {
  struct transport transport;
  struct wire_owner owner;
  struct chores step, batch; /* run at the end of each (chore.h) */
  struct counters counters;
  struct name_base base; /* of this session's node names */
  size_t chroot_length;

  int64_t now;
  bool connected;
  unsigned connection; /* counts connections; 0: none yet */
  unsigned begun;      /* the last connection whose first round was committed */
  int64_t session;     /* ZooKeeper's session id; 0: none */
  int64_t former;      /* the session before, expired or given up */
  int64_t timeout;     /* negotiated last; the lease has its own */
  bool no_containers;  /* the server does not support containers */
  bool doubts_acl;     /* our ACL might deny access to ourselves */
  unsigned rehearsed_in; /* the connection of the last successful rehearsal */

  struct lease lease;
  struct op heartbeat, nudge;
  bool round_in_flight;
  bool round_refused; /* a round was refused, and none confirmed since */
  bool proof_wanted;  /* a contender is first without a lasting lease */
  int64_t round_sent, round_before; /* when the last two rounds were sent */
  int64_t retry_at;                 /* when to repeat what could not be sent */

  uint64_t serial;
  struct op *flight, **flight_end; /* sent and not answered, in order */
  struct op *held, **held_end;     /* waiting to be sent, in order */
  struct op *lingers; /* a delete that waits for a create to join; or NULL */
  struct op *put_off; /* ops with `insists` that wait to be resent */
  struct refusals insisting; /* the pause of `put_off` */
  int64_t resume_at;         /* the end of the earliest pause; or NEVER */
  int64_t look_at;           /* when to poll watches (watch.c); or NEVER */
  uint64_t jitter;           /* the state of a random generator */
};

void wire_init(struct wire *wire, const struct transport *transport,
               const struct wire_owner *owner, const char *chroot,
               const unsigned char random[16]);

/* Accepts an op: it is sent in order, at once or later, and always answered.
 * Returns false if there is no connection, or if it could not be sent.  In the
 * second case wire_is_to_retry says when to try again. */
bool wire_submit(struct wire *wire, struct op *op);
void wire_retry(struct wire *wire);
void wire_trouble(struct wire *wire, const char *message, const char *path,
                  int rc);

/* Returns half of the pause plus a random part of the other half. */
int64_t wire_jitter(struct wire *wire, int64_t pause);
/* Begins or extends the pause after a transient refusal `rc`; refusals_end ends
 * the series. */
void wire_back_off(struct wire *wire, struct refusals *refusals, int rc);
static inline void refusals_end(struct refusals *refusals) {
  *refusals = (struct refusals){0};
}
/* Returns whether the pause lasts.  If so, wire_is_to_resume reports its
 * end. */
bool wire_holds_back(struct wire *wire, const struct refusals *refusals);
/* Does the same for the time `at`. */
bool wire_waits_until(struct wire *wire, int64_t at);

/* Sends the lingering delete by itself: no create has joined it. */
void wire_flush(struct wire *wire);

/* Returns whether a node of this owner is ours.  Nodes of the former session,
 * which was given up, are included.  No contender of ours holds them or waits
 * for them. */
static inline bool wire_owns(const struct wire *wire, int64_t owner) {
  return owner != 0 && (owner == wire->session || owner == wire->former);
}

static inline bool wire_lease_stands(const struct wire *wire) {
  return wire->now < wire->lease.until;
}
/* Returns whether a hold that is granted now can be kept, if all replies are
 * prompt from now on. */
static inline bool wire_lease_lasts(const struct wire *wire) {
  return wire_lease_stands(wire) && lease_lasts(&wire->lease, wire->now);
}
/* Renews the lease as soon as possible. */
void wire_prove(struct wire *wire);

/* Called by the session: */

void wire_connected(struct wire *wire, int64_t session, int64_t timeout,
                    int64_t started, bool needed);
/* Answers all ops in flight with REPLY_LOST. */
void wire_disconnected(struct wire *wire);
/* The ZooKeeper session has expired or was given up. */
void wire_expired(struct wire *wire);
void wire_closed(struct wire *wire);
void wire_reply(struct wire *wire, uint64_t serial, const struct reply *reply);

/* Returns true once when the time has come. */
bool wire_is_to_retry(struct wire *wire);
bool wire_is_to_resume(struct wire *wire);
/* Sends again the ops with `insists`. */
void wire_insist(struct wire *wire);
/* Schedules a poll of watches (watch.c) in T/6 or a little less.  Then
 * wire_is_to_look returns true once. */
void wire_look_later(struct wire *wire);
bool wire_is_to_look(struct wire *wire);
/* Returns `due`, or the time of the next retry if that is later. */
int64_t wire_not_before_retry(const struct wire *wire, int64_t due);
/* Sends a round if one is due; sends a nudge if an op is unanswered for too
 * long. */
void wire_beat(struct wire *wire, enum need need);
void wire_nudge(struct wire *wire);
/* Returns when one of these functions must be called. */
int64_t wire_due(const struct wire *wire, enum need need);

static inline void counter_add(_Atomic uint64_t *counter, int n) {
  /* There is only one writer, so the addition needs no locked instruction. */
  atomic_store_explicit(counter,
                        atomic_load_explicit(counter, memory_order_relaxed) +
                            (uint64_t)n,
                        memory_order_relaxed);
}

#pragma GCC visibility pop

#endif
