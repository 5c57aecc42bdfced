/* A session: what both of its threads see of it, and what its I/O thread tells.
 *
 * The protocol, its contenders and the client belong to the I/O thread alone
 * (io_thread.c).  What the Lua thread calls is in lua_thread.h. */
#ifndef ZKLOCK_CORE_H
#define ZKLOCK_CORE_H

#include <sys/types.h>

#include "await.h"
#include "client.h"
#include "clock.h"
#include "last_error.h"
#include "log.h"
#include "nginx_socket.h"
#include "registry.h"
#include "window.h"

#pragma GCC visibility push(hidden)

/* (c) constant after core_open  (i) the I/O thread  (l) the Lua thread
 * (a) atomic; what is not marked has marks of its own */
struct core {
  _Atomic int references;    /* (a) both threads, and each hold of Lua's */
  _Atomic int users;         /* (a) threads that may use the channel */
  pid_t owner;               /* (c) the process that may use it */
  struct settings *settings; /* (c) */
  struct channel channel;
  struct log log;
  struct last_error last_error;
  struct registered registered;

  struct proof proof;
  _Atomic int64_t session_id; /* (a) */
  _Atomic int64_t timeout;    /* (a) negotiated, nanoseconds; 0: none yet */
  _Atomic uint64_t states; /* (a) not yet told, four bits each, last lowest */
  _Atomic int failure;     /* (a) enum client_failure */
  _Atomic uint64_t waits[WAIT_BUCKETS]; /* (a) grants by wait: < 2^n us */
  _Atomic bool ending;      /* (a) the process is: see end in io_thread.c */
  _Atomic int64_t alarm_at; /* (a) when EVENT_ALARM is wanted; NEVER */

  struct session session;   /* (i), but its counters */
  struct client *client;    /* (i) */
  struct window window;     /* (i) of asks */
  struct await_port port;   /* (i) */
  struct clock_timer timer; /* (i) */
  bool closing;             /* (i) */
  struct message state_event, failed_event, closed_event; /* (i) send them */
  struct message alarm_event;                             /* (i) sends it */

  pthread_t thread;                  /* (l) */
  struct message close;              /* (l) sends it; or an exit */
  struct message nudge_event;        /* (l) sends it */
  struct message alarm;              /* (l) sends it */
  uint64_t turns, standing;          /* (l) local ones; waits for them */
  uint64_t turn_waits[WAIT_BUCKETS]; /* (l) turns by wait: < 2^n us */
  uint64_t numbers;                  /* (l) of claims, asks and requests */
  bool closed;                       /* (l) core_close was called */
  bool left;                         /* (l) core_leave was called */
  int requests;                      /* (l) of nginx, that have not ended */
  bool want_ends;                    /* (l) EVENT_ENDED for each of them */
  struct nginx_socket nginx_socket;  /* (l) */
};

/* ---- The I/O thread ------------------------------------------------------- */

/* This thread is from now on the session's I/O thread. */
void core_runs_here(const struct core *core);

/* What client, session, and the contender of a claim tell. */
struct client_listener core_client_listener(struct core *core);
struct listener core_session_listener(struct core *core);
news_handler core_hear;

/* An event, told at the end of the turn with whatever else it brings. */
void core_post(struct core *core, struct message *message, int kind);
void core_publish_lease(struct core *core);
void core_refuse(struct core *core, struct claim *claim, enum verdict why,
                 int reason);
/* If it is known that the claim's node is gone, or that it cannot be deleted. */
void core_tell_gone(struct core *core, struct claim *claim);

/* Makes the session and starts its thread (io_thread.c).  False: errno tells. */
bool io_thread_start(struct core *core);

/* ---- Both ----------------------------------------------------------------- */

/* Of the two threads the one that leaves last closes the channel. */
void core_leave_channel(struct core *core);
/* References to the memory, for proofs that outlive the session. */
void core_keep(struct core *core);
void core_forget(struct core *core);

#pragma GCC visibility pop

#endif
