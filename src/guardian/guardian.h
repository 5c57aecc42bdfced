/* The guardian of a command that runs under a lock: its parent, a process of
 * its own, which does not let it outlive the lock.  It knows nothing of
 * ZooKeeper; `zklock run` tells it until when the hold is proven.
 *
 *   waiting ─ run ─► running ─ it exits ─────────────────────────► over
 *                      │ asked to end; the lease, max_hold, the     ▲
 *                      │ channel's end; its leader killed           │ nobody left
 *                      └─► ending: TERM, CONT ─ grace, lease ─► killing: KILL
 *
 * Lines on the channel, to the guardian:
 *
 *   run TOKEN        the lock is ours: begin (not without a lease)
 *   lease NS MARGIN  it is, until then by clock_now(); TERM so long before
 *   signal N         pass this on to the command
 *   end              the lock is lost: end the command
 *   continue         `zklock run` goes on after it was stopped
 *
 * and from it:
 *
 *   started PID      the command's process, and its group
 *   failed N TEXT    it was not started: the exit code, and why
 *   stopped N        it was, from the terminal: `zklock run` stops, too
 *   ending WHY       the guardian ends it: lease, max-hold, killed (its
 *                    leader was, and others of it are left)
 *   killing          it did not end within the grace
 *   refused N        a process of it runs as another user: it was not sent N
 *   exited N         it is over, and whatever must not be left of it
 *   signaled N       the same: a signal has ended it
 *
 * Why nobody of the command works when somebody else holds the lock: the lease
 * ends before a server may give it away.  While it is not renewed, for whatever
 * reason (no server answers; `zklock run` is stopped, or dead), TERM comes a
 * margin before its end and KILL at it, by the clock that counts sleep, too.
 * After a suspend that is at once: a timer of that clock wakes the guardian,
 * where poll would sleep on (io/clock.h).
 * If the guardian is killed, the system kills the command's leader (Linux),
 * unless the leader has changed its user; `zklock run` kills what is left.  A
 * process that cannot be signalled is waited for.  If the guardian, or the whole
 * machine, is stopped, this argument fails: the fencing token then tells late
 * work apart. */
#ifndef ZKLOCK_GUARDIAN_H
#define ZKLOCK_GUARDIAN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#pragma GCC visibility push(hidden)

struct plan {
  char **words;       /* of the command, ended by NULL */
  const char *path;   /* for its environment */
  const char *holder; /* the same */
  int64_t grace;      /* nanoseconds between TERM and KILL */
  int64_t max_hold;   /* INT64_MAX: for ever */
};

/* Forks a guardian, and sets what else `zklock run` is to know.  The channel's
 * descriptor, or -1 with errno.  Before any thread or event loop is there. */
int guardian_start(const struct plan *plan, int *pid);

/* What is left of the command of a guardian that was killed. */
struct rest {
  bool left;    /* a process */
  bool refused; /* one that cannot be signalled, for it runs as another user */
  bool whole;   /* this covers the processes that have left the group, too */
  pid_t group;  /* 0: no process is left of it */
};

/* Sends SIGKILL to what is left.  In `zklock run`, again and again. */
struct rest guardian_kill_rest(pid_t group);

#pragma GCC visibility pop

#endif
