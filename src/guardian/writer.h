/* A writer is a thread that writes to a descriptor which other processes share.
 * Such a write can block, for example on a full pipe, or on a terminal that
 * Ctrl-S has stopped. Callers only wait for the descriptor in writer_finish. */
#ifndef ZKLOCK_WRITER_H
#define ZKLOCK_WRITER_H

#include <stdbool.h>
#include <stddef.h>

#pragma GCC visibility push(hidden)

struct writer;

/* Starts a writer for the descriptor `fd`. It exists until the process ends.
 * Returns NULL if no thread can be started. */
struct writer *writer_start(int fd);

/* Adds the text to the bytes that the writer must write. With `whole`, adds all
 * of it or nothing; otherwise adds as much as fits. Returns the number of bytes
 * added. */
size_t writer_take(struct writer *writer, const char *text, size_t size,
                   bool whole);

/* Returns whether everything was written. Sets `*problem` to the errno of a
 * write that has failed since the last call, or to 0. A failed write loses all
 * bytes that were not written yet. */
bool writer_is_idle(struct writer *writer, int *problem);

/* Waits until everything was written, but at most for this number of
 * milliseconds. */
void writer_finish(struct writer *writer, int milliseconds);

#pragma GCC visibility pop

#endif
