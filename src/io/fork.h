/* Delays each fork until it is safe, so that the child can open sessions
 * itself.
 *
 * The child of a fork has a copy of the memory, but only one thread, the
 * forking thread. If another thread holds a lock during the fork, that lock
 * stays locked for ever in the child. So a fork waits until every I/O thread
 * sleeps. A sleeping I/O thread holds no lock of zklock or the C library. The
 * fork usually waits for microseconds, until the threads have got a processor,
 * and at most for 2 s.
 *
 * A lookup of a host name can take long. So a fork waits only 100 ms for
 * lookups, and later forks do not wait for the same lookup again. If a lookup
 * is still running at the fork, the child cannot look up names. */
#ifndef ZKLOCK_FORK_H
#define ZKLOCK_FORK_H

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

/* Makes each child of a fork call `in_child` before fork returns in the child.
 * All calls must pass the same function. The first call installs zklock's fork
 * handlers. So it must come before the first thread starts, and before the
 * functions below are called. */
void fork_watch(void (*in_child)(void));

/* Take and release the lock of the list of sessions (registry.h). A thread
 * holds this lock for a few instructions. */
void fork_lock(void);
void fork_unlock(void);
/* Takes the lock of the list of sessions, and returns true. If the lock does
 * not become free before the deadline, returns false. */
bool fork_lock_before(int64_t deadline);

/* Count the I/O threads that are awake, because a fork waits until this count
 * is 0. An I/O thread calls fork_awake when it starts and after each wait. It
 * calls fork_asleep before each wait and at its end. fork_awake blocks while a
 * fork is in progress. */
void fork_awake(void);
void fork_asleep(void);

/* Must be called before and after each lookup of host names, because a fork
 * waits for running lookups. */
void fork_lookup_begin(void);
void fork_lookup_end(void);
/* Returns whether a lookup was running when this process, or one of its
 * ancestors, was forked. Then a lock of the C library's resolver can stay
 * locked for ever. So this process must not look up names. */
bool fork_forbids_lookups(void);

#pragma GCC visibility pop

#endif
