/* The rules of the family: of the contenders in a list, who keeps us waiting?
 * Pure; for mutex and rwlock these are Apache Curator's rules. */
#ifndef ZKLOCK_RULE_H
#define ZKLOCK_RULE_H

#include "name.h"

#pragma GCC visibility push(hidden)

/* (lua_acquire.c has words for them in this order.) */
enum kind {
  KIND_MUTEX,  /* waits for every lock node ahead */
  KIND_READ,   /* waits for writers ahead */
  KIND_WRITE,  /* waits for readers and writers ahead */
  KIND_PERMIT, /* waits until there are no more of its kind than permits */
  KIND_UNFAIR, /* one node, whoever makes it first: no list at all */
  KIND_MEMBER, /* of a double barrier: waits for others to come */
  KIND_GATE,   /* a semaphore's inner mutex */
};

struct ahead {
  int count;                   /* so many keep us waiting */
  const struct entry *nearest; /* the last of them, to be watched */
  const struct entry *before;  /* the one before that */
  /* Does the deletion of `nearest`, when it is the only one, prove that
   * nobody is ahead?  Not for a writer behind a writer: who downgrades makes
   * a reader with the writer's own number and then deletes the writer. */
  bool nearest_proves;
  /* The same for `before`, when only these two are ahead. */
  bool before_proves;
};

/* Whose spelling a directory has.  (Likewise.) */
enum layout { LAYOUT_CURATOR, LAYOUT_KAZOO, LAYOUT_LATCH };

enum role rule_role(enum kind kind, enum layout layout);
/* The role of the writer that a reader of this role downgrades. */
enum role rule_writer(enum role reader);
/* Does `other`, which is listed before `own`, keep us waiting?  (So does a node that
 * no session owns, if its name is a contender's.) */
bool rule_blocks(enum kind kind, const struct entry *own,
                 const struct entry *other);
/* Does the deletion of `other`, if there is one, prove that nothing in its place
 * keeps us waiting?  (As in struct ahead.) */
bool rule_proves(enum kind kind, const struct entry *own,
                 const struct entry *other);
/* Is a node of this role in our directory one of a lock that neither waits for ours
 * nor keeps it waiting?  (Permits are not: they have a directory of their own.) */
bool rule_is_of_other_kind(enum kind kind, enum layout layout, enum role other);
/* Is it a contender, and nobody ahead of it that keeps it waiting? */
bool rule_holds(const struct listing *listing, const struct entry *e);
/* How many members a double barrier has: each child counts that some client may
 * have made for one, and that is not spelled as another kind's. */
int rule_members(const struct listing *listing);
void rule_apply(enum kind kind, int permits, const struct listing *listing,
                const struct entry *own, struct ahead *ahead);

#pragma GCC visibility pop

#endif
