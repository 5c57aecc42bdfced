/* Applies committed transactions at a server. */
#ifndef ZKLOCK_VIRTUAL_APPLY_H
#define ZKLOCK_VIRTUAL_APPLY_H

#include "inside.h"

#pragma GCC visibility push(hidden)

/* Applies the transactions of the server's log up to this zxid that the server
 * has not applied yet. */
void apply_until(struct server *server, int64_t zxid, int64_t now);

#pragma GCC visibility pop

#endif
