/* Releases the locks of a process when a signal ends the process.
 *
 * zklock installs no signal handler before the first call of ending_watch,
 * because handlers belong to the program. */
#ifndef ZKLOCK_ENDING_H
#define ZKLOCK_ENDING_H

#include <stdbool.h>

#pragma GCC visibility push(hidden)

/* Installs a handler: `signal` stops the thread that has called this, ends the
 * process's sessions, and then ends the process. An ignored signal stays
 * ignored. Returns false and sets errno on failure. */
bool ending_watch(int signal);

#pragma GCC visibility pop

#endif
