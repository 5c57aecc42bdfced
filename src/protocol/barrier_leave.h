/* A barrier leave: a member leaves a double barrier together with all other
 * members. The protocol is that of Curator's DistributedDoubleBarrier, except
 * for the differences that barrier_leave.c lists. */
#ifndef ZKLOCK_BARRIER_LEAVE_H
#define ZKLOCK_BARRIER_LEAVE_H

#include "node_wait.h"

#pragma GCC visibility push(hidden)

struct barrier_leave;

struct barrier_leave_owner {
  void *self;
  /* Called when the member's node is no longer needed. The owner then ends the
   * hold, which deletes the node. */
  void (*release)(void *self);
  /* Called at the end, after `release`. If `all` is true, all members have
   * left. Otherwise the leave was given up: `refusal_code` and `reason` of
   * `wait` have the reason. */
  void (*ended)(void *self, bool all);
  /* Called last. Then the owner can free the struct barrier_leave. */
  void (*forgotten)(void *self);
};

enum barrier_leave_state {
  BARRIER_LEAVE_LISTS,   /* a list of the members is requested */
  BARRIER_LEAVE_WAITS,   /* another member's node must be deleted first */
  BARRIER_LEAVE_DELETES, /* this is the last member: it deletes `ready` */
  BARRIER_LEAVE_OVER,
};

/* The caller of barrier_leave_prepare sets the first three fields. */
struct barrier_leave {
  /* Its `path`, the barrier's path, `until` and `patient` (false: the leave ends
   * instead of waiting for others). Later has the reason of a refusal. */
  struct node_wait wait;
  const char *own; /* the name of the member's node, valid until `ended` */
  struct barrier_leave_owner owner;

  /* Private to barrier_leave.c: */
  struct node_waits *of;
  struct deferred_call end; /* the call that ends the leave after the step */
  enum barrier_leave_state state;
  bool inside; /* `release` was not called yet */
  struct op op;
  struct op heartbeat; /* a committed no-op before the first list */
  bool is_confirmed;   /* `heartbeat` was committed */
  struct refusals backoff;
  struct node_wait node_wait; /* the wait for another member's node */
  struct listing *others; /* the members to wait for; NULL: not listed yet */
  char *child_path;       /* the path of the node to wait for, or of `ready` */
};

/* Prepares a barrier leave, so that node_wait_begin begins it, and
 * node_wait_refuse gives it up. */
void barrier_leave_prepare(struct barrier_leave *d);

#pragma GCC visibility pop

#endif
