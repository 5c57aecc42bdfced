/* Orphans: nodes in a directory that are named like this session's nodes, but
 * that no contender knows. A create whose reply was lost can leave such a node.
 * zklock deletes the orphans that this session owns. */
#ifndef ZKLOCK_ORPHANS_H
#define ZKLOCK_ORPHANS_H

#include "pipeline.h"

#pragma GCC visibility push(hidden)

/* The functions of the directory that the orphans module calls. The directory
 * owns the set of orphans. */
struct orphans_owner {
  void *self;
  /* Returns whether the child may be the node of a known contender. */
  bool (*knows)(void *self, const char *name);
  /* Requests another list, which may show orphans that are not stored. */
  void (*list_again)(void *self);
};

struct orphans;

/* Returns a new, empty set of orphans of the directory at `path`. The owner
 * keeps and frees `path`. `flush` runs at the end of the batch of calls
 * (session_run), and calls orphans_send. Returns NULL if there is no memory. */
struct orphans *orphans_new(const struct orphans_owner *owner,
                            struct pipeline *pipeline,
                            struct deferred_call *flush, const char *path,
                            size_t length);
/* Frees `s`. Must not be called while orphans_are_known returns true. */
void orphans_free(struct orphans *s);
/* Returns whether `s` stores orphans. Orphans of other sessions count, too. */
bool orphans_are_known(const struct orphans *s);

/* Returns whether `s` accepts more orphans now. */
bool orphans_accept_more(struct orphans *s);
/* Reads the owner of the child, and deletes the child if this session is the
 * owner. Returns false if there is no memory. */
bool orphans_remove(struct orphans *s, const char *name);

/* Sends the reads of owners that are not sent yet, unless too many are in
 * flight. */
void orphans_send(struct orphans *s);
/* Forgets the orphans of other sessions. If the next list shows them, zklock
 * reads their owners again. */
void orphans_forget_foreign(struct orphans *s);
/* Stops sending requests. Called when the session is closed. */
void orphans_closed(struct orphans *s);

#pragma GCC visibility pop

#endif
