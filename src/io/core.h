/* The core: a session on its I/O thread, and the Lua thread's handle on it.
 *
 * Every function below is called by the Lua thread that owns the session,
 * after it has compared core->owner with its own process (fork).  The I/O
 * thread is core.c's alone. */
#ifndef ZKLOCK_CORE_H
#define ZKLOCK_CORE_H

#include <sys/types.h>

#include "claim.h"
#include "client.h"
#include "nginx_request.h"
#include "nginx_socket.h"
#include "notice.h"
#include "query.h"

#pragma GCC visibility push(hidden)

enum event_kind {
  EVENT_GRANTED, /* subject: the claim */
  EVENT_REFUSED,
  EVENT_LOST,
  EVENT_REVOKED,
  EVENT_GONE,     /* its node is known to be removed */
  EVENT_ANSWERED, /* subject: the query */
  EVENT_STATE,    /* see core_states */
  EVENT_FAILED,   /* see core->failure */
  EVENT_LOG,      /* subject: the log line */
  EVENT_ENDED,    /* subject: the request */
  EVENT_NUDGE,    /* the Lua thread's own: see core_nudge */
  EVENT_CLOSED,   /* the I/O thread is done */
};

struct log_line {
  struct message message;
  const char *level; /* static */
  char text[];
};

enum { WAIT_BUCKETS = 28 };

struct core {
  /* (c) constant after core_open  (i) the I/O thread  (l) the Lua thread
   * (a) atomic  (m) guarded by error_lock */
  _Atomic int references;     /* (a) both threads, and each hold of Lua's */
  _Atomic int users;          /* (a) threads that may use the channel */
  pthread_t thread;           /* (l) */
  pid_t owner;                /* (c) the process that may use it */
  struct settings *settings;  /* (c) */
  struct channel channel;     /* has a lock of its own */
  struct proof proof;         /* (a) */
  _Atomic int64_t session_id; /* (a) */
  _Atomic int64_t timeout;    /* (a) negotiated, nanoseconds; 0: none yet */
  _Atomic uint64_t states; /* (a) not yet told, four bits each, last lowest */
  _Atomic int failure;     /* (a) enum client_failure */
  _Atomic int log_lines;   /* (a) under way */
  _Atomic int held;        /* (a) claims that are HELD */
  _Atomic uint64_t waits[WAIT_BUCKETS]; /* (a) grants by wait: < 2^n us */

  _Atomic bool ending; /* (a) the process is: see core_end_all */
  _Atomic bool ended;  /* (a) it has no session open */

  struct session session; /* (i), but its counters */
  struct client *client;  /* (i) */
  int last_rc;            /* (i) of the last trouble */
  bool closing;           /* (i) */
  struct message state_event, failed_event, closed_event, nudge_event;

  pthread_mutex_t error_lock;
  char error[200];        /* (m) the last error of the client */
  bool troubled;          /* (m) since the last connection */
  struct notices notices; /* (m) */

  struct message close;             /* (l) the command */
  uint64_t numbers;                 /* (l) */
  bool closed;                      /* (l) core_close was called */
  bool left;                        /* (l) core_leave was called */
  int requests;                     /* (l) of nginx, that have not ended */
  bool want_ends;                   /* (l) EVENT_ENDED for each of them */
  struct nginx_socket nginx_socket; /* (l) */
  struct core *next, *previous;     /* guarded by the registry's lock */
};

/* Takes the settings over.  NULL: `*error` says why. */
struct core *core_open(struct settings *settings, const char **error);
/* Begins to close; EVENT_CLOSED tells the end.  Idempotent. */
void core_close(struct core *core);
/* The Lua thread's last use of the channel.  `ended`: EVENT_CLOSED has come,
 * and the thread is waited for. */
void core_leave(struct core *core, bool ended);
/* Any thread, when the process is about to end and the Lua thread has stopped
 * somewhere: ends every session, and waits so long (in nanoseconds). */
void core_end_all(int64_t patience);
/* References to the memory, for proofs that outlive the session. */
void core_keep(struct core *core);
void core_forget(struct core *core);

struct claim *core_acquire(struct core *core, const char *path,
                           const void *data, size_t size,
                           const struct contender_options *options);
void core_cancel(struct core *core, struct claim *claim);
/* Ends a wait whose outcome nobody will take. */
void core_abandon(struct core *core, struct claim *claim);
/* Gives a hold back; `report`: EVENT_GONE is wanted.  False: it was lost. */
bool core_release(struct core *core, struct claim *claim, bool report);
/* Why it is lost, if it is: by the I/O thread's word, or by our clock. */
enum loss core_find_loss(struct core *core, struct claim *claim);
/* Arms the watch on the hold's own node now rather than soon. */
void core_guard(struct core *core, struct claim *claim);
/* Takes the query; EVENT_ANSWERED comes with the number returned. */
uint64_t core_ask(struct core *core, struct query *query);

/* The events so far, in order, each to be given back by core_event_done
 * (which also drops what it speaks of). */
struct message *core_take_events(struct core *core, bool host_read);
void core_event_done(struct core *core, struct message *message);
/* Makes the fd readable, for what the Lua layer itself has put off. */
void core_nudge(struct core *core);
/* The states since the last call, oldest first; at most 15. */
int core_states(struct core *core, enum session_state states[16]);
/* Any thread: a line for the user's log. */
void core_log(void *core, const char *level, const char *text);
void core_error(struct core *core, char *text, size_t size);

#pragma GCC visibility pop

#endif
