/* Looks up host names on a short-lived thread, because a lookup that hangs must
 * not delay the I/O thread's deadlines. */
#ifndef ZKLOCK_RESOLVER_H
#define ZKLOCK_RESOLVER_H

#include "settings.h"

#pragma GCC visibility push(hidden)

struct resolver; /* its thread and its creator share it */

/* Returns whether all hosts are numeric addresses. */
bool resolver_is_numeric(const struct hosts *hosts);
/* Starts a thread that looks up the hosts. When the lookup is done, that thread
 * calls `wake(self)`, unless resolver_abandon was called. If all hosts are
 * numeric addresses, starts no thread. Then the result is there at once, and
 * `wake` is not called. Returns NULL if there is no memory or the system cannot
 * start a thread. */
struct resolver *resolver_start(const struct hosts *hosts,
                                void (*wake)(void *self), void *self);
/* Returns the addresses with their host names, such as "10.0.0.1:2181
 * zk1,10.0.0.2:2181 zk2". Returns NULL while the lookup is running. The
 * addresses are sorted. Each is in the text once, with all its names. The text
 * is valid until resolver_abandon. If no host has an address, returns "" and
 * sets `*error` to the reason. Then it also sets `*temporary`: true if another
 * lookup can soon succeed. */
const char *resolver_result(struct resolver *resolver, const char **error,
                            bool *temporary);
/* Releases the resolver. If its thread is still running, the thread frees the
 * memory when the lookup ends. */
void resolver_abandon(struct resolver *resolver);

#pragma GCC visibility pop

#endif
