/* The common way of waiting: contenders are served in the order of their nodes'
 * sequence numbers. Mutexes, readers-writer locks and semaphore gates use
 * it. */
#ifndef ZKLOCK_QUEUED_H
#define ZKLOCK_QUEUED_H

#include "contender.h"

#pragma GCC visibility push(hidden)

/* The functions of queued_wait_ops that other ways of waiting use, too. */
void queued_on_sent(struct contender *c);
void queued_on_created(struct contender *c);
void queued_check(struct contender *c);
void queued_check_again(struct contender *c);
watch_handler queued_on_news;
void queued_store_blocker(struct contender *c);

/* Acts on news of the contender's own node. Stores the owner that a read has
 * shown. If the node is gone or another session's, ends a hold. Makes a waiter
 * search for another node, or begin again with a new node. */
void queued_on_own_news(struct contender *c, enum watch_news news,
                        const struct reply *reply);

/* The position of a contender in the queue (queue_position.c): */

/* Finds the contender's node in a list, which was requested after its create,
 * and acts on its position: grants, waits or refuses. */
void queue_position_listed(struct contender *c, const struct listing *listing);
/* Grants the lock if the last list showed no node ahead. Otherwise watches the
 * contender's own node and the nodes ahead. */
void queue_position_proceed(struct contender *c);
/* If the ACL of the node ahead forbids reading, makes `c` watch or list the
 * directory's children instead. A server need not report the deletion of such a
 * node. Called after each read of the node ahead. */
void queue_position_predecessor_read(struct contender *c);
/* Watches the contender's own node from now on. */
void queue_position_watch_own(struct contender *c);

/* Looks in a list for the node of a contender that waits or leaves. If the list
 * shows the node of a waiter, calls `found`; otherwise the waiter creates
 * another node. A contender that leaves deletes its node, or ends if the list
 * does not show it. */
void queue_position_find(struct contender *c, const struct listing *listing,
                         void (*found)(struct contender *c,
                                       const struct listing *listing,
                                       const struct entry *own));

/* The blocker of a contender: the other contender that keeps it waiting. The
 * message of a refusal names the blocker. zklock sends no request to find the
 * blocker: it uses only what this session already knows. */

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
