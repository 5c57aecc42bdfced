/* A way of waiting: the functions in which lock kinds differ, apart from their
 * rules (rule.h). Each function is called at a certain moment of an
 * acquisition. */
#ifndef ZKLOCK_WAIT_OPS_H
#define ZKLOCK_WAIT_OPS_H

#include <stdbool.h>

#include "watch.h"

#pragma GCC visibility push(hidden)

struct contender;

struct wait_ops {
  /* Called when the queue admits a PARKED contender. Calls acquire_fsm_enter,
   * at once or later. */
  void (*enter)(struct contender *c);
  /* on_sent is called after the create was sent, on_created after its reply. */
  void (*on_sent)(struct contender *c);
  void (*on_created)(struct contender *c);
  /* Determines whether the contender has a node and is first. Sends the
   * requests that this needs. */
  void (*check)(struct contender *c);
  /* Does the same as `check`, but also repeats requests whose results are
   * already known. Called in QUEUED when the lease is valid again, or when the
   * timer fires before the deadline. */
  void (*check_again)(struct contender *c);
  /* Returns whether the node of a LEAVING contender can be deleted by its name.
   * If this is not known, sends the requests to find out. */
  bool (*may_remove)(struct contender *c);
  /* Receives each list that was requested after the create. */
  void (*on_listed)(struct contender *c, const struct listing *listing);
  /* Receives the news of the watches of the contender. */
  watch_handler *on_news;
  /* Stores in `c->blocker` the node that blocks the contender, for the
   * refusal's message. */
  void (*store_blocker)(struct contender *c);
  /* Called at the end of a step, after contender_settle_later. Finishes the
   * step for this way of waiting, then calls acquire_fsm_settle. */
  void (*settle)(struct contender *c);
};

/* The ways of waiting. queued_wait_ops: nodes in the order of their numbers.
 * semaphore_wait_ops: permits behind a gate; the caller must set `gate` of
 * struct contender. unfair_wait_ops: one node, `holder`.
 * barrier_enter_wait_ops: the members of a double barrier. */
extern const struct wait_ops queued_wait_ops, semaphore_wait_ops,
    unfair_wait_ops, barrier_enter_wait_ops;

#pragma GCC visibility pop

#endif
