/* What ZooKeeper's library is given in place of some functions of the C
 * library, which it calls on threads of its own as well, at times of its own:
 * descriptors that no child program inherits, the gate of fork.h, and the
 * streams of stream.h. */
#ifndef ZKLOCK_IMPORTS_H
#define ZKLOCK_IMPORTS_H

#include <stdbool.h>

#pragma GCC visibility push(hidden)

/* For the shared library that has `function`, once in the process.  False:
 * this system links in another way, and the library keeps what it has. */
bool imports_replace(void (*function)(void));
/* The end to read from of the pipe that the library made last on this thread,
 * told once; -1: not known. */
int imports_last_pipe(void);

#pragma GCC visibility pop

#endif
