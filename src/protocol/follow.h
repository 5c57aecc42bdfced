/* Following the tail of a queue: how who comes back waits without a list at
 * first. */
#ifndef ZKLOCK_FOLLOW_H
#define ZKLOCK_FOLLOW_H

#include "contender.h"

#pragma GCC visibility push(hidden)

/* Its create was sent; was answered.  False: a list is to tell where it is. */
bool follow_begin(struct contender *c);
bool follow_go_on(struct contender *c);
/* Between the two: whom it follows is gone. */
void follow_lose(struct contender *c);

/* A list has shown our node: who stands behind it is the tail. */
void follow_note_tail(const struct contender *c, const struct listing *listing,
                      const struct entry *own);
/* Was anybody behind a holder of ours, when that was known last? */
bool follow_knows_tail(const struct contender *c);
/* May the delete of its node, or its create, be one transaction with another's?
 * Such a create's answer does not tell whose the node is. */
bool follow_joins(const struct contender *c);

#pragma GCC visibility pop

#endif
