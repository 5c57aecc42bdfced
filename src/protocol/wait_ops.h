/* A way of waiting: the functions in which the kinds of locks differ, except
 * their rules (rule.h). Each function is called at a fixed point of an
 * acquisition. */
#ifndef ZKLOCK_WAIT_OPS_H
#define ZKLOCK_WAIT_OPS_H

#include <stdbool.h>

#include "watch.h"

#pragma GCC visibility push(hidden)

struct contender;

struct wait_ops {
  /* Called when the queue admits a PARKED contender. Must call
   * acquire_fsm_enter, at once or later. */
  void (*enter)(struct contender *c);
  /* on_sent is called after the create was sent, on_created after its reply. */
  void (*on_sent)(struct contender *c);
  void (*on_created)(struct contender *c);
  /* Grants the lock if the contender has a node and is first in the queue.
   * Otherwise sends the requests that are needed to find this out. */
  void (*check)(struct contender *c);
  /* Does the same as `check`, but does not rely on earlier results: requests
   * them again. Called in QUEUED when the lease is valid again, or when the
   * timer fires before the deadline. */
  void (*check_again)(struct contender *c);
  /* Returns whether a LEAVING contender can now delete its node by its name. If
   * this is not known, sends the requests that show it. */
  bool (*may_remove)(struct contender *c);
  /* Called with each list of the directory that was requested after the
   * contender's create. */
  void (*on_listed)(struct contender *c, const struct listing *listing);
  /* Receives the news of the watches of the contender. */
  watch_handler *on_news;
  /* Stores in `c->blocker` the node that blocks the contender, for the
   * refusal's message. */
  void (*store_blocker)(struct contender *c);
  /* Called at the end of a step in which contender_settle_later was called.
   * Completes the work of the step for this way of waiting, then calls
   * acquire_fsm_settle. */
  void (*settle)(struct contender *c);
};

/* The ways of waiting. queued_wait_ops: contenders are served in the order of
 * their nodes' sequence numbers. semaphore_wait_ops: permits, for which the
 * caller must set `gate` of struct contender. unfair_wait_ops: the contender
 * that creates the node `holder` has the lock. barrier_enter_wait_ops: the
 * members of a double barrier. */
extern const struct wait_ops queued_wait_ops, semaphore_wait_ops,
    unfair_wait_ops, barrier_enter_wait_ops;

#pragma GCC visibility pop

#endif
