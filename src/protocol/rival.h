/* Those who keep a contender waiting: what is known of them without a request,
 * for its refusal to tell. */
#ifndef ZKLOCK_RIVAL_H
#define ZKLOCK_RIVAL_H

#include "contender.h"

#pragma GCC visibility push(hidden)

/* Either may be NULL.  Rather one that holds than the nearest. */
void rival_note(struct contender *c, const char *nearest, const char *before);
/* It waits for another of this session, or for a place. */
void rival_note_holder(struct contender *c);
/* Whoever of those it watches is known. */
void rival_note_watched(struct contender *c);

/* It was read: if no session owns it the log is told. */
void rival_note_unowned(const struct watcher *watcher,
                        const struct reply *reply);

#pragma GCC visibility pop

#endif
