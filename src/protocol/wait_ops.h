/* A way of waiting: what the lock kinds do differently, beyond the rule.  Each
 * function is called at one moment of a contender's life. */
#ifndef ZKLOCK_WAIT_OPS_H
#define ZKLOCK_WAIT_OPS_H

#include <stdbool.h>

#include "watch.h"

#pragma GCC visibility push(hidden)

struct contender;

struct wait_ops {
  /* PARKED and admitted: calls acquire_fsm_enter, now or later. */
  void (*enter)(struct contender *c);
  /* Called after the create was sent, and after its reply. */
  void (*sent)(struct contender *c);
  void (*made)(struct contender *c);
  /* Determines whether the contender has a node and is first.  Sends the
   * requests that it needs for this. */
  void (*look)(struct contender *c);
  /* QUEUED: does the same as `look`, because the lease is valid again or the
   * timer has fired before the deadline. */
  void (*look_anew)(struct contender *c);
  /* LEAVING with a node: returns whether it may be deleted by its name.  If
   * not, sends the requests to find out. */
  bool (*may_remove)(struct contender *c);
  /* Handles a list that was requested after the create. */
  void (*listed)(struct contender *c, const struct listing *listing);
  watch_handler *heard;
  /* Stores in c->blocker which node keeps it waiting, for its refusal. */
  void (*note_blocker)(struct contender *c);
  /* Runs at the end of each step that concerns the contender.  Does its own
   * work, then calls acquire_fsm_settle. */
  void (*settle)(struct contender *c);
};

/* queued: nodes in the order of their numbers.  semaphore: permits behind a
 * gate, which needs memory for a second contender (`gate`).  unfair: one node
 * of one name.  barrier enter: the members of a double barrier. */
extern const struct wait_ops queued_wait_ops, semaphore_wait_ops,
    unfair_wait_ops, barrier_enter_wait_ops;

#pragma GCC visibility pop

#endif
