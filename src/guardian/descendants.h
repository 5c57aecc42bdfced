/* The descendants of a process that have left a process group, by setsid or
 * setpgid: found in Linux's /proc, elsewhere out of reach. */
#ifndef ZKLOCK_DESCENDANTS_H
#define ZKLOCK_DESCENDANTS_H

#include <stdbool.h>
#include <sys/types.h>

#pragma GCC visibility push(hidden)

/* Each of them that is not in the group is sent the signal.  True: one of them,
 * or of the group, runs as another user and cannot be sent it.  (A process that
 * has ended and was not reaped does not count.) */
bool descendants_signal(pid_t ancestor, pid_t group, int number);

#pragma GCC visibility pop

#endif
