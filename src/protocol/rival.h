/* Those who keep a contender waiting: what is known of them without a request,
 * for its refusal to tell; and which of them are no contenders, and so are not
 * waited for (bystander.h). */
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

/* The one that is watched is of nobody: passed over, and a list is asked for.
 * False: it has to be waited for. */
bool rival_pass_over(struct contender *c, const struct watcher *watcher);
/* One that keeps us waiting was read. */
void rival_read(struct contender *c, const struct watcher *watcher);
/* (Who is watched is known.) */
bool rival_is_to_be_asked(const struct contender *c, const struct entry *e);
/* The one ahead that may be nobody's, and is to be asked about; or NULL. */
const struct entry *rival_suspect(const struct contender *c,
                                  const struct listing *listing,
                                  const struct entry *own,
                                  const struct ahead *ahead);

#pragma GCC visibility pop

#endif
