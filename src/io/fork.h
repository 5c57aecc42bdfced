/* What a fork must find in order, so that the child can connect.
 *
 * The child has our memory but none of our threads: a lock that one of them
 * held at the fork is held for ever.  So a fork waits until every I/O thread
 * sleeps, which holds no lock of ours or of the C library's then: microseconds,
 * or until it is given a processor, but two seconds at most.  A look-up of a
 * name may last, and the fork waits 100 ms for it, once: if it is still under
 * way, no name can be looked up in the child. */
#ifndef ZKLOCK_FORK_H
#define ZKLOCK_FORK_H

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

/* Before the first thread and the first use of the below.  `in_child` runs in
 * each child, before fork returns there.  Each function once; at most 4. */
void fork_watch(void (*in_child)(void));

/* The lock of the process, for its list of sessions: held for a few
 * instructions. */
void fork_lock(void);
void fork_unlock(void);
/* False: until then it was not to be had. */
bool fork_lock_before(int64_t deadline);

/* An I/O thread is awake from its beginning to its end, except while it waits
 * for something.  While a fork is under way fork_awake waits. */
void fork_awake(void);
void fork_asleep(void);

/* Around all that a look-up does. */
void fork_lookup_begin(void);
void fork_lookup_end(void);
/* Was one under way when this process was forked, or an ancestor of it?  A lock
 * of the resolver may be held here for ever. */
bool fork_bars_lookups(void);

#pragma GCC visibility pop

#endif
