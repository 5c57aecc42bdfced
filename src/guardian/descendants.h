/* Sends signals to descendants of a process that have left its process group by
 * setsid or setpgid. A signal to the group does not reach them. Finds them in
 * /proc on Linux; on other systems, finds none. */
#ifndef ZKLOCK_DESCENDANTS_H
#define ZKLOCK_DESCENDANTS_H

#include <stdbool.h>
#include <sys/types.h>

#pragma GCC visibility push(hidden)

/* Sends the signal `number` to each descendant of `ancestor` outside the group.
 * Returns true if one of them, or a process of the group, runs as another user
 * and cannot be signalled. Processes that have ended do not count, even if
 * their parent has not waited for them. */
bool descendants_signal(pid_t ancestor, pid_t group, int number);

#pragma GCC visibility pop

#endif
