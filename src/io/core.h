/* The record of a session, which its two threads share. The I/O thread's
 * functions below report to the Lua thread.
 *
 * Only the I/O thread uses the protocol, its contenders and the client
 * (io_thread.c). The functions for the Lua thread are in lua_thread.h. */
#ifndef ZKLOCK_CORE_H
#define ZKLOCK_CORE_H

#include <sys/types.h>

#include "acquisition.h"
#include "ask.h"
#include "client.h"
#include "clock.h"
#include "last_error.h"
#include "log.h"
#include "nginx_socket.h"
#include "registry.h"

#pragma GCC visibility push(hidden)

/* Access: (c) constant after core_open, (i) the I/O thread only, (l) the Lua
 * thread only, (a) atomic. Members without a mark document their own access. */
struct core {
  _Atomic int references; /* (a) of both threads and each hold reference */
  _Atomic int users;      /* (a) number of threads that still use the channel */
  pid_t owner;            /* (c) the process that is allowed to use the core */
  struct settings *settings; /* (c) */
  struct channel channel;
  struct log log;
  struct last_error last_error;
  struct registered registered;

  struct proof proof;
  _Atomic int64_t session_id; /* (a) */
  _Atomic int64_t timeout; /* (a) granted timeout, nanoseconds; 0: none yet */
  /* (a) The states that Lua has not read yet, in 4 bits each. The lowest 4 bits
   * are the newest state. */
  _Atomic uint64_t states;
  _Atomic int failure;                  /* (a) enum client_failure */
  _Atomic uint64_t waits[WAIT_BUCKETS]; /* (a) grants, by wait_bucket */
  _Atomic bool ending;      /* (a) a signal ends the process (io_thread.c) */
  _Atomic int64_t alarm_at; /* (a) when to post EVENT_ALARM; or NEVER */

  struct session session;   /* (i), except its counters */
  struct client *client;    /* (i) */
  struct asks asks;         /* (i) */
  struct clock_timer timer; /* (i) */
  bool closing;             /* (i) */
  struct message state_event, failed_event, closed_event; /* (i) sends these */
  struct message alarm_event; /* (i) sends this message */

  pthread_t thread;           /* (l) */
  struct message close;       /* (l) or an exit handler sends this message */
  struct message nudge_event; /* (l) sends this message */
  struct message alarm;       /* (l) sends this message */
  /* (l) `turns`: number of local turns so far. `local_waiters`: number of
   * waiters that are waiting for a local turn. */
  uint64_t turns, local_waiters;
  uint64_t turn_waits[WAIT_BUCKETS]; /* (l) local turns, by wait_bucket */
  /* (l) The last number that a turn, an ask, an await or an nginx request got.
   * Events identify these objects by their numbers. */
  uint64_t numbers;
  bool closed;  /* (l) core_close was called */
  bool left;    /* (l) core_leave was called */
  int requests; /* (l) number of unfinished nginx requests */
  struct nginx_socket nginx_socket; /* (l) */
};

/* ---- The I/O thread ------------------------------------------------------ */

/* The callbacks that the client and the session call. The callbacks publish the
 * session's state and post events. */
extern const struct client_listener core_client_listener;
struct listener core_session_listener(struct core *core);
news_handler core_on_news;

/* Posts an event to the Lua thread. Lua's loop is not woken before the end of
 * the I/O thread's current pass. */
void core_post(struct core *core, struct message *message, int kind);
void core_publish_lease(struct core *core);
void core_refuse(struct core *core, struct acquisition *acquisition,
                 enum refusal_code why, int reason);
/* Posts EVENT_GONE if two conditions are met: the event is requested, and the
 * acquisition's node was deleted or cannot be deleted. */
void core_report_gone(struct core *core, struct acquisition *acquisition);

/* Initializes the session and starts its I/O thread (io_thread.c). Returns
 * false and sets errno on failure. */
bool io_thread_start(struct core *core);

/* ---- Both threads -------------------------------------------------------- */

/* Ends the calling thread's use of the channel. Each of the session's two
 * threads calls this once. The second call closes the channel. */
void core_leave_channel(struct core *core);
/* Add and remove a reference to the core. The last removal frees the core. Each
 * hold reference keeps a reference to the core, because its hold reads `proof`
 * even after the session was closed. */
void core_keep(struct core *core);
void core_drop(struct core *core);

#pragma GCC visibility pop

#endif
