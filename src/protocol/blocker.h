/* The contenders that keep another one waiting, as far as known without a
 * request.  Used for the message of its refusal. */
#ifndef ZKLOCK_BLOCKER_H
#define ZKLOCK_BLOCKER_H

#include "contender.h"

#pragma GCC visibility push(hidden)

/* Stores which of two nodes ahead to report; either name may be NULL.  Prefers
 * a holder to the nearest. */
void blocker_note(struct contender *c, const char *nearest, const char *before);
/* Stores this session's holder: the contender waits for it, or for
 * admission. */
void blocker_note_holder(struct contender *c);
/* Stores the node ahead on which the contender has a watch. */
void blocker_note_watched(struct contender *c);

/* Logs that no session owns the watched node, if the read says so. */
void blocker_note_unowned(const struct watcher *watcher,
                          const struct reply *reply);

#pragma GCC visibility pop

#endif
