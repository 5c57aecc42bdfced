/* Signals the descendants of a process that have left a process group by setsid
 * or setpgid. Finds them in /proc on Linux. On other systems, finds none. */
#ifndef ZKLOCK_DESCENDANTS_H
#define ZKLOCK_DESCENDANTS_H

#include <stdbool.h>
#include <sys/types.h>

#pragma GCC visibility push(hidden)

/* Sends the signal `number` to each descendant of `ancestor` outside the group.
 * Returns true if one of these processes, or a process of the group, cannot be
 * signalled. Such a process runs as another user. A process that has ended does
 * not count, even if its parent has not waited for it. */
bool descendants_signal(pid_t ancestor, pid_t group, int number);

#pragma GCC visibility pop

#endif
