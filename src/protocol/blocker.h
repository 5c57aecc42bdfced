/* The blocker of a contender: the other contender that keeps it waiting. The
 * message of a refusal names the blocker. zklock sends no request to find the
 * blocker: it uses only what this session already knows. */
#ifndef ZKLOCK_BLOCKER_H
#define ZKLOCK_BLOCKER_H

#include "contender.h"

#pragma GCC visibility push(hidden)

/* Stores in `c->blocker` the node that the refusal of `c` will name. `nearest`
 * is the name of the nearest node ahead of `c`, `before` that of the next node
 * ahead. Stores `before` if only `before` is known to hold the lock and its
 * data are known. Otherwise stores `nearest`. Either name can be NULL. */
void blocker_store(struct contender *c, const char *nearest,
                   const char *before);
/* Stores this session's holder of the lock, if there is one, as the blocker of
 * `c`. Used while `c` has no node, because its queue has not admitted it
 * yet. */
void blocker_store_holder(struct contender *c);
/* Stores the blocker of `c`: the predecessor that `c` watches, or the watched
 * node before the predecessor. */
void blocker_store_watched(struct contender *c);

/* Logs a message if the read in `reply` shows that no session owns the watched
 * node. Contenders' nodes are ephemeral, but such a node is not: it stays until
 * an operator deletes it. */
void blocker_warn_unowned(const struct watcher *watcher,
                          const struct reply *reply);

#pragma GCC visibility pop

#endif
