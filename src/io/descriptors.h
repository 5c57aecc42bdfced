/* File descriptors that no child program inherits, not even one that another
 * thread starts at this moment, where the system can make them so. */
#ifndef ZKLOCK_DESCRIPTORS_H
#define ZKLOCK_DESCRIPTORS_H

#include <stdbool.h>

#pragma GCC visibility push(hidden)

/* All of these make them non-blocking, too; errno tells what failed. */
bool descriptors_pipe(int fds[2]);
int descriptors_unix_socket(void);
int descriptors_accept(int listener);
/* `to` becomes what `from` is, which is left open. */
bool descriptors_replace(int to, int from);

#pragma GCC visibility pop

#endif
