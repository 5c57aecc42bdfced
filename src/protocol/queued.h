/* The common way of waiting: nodes in the order of their numbers.  Mutex,
 * readers and writers, and a semaphore's gates. */
#ifndef ZKLOCK_QUEUED_H
#define ZKLOCK_QUEUED_H

#include "contender.h"

#pragma GCC visibility push(hidden)

/* The parts of queued_way, for a way that differs in others. */
void queued_sent(struct contender *c);
void queued_made(struct contender *c);
void queued_look(struct contender *c);
void queued_look_anew(struct contender *c);
bool queued_may_remove(struct contender *c);
watch_handler queued_heard;
void queued_note_rival(struct contender *c);

/* What the watch of its own node tells. */
void queued_hear_own(struct contender *c, enum watch_news news,
                     const struct reply *reply);

#pragma GCC visibility pop

#endif
