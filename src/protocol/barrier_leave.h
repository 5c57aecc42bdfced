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
   * left. Otherwise the wait was given up: `refusal_code` and `reason` of
   * struct barrier_leave have the reason. */
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

struct barrier_leave {
  /* The barrier's path. `path` and `own` stay valid until `ended` is called. */
  const char *path;
  const char *own; /* the name of the member's node */
  int64_t until;
  bool patient; /* false: the leave ends instead of waiting for others */
  struct barrier_leave_owner owner;
  enum refusal_code refusal_code;
  int reason;

  /* Private to barrier_leave.c: */
  struct barrier_leaves *of;
  struct barrier_leave *next, **link;
  struct deferred_call end; /* the call that ends the leave after the step */
  enum barrier_leave_state state;
  bool inside; /* `release` was not called yet */
  struct deadline deadline;
  struct op op;
  struct op heartbeat; /* a committed no-op before the first list */
  bool is_confirmed;   /* `heartbeat` was committed */
  struct refusals backoff;
  struct node_wait node_wait;
  struct listing *others; /* the members to wait for; NULL: not listed yet */
  char *child_path;       /* the path of the node to wait for, or of `ready` */
};

/* The barrier leaves of a session. */
struct barrier_leaves {
  struct node_waits *node_waits;
  struct barrier_leave *first;
};

void barrier_leaves_init(struct barrier_leaves *all,
                         struct node_waits *node_waits);
/* Begins a barrier leave. The caller has set the public fields of `d`. */
void barrier_leave_begin(struct barrier_leaves *all, struct barrier_leave *d);
/* Gives up the wait for the other members, unless the barrier leave is over.
 * Stores `why` and `reason` in `d`, and calls `ended`. */
void barrier_leave_refuse(struct barrier_leave *d, enum refusal_code why,
                          int reason);
/* Sends the request that each barrier leave needs, unless that request is in
 * flight. Called in a new connection, and when the pause after a failed request
 * has ended. */
void barrier_leaves_drive(struct barrier_leaves *all);
/* Ends the barrier leaves that are not `patient`, because the connection is
 * lost. */
void barrier_leaves_disconnected(struct barrier_leaves *all);
/* Gives up all waits (barrier_leave_refuse). */
void barrier_leaves_refuse(struct barrier_leaves *all, enum refusal_code why,
                           int reason);

#pragma GCC visibility pop

#endif
