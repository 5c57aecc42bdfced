/* The descendants of a process that have left a process group, by setsid or
 * setpgid: found in Linux's /proc, elsewhere out of reach. */
#ifndef ZKLOCK_DESCENDANTS_H
#define ZKLOCK_DESCENDANTS_H

#include <sys/types.h>

#pragma GCC visibility push(hidden)

/* Each of them that is not in the group gets the signal. */
void descendants_signal(pid_t ancestor, pid_t group, int number);

#pragma GCC visibility pop

#endif
