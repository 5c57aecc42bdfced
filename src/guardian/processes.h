/* The processes of a command: those of its process group, and on Linux also
 * descendants of the guardian that have left the group by setsid or setpgid. A
 * signal to the group does not reach these. They are found in /proc. */
#ifndef ZKLOCK_PROCESSES_H
#define ZKLOCK_PROCESSES_H

#include <stdbool.h>
#include <sys/types.h>

#pragma GCC visibility push(hidden)

/* On Linux, makes this process the parent of its orphaned descendants. Returns
 * false if the system does not support this. */
bool processes_adopt_orphans(void);

/* Sends the signal `number` to the process group. With `outside`, also sends it
 * to descendants of this process that have left the group. Returns true if a
 * process runs as another user and cannot be signalled. Processes that have
 * ended do not count, even if their parent has not waited for them. */
bool processes_signal(pid_t group, int number, bool outside);

/* Returns whether a process of the group, or a child of this process, is left.
 * If the group is empty, sets `*group` to 0, because the system can soon give
 * its id to another group. */
bool processes_are_left(pid_t *group);

#pragma GCC visibility pop

#endif
