/* Creates file descriptors that child programs do not inherit. Where the system
 * supports it, this includes a program that another thread starts at the same
 * moment. */
#ifndef ZKLOCK_DESCRIPTORS_H
#define ZKLOCK_DESCRIPTORS_H

#include <stdbool.h>

#pragma GCC visibility push(hidden)

/* Create non-blocking descriptors. On failure, errno is set. */
bool descriptors_pipe(int fds[2]);
int descriptors_unix_socket(void);
int descriptors_accept(int listener);
/* Closes `to` and makes it a copy of `from`, which stays open. Returns false
 * and sets errno on failure. */
bool descriptors_replace(int to, int from);

#pragma GCC visibility pop

#endif
