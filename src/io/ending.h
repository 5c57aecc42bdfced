/* Releases the locks of a process when a signal ends the process.
 *
 * Signal handlers belong to the program, so zklock installs none before the
 * first call of ending_watch. */
#ifndef ZKLOCK_ENDING_H
#define ZKLOCK_ENDING_H

#include <stdbool.h>

#pragma GCC visibility push(hidden)

/* Installs a handler for `signal`. When the signal arrives, the handler stops
 * the thread that has called ending_watch. Then the process's sessions end, and
 * then the process ends. If the process ignores the signal, installs no handler
 * and returns true. On failure, returns false and sets errno. */
bool ending_watch(int signal);

#pragma GCC visibility pop

#endif
