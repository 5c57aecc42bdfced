/* The session, through which alone the world deals with the protocol.
 *
 *   what the user wants ───┐                      ┌──► struct listener: states
 *   what a server says  ───┼──► session_… (now) ──┼──► each contender's `tell`
 *   that time has passed ──┘                      └──► struct transport: requests
 *
 * Pure: no I/O, no clock, no thread, no Lua; one thread at a time.  Each call is
 * told what time it is.  A batch is some calls, as many as there are things to
 * report, and session_run at the end of it. */
#ifndef ZKLOCK_SESSION_H
#define ZKLOCK_SESSION_H

#include "departure.h"
#include "nonce.h"
#include "queues.h"

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

/* Whom the protocol tells what has happened to the session. */
struct listener {
  void *self;
  void (*session)(void *self, enum session_state state);
  void (*trouble)(void *self, const char *message, const char *path, int rc);
};

struct session_options {
  const char *chroot;       /* "" or an absolute path */
  unsigned char random[16]; /* what our node names begin with */
  int64_t least_timeout;    /* no server grants less; 0: not known */
  int64_t tick;             /* no server has a longer one; 0: not known */
  bool doubts_acl; /* a server is to be asked before we make anything */
};

struct session {
  struct listener listener;
  const char *chroot;
  enum session_state state;
  bool silent; /* CONNECTED, and the user sees SUSPENDED: the lease of a hold
                was over.  Nothing is decided by it. */
  int refused; /* see session_refused; 0: they are accepted */
  int calls;   /* that have begun and not ended */
  int64_t lost_at;  /* when the last connection was */
  int64_t renew_at; /* EXPIRED: when to open a new session */
  int expiries_in_row;

  struct wire wire;
  struct contenders all;
  struct queues queues;
  struct vigils vigils;
  struct departures departures;
  struct nonces nonces;
};

const char *session_state_name(enum session_state state);

void session_init(struct session *s, const struct session_options *options,
                  const struct transport *transport,
                  const struct listener *listener, int64_t now);
void session_free(struct session *s); /* after session_close */
/* The first ZooKeeper session is to be begun. */
void session_open(struct session *s, int64_t now);

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
/* Tells this holder from now on whether anybody else stands in its queue, by
 * NEWS_ALONE and NEWS_COMPANY. */
void session_look_around(struct session *s, int64_t now, struct contender *c);
/* Somebody waits who contends for nothing, or not any more.  Its end comes by its
 * own function, also before the call returns.  False: no memory, and nothing has
 * begun. */
bool session_keep_vigil(struct session *s, int64_t now, struct vigil *v);
void session_depart(struct session *s, int64_t now, struct departure *d);
/* It waits no more.  Of one that has ended: nothing happens. */
void session_end_vigil(struct session *s, int64_t now, struct vigil *v);
void session_end_departure(struct session *s, int64_t now, struct departure *d);
/* A request beside the protocol; false: it was not sent. */
bool session_ask(struct session *s, int64_t now, struct op *op);
void session_close(struct session *s, int64_t now);

/* What the world reports.
 *
 * From now on an attempt to connect may be under way, of which we need never hear:
 * a server may have got it that grants less time than we know of. */
void session_attempting(struct session *s, int64_t now);
/* `started`: a time that certainly comes before the attempt that led to this
 * connection, and after whatever was answered in the last one was sent. */
void session_connected(struct session *s, int64_t now, int64_t id,
                       int64_t timeout, int64_t started);
/* A server has accepted the connection, and granted `timeout`; but perhaps not our
 * credentials, and then this is all that is heard of it. */
void session_greeted(struct session *s, int64_t now, int64_t timeout,
                     int64_t started);
void session_disconnected(struct session *s, int64_t now);
/* The ensemble does not accept our credentials: until session_connected
 * waiters and newcomers are told so. */
void session_refused(struct session *s, int64_t now, int reason);
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
/* Before anybody waits for anything: sends what has lingered for a call that may
 * follow soon, if there is such. */
static inline bool session_lingers(const struct session *s) {
  return s->wire.lingers;
}
static inline void session_flush(struct session *s) { wire_flush(&s->wire); }
/* When session_run must be called at the latest. */
int64_t session_due(const struct session *s);

static inline bool session_is_connected(const struct session *s) {
  return s->state == SESSION_CONNECTED;
}
/* Until when the session is proved to live. */
static inline int64_t session_lease(const struct session *s) {
  return s->wire.lease.until;
}
/* ZooKeeper's number of it; 0: none. */
static inline int64_t session_number(const struct session *s) {
  return s->wire.session;
}
/* As negotiated last; 0: never. */
static inline int64_t session_negotiated(const struct session *s) {
  return s->wire.timeout;
}
/* By which it goes. */
static inline int64_t session_now(const struct session *s) {
  return s->wire.now;
}
static inline const struct counters *session_counters(const struct session *s) {
  return &s->wire.counters;
}

#pragma GCC visibility pop

#endif
