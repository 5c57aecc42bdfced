/* A heartbeat: a transaction that changes nothing, and proves that a quorum has
 * committed it.  It is a multi of two checks.  lease.h has the reason: each other
 * small write is either refused, or changes something. */
#ifndef ZKLOCK_LIBRARY_HEARTBEAT_H
#define ZKLOCK_LIBRARY_HEARTBEAT_H

#include "library_handle.h"

#pragma GCC visibility push(hidden)

void heartbeat_init(struct library *library);
/* ZOK, or why nothing was sent. */
int heartbeat_submit(struct library *library, const struct op *op);

#pragma GCC visibility pop

#endif
