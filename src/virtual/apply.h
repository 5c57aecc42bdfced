/* Applies committed transactions at a server. */
#ifndef ZKLOCK_VIRTUAL_APPLY_H
#define ZKLOCK_VIRTUAL_APPLY_H

#include "inside.h"

#pragma GCC visibility push(hidden)

/* Applies all transactions of the server's log up to `zxid`, except those that
 * the server has already applied. */
void apply_until(struct server *server, int64_t zxid, int64_t now);

#pragma GCC visibility pop

#endif
