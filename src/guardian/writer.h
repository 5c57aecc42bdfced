/* A thread that writes to a descriptor which other processes share and which
 * may block, such as a full pipe or a terminal stopped by Ctrl-S. The caller
 * never waits for it. */
#ifndef ZKLOCK_WRITER_H
#define ZKLOCK_WRITER_H

#include <stdbool.h>
#include <stddef.h>

#pragma GCC visibility push(hidden)

struct writer;

/* Starts a writer, which lives as long as the process. Returns NULL if no
 * thread can be started. */
struct writer *writer_start(int fd);

/* Takes as much as there is room for; with `whole`, all or nothing. Returns the
 * size taken. */
size_t writer_take(struct writer *writer, const char *text, size_t size,
                   bool whole);

/* Returns whether everything is written. Sets `problem` to the errno of a
 * failed write, whose text is lost, or to 0. */
bool writer_is_idle(struct writer *writer, int *problem);

/* Waits until everything is written, for at most that long. */
void writer_finish(struct writer *writer, int milliseconds);

#pragma GCC visibility pop

#endif
