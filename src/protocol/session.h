/* The session: connection states, lease, heartbeats, deadlines, and the lanes.
 * Pure like the contender: the world comes in through the functions below,
 * time with it, and goes out through `struct transport` and `struct listener`.
 * One thread at a time; nothing here blocks, sleeps or knows Lua. */
#ifndef ZKLOCK_SESSION_H
#define ZKLOCK_SESSION_H

#include "lane.h"
#include "lease.h"
#include "suspicion.h"

#include <stdatomic.h>

#pragma GCC visibility push(hidden)

#define SESSION_STATES(X)                                    \
  X(CONNECTING, "connecting") /* no ZooKeeper session yet */ \
  X(CONNECTED, "connected")                                  \
  X(SUSPENDED, "suspended") /* no server just now */         \
  X(EXPIRED, "expired")     /* a new session comes next */   \
  X(CLOSED, "closed")

enum session_state {
#define X(name, text) SESSION_##name,
  SESSION_STATES(X)
#undef X
};

/* Whom the protocol tells what has happened. */
struct listener {
  void *self;
  void (*session)(void *self, enum session_state state);
  void (*trouble)(void *self, const char *message, const char *path, int rc);
};

#define SESSION_COUNTERS(X) \
  X(requests)               \
  X(in_flight)              \
  X(grants)                 \
  X(handoffs)               \
  X(local_turns)            \
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
  X(waiting)

/* Written by the protocol's thread alone, read by any. */
struct counters {
#define X(name) _Atomic uint64_t name;
  SESSION_COUNTERS(X)
#undef X
};

enum { SESSION_BUCKETS = 1024 };

struct session_options {
  const char *chroot;       /* "" or an absolute path */
  unsigned char random[16]; /* what our node names begin with */
  int64_t least_timeout;    /* no server grants less; 0: not known */
  int64_t tick;             /* no server has a longer one; 0: not known */
};

struct session {
  struct transport transport;
  struct listener listener;
  const char *chroot;
  size_t chroot_length;
  struct name_base base;
  uint64_t next_id;

  int64_t now;
  enum session_state state;
  bool silent; /* CONNECTED, and the user sees SUSPENDED: the lease of a hold
                was over.  Nothing is decided by it. */
  unsigned connection; /* counts connections; 0: none yet */
  unsigned begun;      /* the last in which anything was asked */
  int64_t id;          /* ZooKeeper's session id; 0: none */
  int64_t timeout;     /* as negotiated last; the lease has its own */
  bool no_containers;  /* the server does not know them */
  bool refused;        /* see session_refused */

  struct lease lease;
  struct op heartbeat, nudge;
  char heartbeat_path[1100]; /* never exists */
  bool round_in_flight;
  bool proof_wanted;  /* somebody is first and the lease does not stand */
  int64_t round_sent; /* when the last round was sent */
  int64_t lost_at;    /* when the last connection was */
  int64_t guarded;    /* when holders' own watches were last seen to */
  int64_t renew_at;   /* EXPIRED: when to open a new session */
  int64_t retry_at;   /* something could not be sent: when to try again */
  int expiries_in_row;
  uint64_t jitter; /* state of a small generator */

  uint64_t serial;
  struct op *flight, **flight_end; /* sent and not answered, in order */
  struct op *held, **held_end;     /* to be sent, in order, behind `alone` */
  struct op *alone;                /* in flight, with nothing beside it */
  struct suspicion suspicion;
  int64_t trusted_at; /* from then on the connection is not young any more */
  int64_t resume_at;  /* the same while a create waits for it; or NEVER */

  struct timers timers;
  struct room room;
  struct lane *lanes; /* the newest of all */
  struct lane *buckets[SESSION_BUCKETS];
  struct lane *dirty, **dirty_end;
  int active;  /* contenders that are not GONE */
  int holders; /* of them, HELD */
  struct counters counters;
};

const char *session_state_name(enum session_state state);

void session_init(struct session *s, const struct session_options *options,
                  const struct transport *transport,
                  const struct listener *listener, int64_t now);
void session_free(struct session *s); /* after session_close */

/* What the user wants.  A contender's owner hears of it by its `tell`, also
 * before the call returns.  False: no memory, and nothing has begun. */
bool session_acquire(struct session *s, int64_t now, struct contender *c,
                     const char *path);
/* Of one that is not held, or not any more: nothing happens. */
void session_release(struct session *s, int64_t now, struct contender *c);
/* Of one that waits no more: nothing happens; the grant was first. */
void session_cancel(struct session *s, int64_t now, struct contender *c);
/* Its owner knows that the hold is over; of one that is not held: nothing. */
void session_lose(struct session *s, int64_t now, struct contender *c,
                  enum loss why);
/* The lease of a hold was over: the user sees SUSPENDED until a round is
 * answered, or the connection goes. */
void session_fall_silent(struct session *s, int64_t now);
/* Watches the node of a hold now rather than soon. */
void session_watch(struct session *s, int64_t now, struct contender *c);
/* A request beside the protocol; false: it was not sent. */
bool session_ask(struct session *s, int64_t now, struct op *op);
void session_close(struct session *s, int64_t now);

/* What the world reports.
 *
 * From `started` on an attempt to connect may be under way, of which we need
 * never hear: a server may have got it that grants less time than we know of.
 * To be called before each attempt, as soon as it may have begun. */
void session_attempting(struct session *s, int64_t now, int64_t started);
/* `started`: a time that certainly comes before the attempt that led to this
 * connection, and after whatever was answered in the last one was sent. */
void session_connected(struct session *s, int64_t now, int64_t id,
                       int64_t timeout, int64_t started);
void session_disconnected(struct session *s, int64_t now);
/* The ensemble does not accept our credentials: until session_connected
 * waiters and newcomers are told so. */
void session_refused(struct session *s, int64_t now);
void session_expired(struct session *s, int64_t now);
/* An attempt to reconnect was not answered: if anything still keeps the session
 * alive, is it only our attempts, and with it nodes that are to be deleted?
 * Then it is to be given up, and session_expired to be called. */
bool session_is_beyond_help(const struct session *s, int64_t now);
void session_reply(struct session *s, int64_t now, uint64_t serial,
                   const struct reply *reply);
void session_event(struct session *s, int64_t now, enum watch_event event,
                   const char *path);

/* Ends every batch of the calls above: runs what is due, sends what waited. */
void session_run(struct session *s, int64_t now);
/* When session_run must be called at the latest. */
int64_t session_due(const struct session *s);

/* For lanes and contenders.  What was submitted is sent in that order, at once
 * or when it may be (see session.c), and answered. */
bool session_submit(struct session *s, struct op *op);
void session_retry(struct session *s);
/* It may be what the last connection was lost for: not while this one is young.
 * Its lane is driven again. */
bool session_defers(struct session *s, const struct op *create);
/* It was applied, though its answer was lost: a server has read it. */
void session_found(struct session *s, const struct op *create);
/* Servers close the connection at such a create: it must not be sent. */
bool session_refuses(const struct session *s, const struct op *create);
bool session_is_connected(const struct session *s);
bool session_lease_stands(const struct session *s);
/* Renews the lease as soon as possible. */
void session_prove(struct session *s);
void session_trouble(struct session *s, const char *message, const char *path,
                     int rc);
struct lane *session_lane(struct session *s, const char *path);
void session_dirty(struct session *s, struct lane *lane);

static inline void counter_add(_Atomic uint64_t *counter, int n) {
  /* One writer: a load and a store do, no locked instruction. */
  atomic_store_explicit(counter,
                        atomic_load_explicit(counter, memory_order_relaxed) +
                            (uint64_t)n,
                        memory_order_relaxed);
}

#pragma GCC visibility pop

#endif
