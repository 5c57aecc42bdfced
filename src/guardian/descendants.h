/* The descendants of a process that have left a process group, by setsid or
 * setpgid: found in Linux's /proc, elsewhere out of reach. */
#ifndef ZKLOCK_DESCENDANTS_H
#define ZKLOCK_DESCENDANTS_H

#include <stdbool.h>
#include <sys/types.h>

#pragma GCC visibility push(hidden)

/* What is left of a command. */
struct remains {
  bool left;    /* a process that has not ended */
  bool refused; /* one that this process may not signal */
};

/* Signals each descendant outside the group, and finds what is left of the
 * descendants and of the group.  Elsewhere than on Linux it changes nothing. */
void descendants_signal(pid_t ancestor, pid_t group, int number,
                        struct remains *remains);

#pragma GCC visibility pop

#endif
