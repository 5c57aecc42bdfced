/* The session, the only entrance to the protocol.
 *
 *   calls of the user  ──┐                      ┌──► struct listener: states
 *   reports of servers ──┼──► session_… (now) ──┼──► each contender's `notify`
 *   the passing time   ──┘                      └──► struct transport: requests
 *
 * The protocol is pure: it does no I/O, reads no clock and calls no Lua. It
 * runs on one thread at a time. Each call has the time as an argument. A batch
 * is any number of calls, with session_run at its end. */
#ifndef ZKLOCK_SESSION_H
#define ZKLOCK_SESSION_H

#include "node_wait.h"
#include "nonce.h"
#include "queue.h"

#pragma GCC visibility push(hidden)

/* The states of a session:
 *
 *   CONNECTING ──► CONNECTED ◄──► SUSPENDED        connected, disconnected
 *                   ▲      │         │
 *                   │      ▼         ▼
 *                   └── EXPIRED ◄────┘             expired: all nodes are gone
 *
 *   CLOSED can follow any of them, and is the last. */
#define SESSION_STATES(X)                                    \
  X(CONNECTING, "connecting") /* no ZooKeeper session yet */ \
  X(CONNECTED, "connected")                                  \
  X(SUSPENDED, "suspended") /* no connection at present */   \
  X(EXPIRED, "expired")     /* a new session follows */      \
  X(CLOSED, "closed")

enum session_state {
#define X(name, text) SESSION_##name,
  SESSION_STATES(X)
#undef X
};

/* The functions that receive changes of the session's state, and failed
 * operations for the log. */
struct listener {
  void *self;
  void (*session)(void *self, enum session_state state);
  void (*warn)(void *self, const char *message, const char *path, int rc);
};

struct session_options {
  const char *chroot;       /* "" or an absolute path */
  unsigned char random[16]; /* seeds the prefix of node names */
  int64_t min_timeout;      /* no server grants less; 0: unknown */
  int64_t tick;             /* no server's tick is longer; 0: unknown */
  bool acl_may_deny;        /* check the ACL before creating nodes */
};

struct session {
  struct listener listener;
  const char *chroot;
  enum session_state state;
  /* The state is CONNECTED, but the user sees SUSPENDED, because a hold's lease
   * has run out. The protocol's decisions ignore this. */
  bool unresponsive;
  int refused;     /* code of refused credentials; 0: accepted */
  int calls;       /* nesting depth of calls */
  int64_t greeted; /* the last session that a server has granted; 0: none */
  int64_t lost_at; /* when the last connection was lost */

  struct pipeline pipeline;
  struct contenders all;
  struct queues queues;
  struct node_waits node_waits;
  struct nonces nonces;
};

const char *session_state_name(enum session_state state);

void session_init(struct session *s, const struct session_options *options,
                  const struct transport *transport,
                  const struct listener *listener, int64_t now);
void session_free(struct session *s); /* call session_close before */
/* Begins the first ZooKeeper session. */
void session_open(struct session *s, int64_t now);

/* Begins an acquisition. The contender's `notify` reports events, possibly
 * before the call returns. Returns false, and begins nothing, if there is no
 * memory. */
bool session_acquire(struct session *s, int64_t now, struct contender *c,
                     const char *path);
/* Releases a hold; does nothing if `c` is not HELD. */
void session_release(struct session *s, int64_t now, struct contender *c);
/* Cancels a wait; does nothing if the wait has ended, for example by a
 * grant. */
void session_cancel(struct session *s, int64_t now, struct contender *c);
/* Ends a hold whose owner knows that the hold is over; does nothing if `c` is
 * not HELD. */
void session_lose(struct session *s, int64_t now, struct contender *c,
                  enum loss why);
/* Reports SUSPENDED to the user, because a hold's lease has run out. This lasts
 * until a server replies or the connection is lost. */
void session_set_unresponsive(struct session *s, int64_t now);
/* Watches the node of a hold now, without the usual delay. */
void session_watch(struct session *s, int64_t now, struct contender *c);
/* Makes zklock report to this holder whether other nodes are in the queue. It
 * reports each change by NEWS_UNCONTENDED or NEWS_CONTENDED. */
void session_watch_contention(struct session *s, int64_t now,
                              struct contender *c);
/* Begins a node wait, or the `wait` of a barrier leave. The end is reported to
 * its handler, possibly before the call returns. Returns false, and begins
 * nothing, if there is no memory. */
bool session_begin_node_wait(struct session *s, int64_t now,
                             struct node_wait *v);
/* Cancels a node wait; does nothing if it has ended. */
void session_end_node_wait(struct session *s, int64_t now, struct node_wait *v);
/* Sends a request of the user. Returns false if it was not sent. */
bool session_ask(struct session *s, int64_t now, struct op *op);
void session_close(struct session *s, int64_t now);

/* Reports from the client: */

/* Called when a connection attempt begins. Shortens the lease, because the
 * reply may be lost after a server has granted a shorter timeout. A server may
 * also grant the session, but then refuse the credentials. */
void session_attempting(struct session *s, int64_t now);
/* Called when a connection is established. `started`: a time before the attempt
 * began. Each request that the last connection has answered was sent before
 * it. */
void session_connected(struct session *s, int64_t now, int64_t id,
                       int64_t timeout, int64_t started);
/* Called when a server has accepted the connection and granted `timeout`. If
 * the server then refuses the credentials, no session_connected follows. */
void session_greeted(struct session *s, int64_t now, int64_t id,
                     int64_t timeout, int64_t started);
void session_disconnected(struct session *s, int64_t now);
/* Called when the ensemble refuses the credentials. Refuses all waiters, and
 * until session_connected also new waiters, with this reason. */
void session_refused(struct session *s, int64_t now, int reason);
void session_expired(struct session *s, int64_t now);
/* Called when an attempt to reconnect was not answered. Returns true if nodes
 * must be deleted, and the session may live only because of such attempts. The
 * caller then gives up the session and calls session_expired. */
bool session_is_overdue(const struct session *s, int64_t now);
void session_reply(struct session *s, int64_t now, uint64_t serial,
                   const struct reply *reply);
void session_event(struct session *s, int64_t now, enum watch_event event,
                   const char *path);

/* Ends a batch of the calls above: ends waits and holds whose time is up, and
 * sends the requests of the batch. */
void session_run(struct session *s, int64_t now);
/* Returns whether a delete is being held back to share a transaction with a
 * create. If so, session_flush sends the delete, and must be called before the
 * thread sleeps. */
static inline bool session_delays_delete(const struct session *s) {
  return s->pipeline.delayed_delete;
}
static inline void session_flush(struct session *s) {
  pipeline_flush(&s->pipeline);
}
/* Returns when session_run must be called at the latest. */
int64_t session_due(const struct session *s);

static inline bool session_is_connected(const struct session *s) {
  return s->state == SESSION_CONNECTED;
}
/* Returns the end of the lease: until then no server can have expired the
 * session. */
static inline int64_t session_lease(const struct session *s) {
  return s->pipeline.lease.until;
}
/* Returns ZooKeeper's id of the session; 0: none. */
static inline int64_t session_number(const struct session *s) {
  return s->pipeline.session;
}
/* Returns the last negotiated timeout; 0: never negotiated. */
static inline int64_t session_negotiated(const struct session *s) {
  return s->pipeline.timeout;
}
/* Returns the time that was passed to the last call of a session_ function. */
static inline int64_t session_now(const struct session *s) {
  return s->pipeline.now;
}
static inline const struct counters *session_counters(const struct session *s) {
  return &s->pipeline.counters;
}

#pragma GCC visibility pop

#endif
