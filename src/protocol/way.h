/* What the kinds of locks differ in beyond the rule: the moments of a contender's
 * life in which its way of waiting decides. */
#ifndef ZKLOCK_WAY_H
#define ZKLOCK_WAY_H

#include <stdbool.h>

#include "watch.h"

#pragma GCC visibility push(hidden)

struct contender;

struct way {
  /* PARKED, and has a place: life_enter, now or later. */
  void (*enter)(struct contender *c);
  /* Its create was sent; was answered. */
  void (*sent)(struct contender *c);
  void (*made)(struct contender *c);
  /* Is there a node of ours, and is anybody ahead?  Asks for what is missing. */
  void (*look)(struct contender *c);
  /* QUEUED: the same once more, for the lease stands again, or its timer is due
   * before its deadline. */
  void (*look_anew)(struct contender *c);
  /* LEAVING with a node: may it be deleted by its name?  If not, it finds out. */
  bool (*may_remove)(struct contender *c);
  /* A list that was sent after its create. */
  void (*listed)(struct contender *c, const struct listing *listing);
  watch_handler *heard;
  /* Who keeps it waiting, for its refusal to tell: in c->rival. */
  void (*note_rival)(struct contender *c);
  /* At the end of each step in which something was heard that concerns it:
   * life_settle, behind what else is to be done. */
  void (*settle)(struct contender *c);
};

/* Nodes in the order of their numbers; permits behind a gate, whose contender has
 * memory for another (`gate`); one node of one name; a double barrier's members. */
extern const struct way queued_way, semaphore_way, unfair_way, gathering_way;

#pragma GCC visibility pop

#endif
