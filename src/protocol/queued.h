/* The common way of waiting: nodes in the order of their numbers. Mutexes,
 * readers-writer locks and the gates of semaphores use it. */
#ifndef ZKLOCK_QUEUED_H
#define ZKLOCK_QUEUED_H

#include "contender.h"

#pragma GCC visibility push(hidden)

/* The functions of queued_wait_ops that other kinds of waiting reuse. */
void queued_on_sent(struct contender *c);
void queued_on_created(struct contender *c);
void queued_check(struct contender *c);
void queued_check_again(struct contender *c);
bool queued_may_remove(struct contender *c);
watch_handler queued_on_news;
void queued_store_blocker(struct contender *c);

/* Acts on news of the contender's own node. Stores the owner that a read has
 * shown. If the node is gone or another session's, ends the hold, or makes the
 * waiter begin again. */
void queued_on_own_news(struct contender *c, enum watch_news news,
                        const struct reply *reply);

#pragma GCC visibility pop

#endif
