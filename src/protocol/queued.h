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
bool queued_may_remove(struct contender *c);
watch_handler queued_on_news;
void queued_store_blocker(struct contender *c);

/* Acts on news of the contender's own node. Stores the owner that a read has
 * shown. If the node is gone or another session's, ends a hold. Makes a waiter
 * search for another node, or begin again with a new node. */
void queued_on_own_news(struct contender *c, enum watch_news news,
                        const struct reply *reply);

#pragma GCC visibility pop

#endif
