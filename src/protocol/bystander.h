/* Bystanders: children of a directory that no session owns, whatever their names
 * read as.  They are nobody's contenders, and are passed over for as long as a
 * watch of this connection tells that they are what was read. */
#ifndef ZKLOCK_BYSTANDER_H
#define ZKLOCK_BYSTANDER_H

#include "watch.h"

#pragma GCC visibility push(hidden)

/* So many are passed over in a directory: each costs a watch for as long as
 * anybody of ours is there. */
enum { BYSTANDERS_MAX = 64 };

struct bystander;

/* Those of one directory. */
struct bystanders {
  struct bystander *first;
};

/* Somebody of ours watches this child.  True if no session owns it: it is passed
 * over in the lists from now on. */
bool bystanders_add(struct bystanders *bystanders,
                    const struct watcher *watcher);
/* Marks, in a list that has just come, those of whom it is known. */
void bystanders_mark(const struct bystanders *bystanders,
                     struct listing *listing);
/* A new connection knows of none until they are read again. */
void bystanders_watch(const struct bystanders *bystanders);
/* Nobody of ours is there any more. */
void bystanders_forget(struct bystanders *bystanders);

#pragma GCC visibility pop

#endif
