/* Resolves host names on a short-lived thread, because a lookup that hangs must
 * not delay the I/O thread's deadlines. */
#ifndef ZKLOCK_RESOLVER_H
#define ZKLOCK_RESOLVER_H

#include "settings.h"

#pragma GCC visibility push(hidden)

struct resolver; /* its thread and its creator share a resolver */

/* Returns whether all hosts are numeric addresses. */
bool resolver_is_numeric(const struct hosts *hosts);
/* Starts to look up the hosts. After the lookup, the other thread calls
 * `wake(self)`, unless resolver_abandon was called. Returns NULL if there is no
 * memory or no thread. */
struct resolver *resolver_start(const struct hosts *hosts,
                                void (*wake)(void *self), void *self);
/* Returns the addresses, as `ip:port name…,…`, or NULL while the lookup is
 * running. They are sorted; each address is in the text once, with all its
 * names. The text has any length and is valid until resolver_abandon. If no
 * host has an address, returns "" and sets `*error` to the reason. Then
 * `*temporary` is true if that can change soon. */
const char *resolver_result(struct resolver *resolver, const char **error,
                            bool *temporary);
/* Releases the resolver. If its thread is still running, the thread frees the
 * memory when it ends. */
void resolver_abandon(struct resolver *resolver);

#pragma GCC visibility pop

#endif
