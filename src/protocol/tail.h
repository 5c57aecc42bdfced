/* The end of a queue as the last list showed it: the nodes just ahead of a
 * newcomer. A contender that has held the lock and returns can wait for them,
 * and needs no list until they are gone.
 *
 * The tail is only a hint and never grants: a contender that follows it has
 * seen no list, and one must follow. The number of the contender's node shows
 * how many nodes were created in between. */
#ifndef ZKLOCK_TAIL_H
#define ZKLOCK_TAIL_H

#include "rule.h"

#pragma GCC visibility push(hidden)

struct tail {
  unsigned seen_in; /* the connection of that list; 0: nothing is known */
  enum kind kind;   /* the kind that these nodes block */
  enum role role;   /* the role of a node of that kind */
  int32_t number;   /* the last number known to be assigned */
  int length;       /* how many nodes block a newcomer */
  char last[NAME_MAX_USUAL];   /* the name of the last blocking node */
  char before[NAME_MAX_USUAL]; /* the name before `last`; "": none */
};

/* Stores the nodes behind `own`, whose contender holds the lock or is about to.
 * They will be ahead of the next node of its kind.  If there are none, the tail
 * is unknown. */
void tail_note(struct tail **tail, unsigned connection, enum kind kind,
               const struct listing *listing, const struct entry *own);
void tail_forget(struct tail *tail); /* may be NULL */
/* Returns `tail` if it was stored in this connection and applies to a node of
 * this kind and role; or NULL. */
const struct tail *tail_for(const struct tail *tail, unsigned connection,
                            enum kind kind, enum role role);
/* Returns how many nodes were created between the tail and `name`, which a
 * server has just created.  -1: unknown. */
int tail_gap(const struct tail *tail, const char *name);
/* Makes `name` the new tail if no node was created in between. */
void tail_grow(struct tail *tail, const char *name);

#pragma GCC visibility pop

#endif
