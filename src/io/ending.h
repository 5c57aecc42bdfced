/* Ending: a process that a signal ends gives back first what it holds.
 *
 * Nothing of this is there until ending_watch is called: its handlers belong
 * to the process. */
#ifndef ZKLOCK_ENDING_H
#define ZKLOCK_ENDING_H

#include <stdbool.h>

#pragma GCC visibility push(hidden)

/* From now on `signal` stops the calling thread, then ends the process's
 * sessions, then the process.  A signal that is ignored stays ignored.
 * False: errno tells. */
bool ending_watch(int signal);

#pragma GCC visibility pop

#endif
