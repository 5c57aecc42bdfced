/* The trace: one line for each turn of a thread and for each message, so that two
 * runs can be compared byte by byte.  It has no address, descriptor or process
 * number in it. */
#ifndef ZKLOCK_VIRTUAL_TRACE_H
#define ZKLOCK_VIRTUAL_TRACE_H

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

/* From now on lines are appended to this file; NULL: to none. */
bool trace_to(const char *name);
bool trace_is_on(void);
void trace(int64_t now, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#pragma GCC visibility pop

#endif
