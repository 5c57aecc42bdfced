/* The pipeline sends requests to ZooKeeper and receives the replies, over
 * successive connections. It also has the lease, and extends it when replies
 * prove that the session lives. The pipeline knows nothing of locks. */
#ifndef ZKLOCK_PIPELINE_H
#define ZKLOCK_PIPELINE_H

#include <stdatomic.h>

#include "deferred_call.h"
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

/* Counters that only explain how zklock works. */
#define INTERNAL_COUNTERS(X) \
  X(nudges)                  \
  X(lists)                   \
  X(orphans)

#define SESSION_COUNTERS(X) \
  PUBLIC_COUNTERS(X)        \
  INTERNAL_COUNTERS(X)

/* Written by the protocol's thread only, read by any thread. */
struct counters {
#define X(name) _Atomic uint64_t name;
  SESSION_COUNTERS(X)
#undef X
};

/* The functions that the pipeline calls to report to its owner. */
struct pipeline_owner {
  void *self;
  /* Called when a server has confirmed a renewal of the lease (lease.h). The
   * lease may be longer now. */
  void (*lease_renewed)(void *self);
  /* Called when the lease of a hold has run out, because no server replied. */
  void (*unresponsive)(void *self);
  /* Logs `message`, which names the failed operation, with `path` and `rc`. */
  void (*warn)(void *self, const char *message, const char *path, int rc);
};

/* The backoff after transient refusals (reply_is_transient). After the pause,
 * the refused request is sent again. The pause grows with each refusal in a
 * row. In a new connection, perhaps to another server, the request is sent at
 * once. */
struct refusals {
  int64_t until;
  unsigned connection; /* the pause holds in this connection only */
  int16_t times;       /* number of refusals in a row, with pauses between */
  int16_t rc;          /* the code of the last refusal; 0: none */
};

/* How soon a session needs the next renewal of its lease. */
enum need { NEED_IDLE, NEED_WAITING, NEED_HOLDING };

struct pipeline {
  struct transport transport;
  struct pipeline_owner owner;
  struct deferred_calls step,
      batch; /* calls that run after a step; after a batch */
  struct counters counters;
  struct name_base base; /* the prefix of this session's node names */
  size_t chroot_length;

  int64_t now;
  bool connected;
  unsigned connection;   /* number of connections so far; 0: none yet */
  unsigned confirmed_in; /* the last connection whose heartbeat was committed */
  int64_t session;       /* ZooKeeper's session id; 0: none */
  int64_t former;        /* id of the previous session, if any */
  int64_t timeout;       /* the last timeout that a server granted */
  bool no_containers;    /* the server does not support containers */
  bool acl_may_deny;     /* the ACL might deny this session access */
  unsigned acl_checked_in; /* the connection of the last successful rehearsal */

  struct lease lease;
  struct op heartbeat, nudge;
  bool renewal_in_flight;
  bool renewal_refused; /* a renewal was refused, and none confirmed since */
  bool renewal_wanted;  /* a contender is first, but the lease does not last */
  int64_t renewal_sent; /* when the last renewal was sent */
  int64_t renewal_before; /* when the renewal before that was sent */
  int64_t retry_at; /* when to repeat what failed or was refused; or NEVER */
  int64_t paused_until; /* a send has failed: no heartbeat before this time */

  uint64_t serial;
  struct op *flight, **flight_end; /* ops sent and not answered, in order */
  struct op *queued, **queued_end; /* ops that are not sent yet, in order */
  struct op *delayed_delete; /* the delete that waits for a create; or NULL */
  struct op *resends;        /* refused ops to send again */
  struct refusals resend_pause; /* the pause before `resends` are sent */
  int64_t poll_at;              /* when to poll watches (watch.c); or NEVER */
  uint64_t jitter;              /* the state of a random generator */
};

void pipeline_init(struct pipeline *pipeline, const struct transport *transport,
                   const struct pipeline_owner *owner, const char *chroot,
                   const unsigned char random[16]);

/* Sends an op, at once or later, but in order. The op's handler is later called
 * once, with the reply. Returns false, and does not call the handler, if there
 * is no connection or the send fails. After a failed send the caller can try
 * again when pipeline_retry_is_due returns true. */
bool pipeline_submit(struct pipeline *pipeline, struct op *op);
/* Makes pipeline_retry_is_due return true after a short pause. */
void pipeline_retry(struct pipeline *pipeline);
/* Calls `warn` of struct pipeline_owner. */
void pipeline_warn(struct pipeline *pipeline, const char *message,
                   const char *path, int rc);

/* Returns half of the pause plus a random part of the other half. */
int64_t pipeline_jitter(struct pipeline *pipeline, int64_t pause);
/* Begins a backoff pause after the transient refusal `rc`. Does nothing during
 * a pause. Each pause of a series is longer than the one before. refusals_end
 * ends the series. */
void pipeline_back_off(struct pipeline *pipeline, struct refusals *refusals,
                       int rc);
/* Called before a create is repeated, because the one before had no effect: a
 * faulty server may never list the new node. The fourth repetition and the next
 * ones are sent after pauses that grow from 10 ms to a quarter of the session
 * timeout. A new connection, or a session timeout without a repetition, ends
 * the series. */
void pipeline_repeat(struct pipeline *pipeline, struct refusals *refusals);
static inline void refusals_end(struct refusals *refusals) {
  *refusals = (struct refusals){0};
}
/* Returns whether the pause of `refusals` still lasts. If so,
 * pipeline_retry_is_due returns true at its end. */
bool pipeline_must_pause(struct pipeline *pipeline,
                         const struct refusals *refusals);

/* If a delete is being held back to share a transaction with a later create,
 * sends it now, alone. */
void pipeline_flush(struct pipeline *pipeline);

/* Returns whether `owner` is this session's current or former ZooKeeper
 * session. The former session has expired or was given up. No contender has a
 * node of the former session, or waits for one. */
static inline bool pipeline_owns(const struct pipeline *pipeline,
                                 int64_t owner) {
  return owner != 0 &&
         (owner == pipeline->session || owner == pipeline->former);
}

static inline bool pipeline_lease_is_valid(const struct pipeline *pipeline) {
  return pipeline->now < pipeline->lease.until;
}
/* Returns whether a hold granted now would keep its lease until renewals extend
 * it. Assumes that the servers reply promptly from now on. */
static inline bool pipeline_lease_lasts(const struct pipeline *pipeline) {
  return pipeline_lease_is_valid(pipeline) &&
         lease_lasts(&pipeline->lease, pipeline->now);
}
/* Makes the session renew the lease as soon as possible. */
void pipeline_renew_lease(struct pipeline *pipeline);

/* Called by the session: */

void pipeline_connected(struct pipeline *pipeline, int64_t session,
                        int64_t timeout, int64_t started, bool needed);
/* Called when the connection is lost. Calls the handlers of all unanswered ops
 * with REPLY_LOST. */
void pipeline_disconnected(struct pipeline *pipeline);
/* Called when the ZooKeeper session has expired or was given up. `former` keeps
 * its id. */
void pipeline_expired(struct pipeline *pipeline);
/* Called when the session is closed. Does the same as pipeline_disconnected,
 * and ends all pauses. */
void pipeline_closed(struct pipeline *pipeline);
/* Passes `reply` to the handler of the op with the number `serial`, unless the
 * connection of the op has ended. */
void pipeline_reply(struct pipeline *pipeline, uint64_t serial,
                    const struct reply *reply);

/* Returns true once, when the first of the pauses that pipeline_retry or
 * refusals began is over. Also sends queued ops, and the refused ops with
 * `resend` again. */
bool pipeline_retry_is_due(struct pipeline *pipeline);
/* Schedules a poll of watches (watch.c) in a sixth of the session timeout or a
 * little less. At that time pipeline_poll_is_due returns true once. */
void pipeline_poll_later(struct pipeline *pipeline);
bool pipeline_poll_is_due(struct pipeline *pipeline);
/* Returns `due`, or the end of the pause after a failed send if that is later.
 * Other retries do not delay heartbeats: a holder's lease depends on them. */
static inline int64_t pipeline_after_pause(const struct pipeline *pipeline,
                                           int64_t due) {
  return due < pipeline->paused_until ? pipeline->paused_until : due;
}
/* Sends a heartbeat if a renewal is due. */
void pipeline_send_heartbeat(struct pipeline *pipeline, enum need need);
/* Sends a nudge, a small request, if an op is unanswered for too long. If the
 * server has overlooked the op, the nudge makes the server process it. */
void pipeline_send_nudge(struct pipeline *pipeline);
/* Returns when one of the functions above must be called next. */
int64_t pipeline_due(const struct pipeline *pipeline, enum need need);

static inline void counter_add(_Atomic uint64_t *counter, int n) {
  /* There is only one writer, so the addition needs no locked instruction. */
  atomic_store_explicit(counter,
                        atomic_load_explicit(counter, memory_order_relaxed) +
                            (uint64_t)n,
                        memory_order_relaxed);
}

#pragma GCC visibility pop

#endif
