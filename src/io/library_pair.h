/* One request that is a transaction of two nodes in one directory: an unfair lock's
 * node and the one beside it are made together, and deleted together. */
#ifndef ZKLOCK_LIBRARY_PAIR_H
#define ZKLOCK_LIBRARY_PAIR_H

#include "library_handle.h"

#pragma GCC visibility push(hidden)

/* OP_CREATE or OP_REMOVE, with `beside`.  Returns the library's code. */
int pair_submit(struct library *library, const struct op *op);

#pragma GCC visibility pop

#endif
