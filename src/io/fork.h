/* What a fork must find in order, so that the child can connect.
 *
 * The child has our memory but none of our threads: a lock that one of them
 * held at the fork is held for ever.  Our own process-wide lock is taken by
 * the forking thread.  Those inside the C library (of getaddrinfo, of
 * localtime) we cannot take: who makes calls that may hold one passes a gate,
 * which a fork closes and then waits until nobody is inside: microseconds, or
 * until those inside are given a processor, but two seconds at most (80 ms
 * in a signal handler that has interrupted one of them). */
#ifndef ZKLOCK_FORK_H
#define ZKLOCK_FORK_H

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

/* Before the first thread and the first use of the below.  `in_child` runs in
 * each child, before fork returns there.  Each function once; at most 4. */
void fork_watch(void (*in_child)(void));

/* The lock of the process, for its list of sessions: held for a few
 * instructions; whoever holds it does not pass the gate. */
void fork_lock(void);
void fork_unlock(void);
/* False: until then it was not to be had. */
bool fork_lock_before(int64_t deadline);

/* Around short calls, not one within another: while a fork is under way
 * fork_gate_enter waits. */
void fork_gate_enter(void);
void fork_gate_leave(void);

/* Around the look-up of a name, which may last: the fork waits only a little,
 * and the child of a fork that waited in vain (and its children) must look up
 * no name within the process. */
void fork_lookup_begin(void);
void fork_lookup_end(void);
bool fork_bars_lookups(void);

#pragma GCC visibility pop

#endif
