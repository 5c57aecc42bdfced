/* The trace is a text with a line for each turn of a thread and each message.
 * It contains no memory address, descriptor or process id. So a test can
 * compare the traces of two runs byte by byte. */
#ifndef ZKLOCK_VIRTUAL_TRACE_H
#define ZKLOCK_VIRTUAL_TRACE_H

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

/* Starts to append the trace to this file; NULL ends the trace. Returns false
 * if the file cannot be opened. */
bool trace_to(const char *name);
bool trace_is_on(void);
void trace(int64_t now, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#pragma GCC visibility pop

#endif
