/* Host names to addresses, on a short-lived thread of its own: a resolver
 * that hangs must stop no deadline. */
#ifndef ZKLOCK_RESOLVER_H
#define ZKLOCK_RESOLVER_H

#include "settings.h"

#pragma GCC visibility push(hidden)

struct resolver; /* shared by its thread and whoever started it */

/* True: nothing of it needs a resolver. */
bool resolver_is_numeric(const struct hosts *hosts);
/* Starts resolving; `wake(self)` is called from the other thread when done,
 * unless resolver_abandon came first.  NULL: no memory, no thread. */
struct resolver *resolver_start(const struct hosts *hosts,
                                void (*wake)(void *self), void *self);
/* NULL while it is under way.  Else `ip:port,…` as the client library takes
 * it, of any length, sorted, each address once, until resolver_abandon; "" if
 * no host has an address, and why in `*error`, and whether that may change
 * soon in `*temporary`. */
const char *resolver_result(struct resolver *resolver, const char **error,
                            bool *temporary);
/* The thread, if it still runs, ends by itself. */
void resolver_abandon(struct resolver *resolver);

#pragma GCC visibility pop

#endif
