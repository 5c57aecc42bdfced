/* A thread that writes to a descriptor which other processes share and which may
 * block: a full pipe, a terminal that Ctrl-S has stopped.  The caller never
 * waits for it. */
#ifndef ZKLOCK_WRITER_H
#define ZKLOCK_WRITER_H

#include <stdbool.h>
#include <stddef.h>

#pragma GCC visibility push(hidden)

struct writer;

/* It lives as long as the process.  NULL: there is no room for a thread. */
struct writer *writer_start(int fd);

/* Takes what there is room for; with `whole`, all or nothing.  Returns its size. */
size_t writer_take(struct writer *writer, const char *text, size_t size,
                   bool whole);

/* Is everything written?  Sets `problem` to the errno of a write that has
 * failed, whose text is lost, or to 0. */
bool writer_is_idle(struct writer *writer, int *problem);

/* Waits until everything is written, but no longer. */
void writer_finish(struct writer *writer, int milliseconds);

#pragma GCC visibility pop

#endif
