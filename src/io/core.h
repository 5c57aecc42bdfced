/* A session: the state that both of its threads see, and what its I/O thread
 * reports.
 *
 * Only the I/O thread uses the protocol, its contenders and the client
 * (io_thread.c). The functions for the Lua thread are in lua_thread.h. */
#ifndef ZKLOCK_CORE_H
#define ZKLOCK_CORE_H

#include <sys/types.h>

#include "await.h"
#include "client.h"
#include "clock.h"
#include "in_flight_limit.h"
#include "last_error.h"
#include "log.h"
#include "nginx_socket.h"
#include "registry.h"

#pragma GCC visibility push(hidden)

/* Access: (c) constant after core_open, (i) the I/O thread only, (l) the Lua
 * thread only, (a) atomic. Members without a mark document their own access. */
struct core {
  _Atomic int references;    /* (a) both threads, and each hold in Lua */
  _Atomic int users;         /* (a) threads that may use the channel */
  pid_t owner;               /* (c) the process that may use the session */
  struct settings *settings; /* (c) */
  struct channel channel;
  struct log log;
  struct last_error last_error;
  struct registered registered;

  struct proof proof;
  _Atomic int64_t session_id; /* (a) */
  _Atomic int64_t timeout;    /* (a) negotiated, nanoseconds; 0: none yet */
  _Atomic uint64_t states;    /* (a) not reported yet: 4 bits each, newest
                               * lowest */
  _Atomic int failure;        /* (a) enum client_failure */
  _Atomic uint64_t waits[WAIT_BUCKETS]; /* (a) grants by wait: < 2^n us */
  _Atomic bool ending;      /* (a) the process ends: see end in io_thread.c */
  _Atomic int64_t alarm_at; /* (a) when EVENT_ALARM is wanted; NEVER */

  struct session session;                 /* (i), except its counters */
  struct client *client;                  /* (i) */
  struct in_flight_limit in_flight_limit; /* (i) limits asks in flight */
  struct await_port port;                 /* (i) */
  struct clock_timer timer;               /* (i) */
  bool closing;                           /* (i) */
  struct message state_event, failed_event, closed_event; /* (i) sends them */
  struct message alarm_event;                             /* (i) sends it */

  pthread_t thread;                  /* (l) */
  struct message close;              /* (l) sends it, or an exit handler */
  struct message nudge_event;        /* (l) sends it */
  struct message alarm;              /* (l) sends it */
  uint64_t turns, standing;          /* (l) local turns; waits for them */
  uint64_t turn_waits[WAIT_BUCKETS]; /* (l) turns by wait: < 2^n us */
  uint64_t numbers;                 /* (l) of acquisitions, asks and requests */
  bool closed;                      /* (l) core_close was called */
  bool left;                        /* (l) core_leave was called */
  int requests;                     /* (l) unfinished nginx requests */
  bool want_ends;                   /* (l) each of them posts EVENT_ENDED */
  struct nginx_socket nginx_socket; /* (l) */
};

/* ---- The I/O thread ------------------------------------------------------ */

/* Makes the calling thread the session's I/O thread. */
void core_runs_here(const struct core *core);

/* Return the listeners for reports of the client, the session, and an
 * acquisition's contender. */
struct client_listener core_client_listener(struct core *core);
struct listener core_session_listener(struct core *core);
news_handler core_hear;

/* Posts an event; Lua's loop is woken at the end of the I/O thread's turn. */
void core_post(struct core *core, struct message *message, int kind);
void core_publish_lease(struct core *core);
void core_refuse(struct core *core, struct acquisition *acquisition,
                 enum refusal_code why, int reason);
/* Posts EVENT_GONE if it is requested, once the acquisition's node is known to
 * be gone or cannot be deleted. */
void core_tell_gone(struct core *core, struct acquisition *acquisition);

/* Initializes the session and starts its thread (io_thread.c). Returns false
 * and sets errno on failure. */
bool io_thread_start(struct core *core);

/* ---- Both threads -------------------------------------------------------- */

/* Each of the two threads leaves once; the second one closes the channel. */
void core_leave_channel(struct core *core);
/* Count references to the memory, because proofs can outlive the session. */
void core_keep(struct core *core);
void core_forget(struct core *core);

#pragma GCC visibility pop

#endif
