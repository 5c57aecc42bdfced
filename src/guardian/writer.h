/* A thread that writes to a descriptor which other processes share. A write to
 * the descriptor can block, for example on a full pipe or a stopped terminal
 * (Ctrl-S). The caller never waits for the descriptor. */
#ifndef ZKLOCK_WRITER_H
#define ZKLOCK_WRITER_H

#include <stdbool.h>
#include <stddef.h>

#pragma GCC visibility push(hidden)

struct writer;

/* Starts a writer, which lives as long as the process. Returns NULL if no
 * thread can be started. */
struct writer *writer_start(int fd);

/* Adds text to what the writer writes, as much as there is room for. With
 * `whole`, adds all or nothing. Returns the number of bytes added. */
size_t writer_take(struct writer *writer, const char *text, size_t size,
                   bool whole);

/* Returns whether everything is written. Sets `*problem` to the errno of a
 * write that has failed since the last call, or to 0. The text of a failed
 * write is lost. */
bool writer_is_idle(struct writer *writer, int *problem);

/* Waits until everything is written, but at most `milliseconds`. */
void writer_finish(struct writer *writer, int milliseconds);

#pragma GCC visibility pop

#endif
