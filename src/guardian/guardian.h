/* The guardian of a command that runs under a lock. It is the command's parent,
 * in a process of its own, and ends the command before the lock can pass on. It
 * knows nothing of ZooKeeper: `zklock run` tells it how long the hold is
 * proven.
 *
 *   waiting ─ run ─► running ─ it exits ─────────────────────────► over
 *                      │ asked to end; the lease, max_hold, the     ▲
 *                      │ channel's end; its leader killed           │ none left
 *                      └─► ending: TERM, CONT ─ grace, lease ─► killing: KILL
 *
 * Lines on the channel, to the guardian:
 *
 *   run TOKEN        the lock is held: start (not without a lease)
 *   lease NS MARGIN  held until NS by clock_now(); TERM MARGIN earlier
 *   signal N         pass this on to the command
 *   end              the lock is lost: end the command
 *   continue         `zklock run` continues after it was stopped
 *
 * and from it:
 *
 *   started PID      the command's process, and its group
 *   failed N TEXT    it was not started: the exit code, and why
 *   stopped N        the terminal has stopped it: `zklock run` stops, too
 *   ending WHY       the guardian ends it: lease, max-hold, killed (its
 *                    leader was killed, and other processes are left)
 *   killing          it did not end within the grace
 *   refused N        a process runs as another user and did not get signal N
 *   exited N         it has ended, with all processes that must end
 *   signaled N       the same, but a signal has ended it
 *
 * Why the command does not run while another client holds the lock: the lease
 * ends before a server can pass the lock on. The lease may not be renewed,
 * because no server replies, or because `zklock run` is stopped or dead. Then
 * TERM is sent a margin before its end and KILL at its end, by the clock that
 * counts sleep. After a suspend they are sent at once: a timer of that clock
 * wakes the guardian, where poll alone would sleep on (io/clock.h).
 *
 * If the guardian is killed, the system kills the command's leader (Linux),
 * unless the leader has changed its user. `zklock run` kills the remaining
 * processes, and waits for those that it cannot signal. The argument fails if
 * the guardian or the whole machine is stopped. Then the fencing token shows
 * which work is late. */
#ifndef ZKLOCK_GUARDIAN_H
#define ZKLOCK_GUARDIAN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#pragma GCC visibility push(hidden)

struct plan {
  char **words;       /* the command's, ended by NULL */
  const char *path;   /* for its environment */
  const char *holder; /* for its environment */
  int64_t grace;      /* nanoseconds between TERM and KILL */
  int64_t max_hold;   /* INT64_MAX: no limit */
};

/* Forks a guardian, and prepares `zklock run` for it. Returns the channel's
 * descriptor, or -1 and sets errno. Must be called before any thread or event
 * loop is started. */
int guardian_start(const struct plan *plan, int *pid);

/* The remaining processes of a command whose guardian was killed. */
struct rest {
  bool left;    /* a process is left */
  bool refused; /* one cannot be signalled: it runs as another user */
  bool whole;   /* includes processes that have left the group */
  pid_t group;  /* 0: it is empty */
};

/* Sends SIGKILL to the remaining processes. `zklock run` calls it
 * repeatedly. */
struct rest guardian_kill_rest(pid_t group);

#pragma GCC visibility pop

#endif
