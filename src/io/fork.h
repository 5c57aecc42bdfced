/* Prepares a fork, so that the child can connect.
 *
 * The child has our memory but none of our threads. A lock that another thread
 * held at the fork is held for ever in the child. So a fork waits until every
 * I/O thread sleeps, where it holds no lock of zklock or the C library. That
 * takes microseconds, or until the threads get a processor, and 2 s at most. A
 * lookup of a host name can take long: a fork waits 100 ms for it, once per
 * lookup. If it is still running then, the child cannot look up names. */
#ifndef ZKLOCK_FORK_H
#define ZKLOCK_FORK_H

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

/* Must be called before the first thread starts and before the functions below.
 * `in_child` runs in each child before fork returns there. Each function is
 * registered once; at most 4. */
void fork_watch(void (*in_child)(void));

/* Take and release the process-wide lock for the list of sessions. It is held
 * for a few instructions. */
void fork_lock(void);
void fork_unlock(void);
/* Returns false if the lock was not free before the deadline. */
bool fork_lock_before(int64_t deadline);

/* Called by an I/O thread. It counts as awake from its start to its end, except
 * while it waits for something. fork_awake blocks while a fork is in
 * progress. */
void fork_awake(void);
void fork_asleep(void);

/* Enclose all of a lookup. */
void fork_lookup_begin(void);
void fork_lookup_end(void);
/* Returns whether a lookup was running when this process or one of its
 * ancestors was forked. Then a lock of the resolver may be held for ever. */
bool fork_bars_lookups(void);

#pragma GCC visibility pop

#endif
