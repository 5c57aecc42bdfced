/* Creates file descriptors that child programs do not inherit. Where the system
 * supports it, this is true even for a program that another thread starts at
 * the same moment. */
#ifndef ZKLOCK_DESCRIPTORS_H
#define ZKLOCK_DESCRIPTORS_H

#include <stdbool.h>

#pragma GCC visibility push(hidden)

/* Create non-blocking descriptors: a pipe, a Unix socket, and an accepted
 * connection. On failure, return false or -1, and set errno. */
bool descriptors_pipe(int fds[2]);
int descriptors_unix_socket(void);
int descriptors_accept(int listener);
/* Closes the descriptor `to`, and makes it a copy of `from`, which stays open.
 * On failure, returns false and sets errno. */
bool descriptors_replace(int to, int from);

#pragma GCC visibility pop

#endif
