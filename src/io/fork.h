/* Delays each fork until it is safe, so that the child can open sessions
 * itself.
 *
 * The child of a fork has a copy of the memory but only the forking thread. If
 * another thread holds a lock at the fork, that lock stays locked for ever in
 * the child. So a fork waits until every I/O thread sleeps. Then no I/O thread
 * holds a lock of zklock or the C library. The fork waits for microseconds, or
 * until the threads get a processor, and 2 s at most. A lookup of a host name
 * can take long, so a fork waits only 100 ms for it, once per lookup. If the
 * lookup is still running then, the child cannot look up names. */
#ifndef ZKLOCK_FORK_H
#define ZKLOCK_FORK_H

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

/* Makes each child call `in_child` before fork returns there. Its first call
 * installs zklock's fork handlers. So it must be called before the first thread
 * starts and before the functions below. Each function is registered once; at
 * most 4 are. */
void fork_watch(void (*in_child)(void));

/* Take and release the lock of the process's list of sessions. A thread holds
 * it for a few instructions. */
void fork_lock(void);
void fork_unlock(void);
/* Takes the list's lock if it becomes free before the deadline; otherwise
 * returns false. */
bool fork_lock_before(int64_t deadline);

/* Count the I/O threads that are awake, for which a fork waits. An I/O thread
 * calls fork_awake when it starts and after each wait, and fork_asleep before
 * each wait and at its end. fork_awake blocks while a fork is in progress. */
void fork_awake(void);
void fork_asleep(void);

/* Must be called before and after a lookup of host names: a fork waits for
 * it. */
void fork_lookup_begin(void);
void fork_lookup_end(void);
/* Returns whether a lookup was running when this process, or one of its
 * ancestors, was forked. Then a lock of the resolver can be locked for ever,
 * and this process must not look up names. */
bool fork_forbids_lookups(void);

#pragma GCC visibility pop

#endif
