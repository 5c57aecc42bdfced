/* A rehearsal: would a directory that we make be of use to ourselves?  A server
 * makes it, looks into it, makes a child and takes both away, in one transaction:
 * whatever comes of it, nothing is left, and nobody has seen it. */
#ifndef ZKLOCK_LIBRARY_REHEARSAL_H
#define ZKLOCK_LIBRARY_REHEARSAL_H

#include "library_handle.h"

#pragma GCC visibility push(hidden)

/* ZOK, or why nothing was sent. */
int rehearsal_submit(struct library *library, const struct op *op);

#pragma GCC visibility pop

#endif
