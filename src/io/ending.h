/* Releases the locks of a process that a signal ends.
 *
 * Before the first call of ending_watch there are no handlers: they belong to
 * the process. */
#ifndef ZKLOCK_ENDING_H
#define ZKLOCK_ENDING_H

#include <stdbool.h>

#pragma GCC visibility push(hidden)

/* Makes `signal` stop the calling thread, then end the process's sessions, then
 * the process. An ignored signal stays ignored. Returns false and sets errno on
 * failure. */
bool ending_watch(int signal);

#pragma GCC visibility pop

#endif
