/* A node that is made, written or deleted only while another one is there: a
 * transaction that checks that one first. */
#ifndef ZKLOCK_LIBRARY_CONDITION_H
#define ZKLOCK_LIBRARY_CONDITION_H

#include "library_handle.h"

#pragma GCC visibility push(hidden)

/* OP_MKDIR, of a node that stays, OP_WRITE or OP_REMOVE with `provided`.  Returns the library's code. */
int condition_submit(struct library *library, const struct op *op);

#pragma GCC visibility pop

#endif
