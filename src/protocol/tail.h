/* The end of a queue, as a list has shown it last: whom somebody who comes now
 * would find just ahead.  Whoever has held the lock and comes back can wait for
 * that one, and needs no list before it goes.
 *
 * It is a hint.  Nobody is granted by it: who follows the tail has seen nothing,
 * and a list must tell.  How many have come since, our node's number says. */
#ifndef ZKLOCK_TAIL_H
#define ZKLOCK_TAIL_H

#include "rule.h"

#pragma GCC visibility push(hidden)

struct tail {
  unsigned seen_in; /* the connection of that list; 0: nothing is known */
  enum kind kind;   /* whom they keep waiting, */
  enum role role;   /* and what that one's node is */
  int32_t number;   /* the last that was given, as far as is known */
  int length; /* so many, from the front, keep one waiting who comes now */
  char last[NAME_MAX_USUAL];   /* the last of them, */
  char before[NAME_MAX_USUAL]; /* and the one before that; empty: none */
};

/* What stands behind `own`, who is about to hold the lock or holds it, will be
 * ahead of the next node of its kind.  NULL, or empty: nothing. */
void tail_note(struct tail **tail, unsigned connection, enum kind kind,
               const struct listing *listing, const struct entry *own);
void tail_forget(struct tail *tail); /* NULL: nothing is known anyway */
/* What is known for a node of this kind and role, in this connection; or NULL. */
const struct tail *tail_for(const struct tail *tail, unsigned connection,
                            enum kind kind, enum role role);
/* How many have come between the tail and `name`, which a server has just made?
 * -1: nobody can tell. */
int tail_gap(const struct tail *tail, const char *name);
/* If nobody has, it is the last itself, for others of its kind. */
void tail_grow(struct tail *tail, const char *name);

#pragma GCC visibility pop

#endif
