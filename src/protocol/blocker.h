/* The contenders that keep another one waiting, as far as known without a
 * request.  Used for the message of its refusal. */
#ifndef ZKLOCK_BLOCKER_H
#define ZKLOCK_BLOCKER_H

#include "contender.h"

#pragma GCC visibility push(hidden)

/* Chooses the node that a refusal of `c` will report: the one of these two that
 * holds the lock, or else the nearest. Either name may be NULL. */
void blocker_note(struct contender *c, const char *nearest, const char *before);
/* Stores this session's holder as the blocker: `c` waits for it, or for its
 * admission to the queue. */
void blocker_note_holder(struct contender *c);
/* Stores the node ahead on which the contender has a watch. */
void blocker_note_watched(struct contender *c);

/* Logs that no session owns the watched node, if the read says so. */
void blocker_note_unowned(const struct watcher *watcher,
                          const struct reply *reply);

#pragma GCC visibility pop

#endif
