/* Resolves host names on a short-lived thread of its own, because a resolver
 * that hangs must not delay a deadline. */
#ifndef ZKLOCK_RESOLVER_H
#define ZKLOCK_RESOLVER_H

#include "settings.h"

#pragma GCC visibility push(hidden)

struct resolver; /* shared by its thread and its owner */

/* Returns whether all hosts are numeric addresses. */
bool resolver_is_numeric(const struct hosts *hosts);
/* Starts to resolve. The other thread calls `wake(self)` when it is done,
 * unless resolver_abandon was called. Returns NULL if there is no memory or no
 * thread. */
struct resolver *resolver_start(const struct hosts *hosts,
                                void (*wake)(void *self), void *self);
/* Returns NULL while the lookup is running. Otherwise returns `ip:port
 * name…,…`, sorted, of any length: each address once, with all its names. The
 * text is valid until resolver_abandon. If no host has an address, returns "",
 * with the reason in `*error`. Then `*temporary` is true if that may change
 * soon. */
const char *resolver_result(struct resolver *resolver, const char **error,
                            bool *temporary);
/* Releases the resolver. If its thread is still running, it ends by itself. */
void resolver_abandon(struct resolver *resolver);

#pragma GCC visibility pop

#endif
