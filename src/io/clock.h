/* The clock that leases and deadlines are measured by.  It counts the time
 * that the machine sleeps, too: a server does, and it will not have waited. */
#ifndef ZKLOCK_CLOCK_H
#define ZKLOCK_CLOCK_H

#include <stdint.h>

#pragma GCC visibility push(hidden)

int64_t clock_now(void); /* nanoseconds; any thread, a signal handler too */

#pragma GCC visibility pop

#endif
