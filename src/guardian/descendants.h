/* Finds the descendants of a process that have left a process group by setsid
 * or setpgid. Uses /proc on Linux; on other systems it finds none. */
#ifndef ZKLOCK_DESCENDANTS_H
#define ZKLOCK_DESCENDANTS_H

#include <stdbool.h>
#include <sys/types.h>

#pragma GCC visibility push(hidden)

/* Sends the signal to each descendant outside the group. Returns true if a
 * descendant, or a process of the group, cannot be signalled because it runs as
 * another user. An ended process that was not reaped does not count. */
bool descendants_signal(pid_t ancestor, pid_t group, int number);

#pragma GCC visibility pop

#endif
