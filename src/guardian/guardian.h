/* The guardian is a separate process: the parent of a command that runs under a
 * lock. It ends the command before another client can get the lock. It does not
 * connect to ZooKeeper: `zklock run` sends it the time at which the lease ends.
 * The command's first process is the leader of the command's process group.
 *
 *   waiting ─ run ─► running ─ command exits ────────────────────► over
 *                      │ told to end; lease or max_hold over;       ▲
 *                      │ channel closed; leader killed              │ none left
 *                      └─► ending: TERM, CONT ─ grace, lease ─► killing: KILL
 *
 * `zklock run` sends these lines to the guardian, on the channel:
 *
 *   run GRACE MAX_HOLD TOKEN
 *                    the lock is held: start the command if the lease allows it.
 *                    GRACE is the time between TERM and KILL; both times are
 *                    in nanoseconds
 *   lease NS MARGIN  the lease ends at NS of clock_now(); TERM is sent MARGIN
 *                    before its end
 *   signal N         pass signal N on to the command
 *   end              the lock is lost: end the command
 *   continue         `zklock run` continues after a stop: continue the command
 *
 * The guardian sends these lines to `zklock run`:
 *
 *   started PID      the command runs: PID is its leader and its process group
 *   failed N TEXT    the command was not started: N is the exit code, TEXT why
 *   stopped N        signal N of the terminal has stopped the command: stop
 *                    `zklock run`, too
 *   ending WHY       the guardian ends the command: lease, max-hold, or killed
 *                    (the leader was killed, and other processes are left)
 *   killing          the command did not end in time, and gets KILL
 *   refused N        a process runs as another user and did not get signal N
 *   exited N         the leader has exited with code N, and all processes that
 *                    must end have ended
 *   signaled N       the same, but signal N has ended the leader
 *
 * This is why the command does not run while another client holds the lock. The
 * lease ends before a server can give the lock to another client. If no server
 * replies, or if `zklock run` is stopped or dead, the lease is not renewed.
 * Then the guardian sends TERM a margin before the lease ends, and KILL when it
 * ends. The guardian's clock also counts the time for which the machine is
 * suspended. After a suspend the guardian sends the signals at once. A timer of
 * that clock wakes it; poll alone would sleep on (io/clock.h).
 *
 * If the guardian is killed, Linux kills the command's leader, unless the
 * leader has changed its user. `zklock run` kills the remaining processes, and
 * waits for those that it cannot signal. If the guardian alone is stopped,
 * nothing ends the command in time. The same is true if the whole machine is
 * stopped. Then only the fencing token shows which writes are late. */
#ifndef ZKLOCK_GUARDIAN_H
#define ZKLOCK_GUARDIAN_H

#include <stdbool.h>
#include <sys/types.h>

#pragma GCC visibility push(hidden)

/* Forks a guardian for the command `arguments`, words that NULL ends. Also
 * prepares this process, `zklock run`, for the case that the guardian ends
 * first. Returns the channel's descriptor and sets `*pid` to the guardian's
 * process id. On failure, returns -1 and sets errno. Must be called before any
 * thread or event loop is started, because a fork would break them. */
int guardian_start(char **arguments, int *pid);

/* What is known about the remaining processes of a command after its guardian
 * was killed. */
struct rest {
  bool left;    /* a process of the command is left */
  bool refused; /* a process of another user cannot be killed */
  bool whole;   /* processes outside the group are included */
  pid_t group;  /* 0 if the group is empty */
};

/* Sends SIGKILL to the remaining processes of the command, and returns what is
 * known about them. `zklock run` calls this again while processes are left. */
struct rest guardian_kill_rest(pid_t group);

#pragma GCC visibility pop

#endif
