/* A simulated client process: the production session, the client library
 * beneath it, and the users above.
 *
 * It has a clock of its own.  A paused process does nothing; when it goes on
 * it finds, in order, all that has arrived, and learns only then what time it
 * is and that the connection is gone: SIGSTOP and SIGCONT. */
#ifndef SIM_PROCESS_H
#define SIM_PROCESS_H

#include "paths.h"
#include "protocol/session.h"
#include "random.h"

struct world;
struct note;

enum { USERS_MAX = 4, INBOX_MAX = 2048, COMMANDS_MAX = 32 };

/* The client library's handle. */
enum library_state {
  LIBRARY_CLOSED,
  LIBRARY_RESTING, /* until the next attempt */
  LIBRARY_ATTEMPTING,
  LIBRARY_CONNECTED,
};

struct library {
  enum library_state state;
  int connection; /* NOBODY: none */
  int session;    /* NOBODY: none yet */
  int64_t timeout;
  int least;       /* of the grants that the process has heard of */
  int64_t started; /* the attempt to connect began, by the process's clock */
  int seen;        /* the newest view of which this connection's answers tell */
  int outstanding; /* requests not yet answered */
  int64_t tries_at, tried_at, connected_at, last_sent, last_received;
  int64_t wakes_at; /* the next of its happenings */
  uint64_t late;    /* a request that is answered too late; 0: none */
  struct path_set data, missing, children; /* watches */
};

/* What a user wants of the process. */
struct command {
  int what, which; /* as in the agenda */
};

struct user {
  int left; /* acquisitions yet to begin */
  bool busy;
};

struct process {
  struct world *world;
  int number;
  bool open; /* `session` is in use */
  bool crashed;
  int64_t offset;
  int drift; /* of its clock, in 1/10000 */

  int64_t paused_until;
  int64_t dozed;     /* how long the pause is, if its machine is suspended */
  bool has_timer;    /* of the clock that counts that (src/io/clock.h) */
  int64_t stale_now; /* the clock was read before the pause; 0: not */
  int stale_notes;   /* so many notes had been read before it */
  int64_t runs_at;   /* a batch is barrier enter; NEVER: none */
  int64_t unreachable_until;
  enum session_state shown; /* what its user has been told last */
  int flaps;
  int looks_left; /* of its onlooker */

  int last_acquisition; /* NOBODY: none */
  int64_t wakes_at, opens_at;
  int64_t now;   /* by which it acts */
  int seen;      /* the newest view that anything has told of */
  int hearing;   /* the note being handled; NOBODY: none */
  bool shut_out; /* the servers do not accept its credentials */
  bool warned;   /* it knows what no server grants less than */
  unsigned inbox_first, inbox_last;
  int command_count;
  struct command commands[COMMANDS_MAX];

  struct library library;
  struct user users[USERS_MAX];
  int inbox[INBOX_MAX];
  struct session session;
};

/* In 1/10000: less than the lease's margin. */
enum { DRIFT_MAX = 490 };

void process_reset(struct world *w, struct process *p, int number);
void process_open(struct world *w, struct process *p);
void process_close(struct world *w, struct process *p);
void process_crash(struct world *w, struct process *p);
void process_pause(struct world *w, struct process *p, int64_t until);
/* The same, for all of its machine. */
void process_dozes(struct world *w, struct process *p, int64_t until);
int64_t process_clock_at(const struct process *p, int64_t time);
int64_t process_clock(const struct world *w, const struct process *p);
bool process_is_paused(const struct world *w, const struct process *p);
/* A user wants something.  False: it is done now, between process_begins and
 * process_ends; true: it will be done in the next batch. */
bool process_puts_off(struct world *w, struct process *p, int what, int which);
/* Calls session_run before what comes, sometimes, and after it. */
void process_begins(struct world *w, struct process *p);
void process_ends(struct world *w, struct process *p);

/* Happenings. */
void process_hears(struct world *w, struct process *p, int note);
void process_wakes(struct world *w, struct process *p);
void process_runs(struct world *w, struct process *p);
void process_resumes(struct world *w, struct process *p);

/* library.c */
void library_reset(struct library *library);
void library_open(struct world *w, struct process *p);
bool library_submit(struct world *w, struct process *p, const struct op *op,
                    const struct op *before);
void library_hears(struct world *w, struct process *p, const struct note *note);
/* Its own clock has not counted this time, which ours has. */
void library_dozed(struct world *w, struct process *p, int64_t time);
/* What its own clock calls for: attempts, pings, giving up. */
void library_looks(struct world *w, struct process *p);
void library_wakes(struct world *w, struct process *p);
/* The process closes its handle: a last request, if there is a server. */
void library_close(struct world *w, struct process *p);
void library_leave(struct world *w, struct process *p);

#endif
