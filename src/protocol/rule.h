/* The rules of the lock kinds: which contenders in a list block a given
 * contender? These functions are pure. The rules for mutexes and readers-writer
 * locks are those of Apache Curator. */
#ifndef ZKLOCK_RULE_H
#define ZKLOCK_RULE_H

#include "name.h"

#pragma GCC visibility push(hidden)

/* The kinds, in the order of their names in lua_acquire.c. */
enum kind {
  KIND_MUTEX,  /* waits for every lock node ahead */
  KIND_READ,   /* waits for writers ahead */
  KIND_WRITE,  /* waits for readers and writers ahead */
  KIND_PERMIT, /* waits until there are at most `permits` permits */
  /* Holds the lock if it has created the node `holder`; needs no list. */
  KIND_UNFAIR,
  KIND_MEMBER, /* waits until enough members of a double barrier have come */
  KIND_GATE,   /* contends for a semaphore's inner mutex */
};

struct ahead {
  int count;                   /* the number of blocking nodes */
  const struct entry *nearest; /* the last blocking node, which to watch */
  const struct entry *before;  /* the blocking node before `nearest` */
  /* If `nearest` is the only blocking node, does its deletion prove that no
   * node is ahead? It does not if `nearest` and `own` are writers. A writer
   * that downgrades creates a reader with its own number, and then deletes its
   * own node. */
  bool nearest_proves;
  /* If only `before` and `nearest` are ahead, does the deletion of `before`
   * prove that only `nearest` is ahead? */
  bool before_proves;
};

/* The client library whose node names a directory uses. The values have the
 * order of the names in lua_acquire.c. */
enum layout { LAYOUT_CURATOR, LAYOUT_KAZOO, LAYOUT_LATCH };

/* Returns the role of the nodes of this kind. */
enum role rule_role(enum kind kind, enum layout layout);
/* Returns the role of a writer that can downgrade to a reader of this role. */
enum role rule_writer(enum role reader);
/* Returns whether `other`, which is ahead of `own` in the list, blocks `own`. A
 * node without an owner blocks, too, if its name is a contender's. */
bool rule_blocks(enum kind kind, const struct entry *own,
                 const struct entry *other);
/* Returns whether the deletion of `other` proves that no node in its place
 * blocks `own`. A downgrade can put one there (see nearest_proves). `other` may
 * be NULL. */
bool rule_proves(enum kind kind, const struct entry *own,
                 const struct entry *other);
/* Returns whether `other` is the role of a contender of a different lock. The
 * kind or the layout of that lock differs from `kind` and `layout`. Contenders
 * of different locks ignore each other. Readers and writers share a lock.
 * Returns false for permits, because they have a directory of their own. */
bool rule_is_of_other_kind(enum kind kind, enum layout layout, enum role other);
/* Returns whether the entry is a contender that holds the lock: no node ahead
 * of it blocks it. */
bool rule_holds(const struct listing *listing, const struct entry *e);
/* Returns the number of a double barrier's members. Counts every child that can
 * be a member's node: only names that show another kind of lock do not
 * count. */
int rule_members(const struct listing *listing);
/* Stores in `ahead` which nodes in the list block `own`. `permits`: the limit,
 * if the kind is KIND_PERMIT. */
void rule_apply(enum kind kind, int permits, const struct listing *listing,
                const struct entry *own, struct ahead *ahead);

#pragma GCC visibility pop

#endif
