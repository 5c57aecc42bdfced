/* An exchange: a node of ours is deleted and another is made, in one transaction.
 * Both are done, or none; each of the two is answered. */
#ifndef ZKLOCK_LIBRARY_EXCHANGE_H
#define ZKLOCK_LIBRARY_EXCHANGE_H

#include "library_handle.h"

#pragma GCC visibility push(hidden)

/* ZOK, or why nothing was sent. */
int exchange_submit(struct library *library, const struct op *create,
                    const struct op *remove);

#pragma GCC visibility pop

#endif
