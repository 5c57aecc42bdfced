/* A node wait: a client waits for a change of a node, without creating a node
 * itself. It is used by clients at a barrier, observers of a leader, and
 * members that leave a double barrier.
 *
 * All node waits and contenders of a session share one watch per node
 * (watch.h). */
#ifndef ZKLOCK_NODE_WAIT_H
#define ZKLOCK_NODE_WAIT_H

#include "contender.h"

#pragma GCC visibility push(hidden)

enum node_wait_kind {
  NODE_WAIT_GONE,   /* waits until the node is deleted, even for a moment */
  NODE_WAIT_EXISTS, /* waits until the node exists */
  NODE_WAIT_COUNT,  /* waits until there are not `known` contenders */
  NODE_WAIT_LEAVE,  /* a barrier leave (barrier_leave.c), ended by its module */
};

struct node_wait;

/* Called at the end of the wait. If `met`, the wait has succeeded. Otherwise it
 * has failed, for the reason in `v->refusal_code` and `v->reason`. The handler
 * is allowed to begin another node wait with the same memory. */
typedef void node_wait_handler(struct node_wait *v, bool met);

struct node_wait {
  const char *path; /* valid until the wait has ended */
  enum node_wait_kind kind;
  int known; /* COUNT: the number; the next two are ignored */
  /* True: when the wait has begun, zklock first sends a heartbeat, and then the
   * first read. So the read cannot show a state from before the wait. */
  bool needs_heartbeat;
  bool patient; /* false: the wait fails if the first read does not end it */
  int64_t until;
  node_wait_handler *ended;
  void *owner;
  enum refusal_code refusal_code;
  int reason; /* ZooKeeper's code, zklock's, or 0 */

  /* Private to node_wait.c: */
  struct node_waits *of; /* NULL: the wait has ended */
  struct node_wait *next, **link;
  struct timer deadline;
  void (*drive)(struct node_wait *v); /* LEAVE: sends the next request */
  struct queue *queue; /* of the node's directory; COUNT: of the directory
                        * itself */
  struct watcher
      watcher; /* NODE_WAIT_COUNT: used while the directory is missing */
  struct list_observer observer; /* receives the lists of NODE_WAIT_COUNT */
  bool must_read; /* the node must be read at the end of the batch */
  bool unlisted;  /* COUNT: a read found the directory, no list has yet */
  bool stale;     /* the read in flight was sent before the wait began */
  uint64_t since; /* COUNT: ignore lists with this serial or a smaller one */
  int64_t seen;   /* czxid of the node that was read first; 0: none */
};

/* The node waits of a session. */
struct node_waits {
  struct contenders *all;
  struct timers timers; /* the deadlines */
  struct node_wait *first;
  struct deferred_call flush; /* the call that sends the reads after a batch */
  struct op heartbeat;        /* a committed no-op before the reads */
  struct refusals heartbeat_pause; /* the pause after refusals of `heartbeat` */
};

void node_waits_init(struct node_waits *node_waits, struct contenders *all);

/* Begins a node wait. The caller has set the public fields. Returns false if
 * there is no memory. */
bool node_wait_begin(struct node_waits *node_waits, struct node_wait *v);
/* Ends the node wait as failed, for this reason, unless it has ended. */
void node_wait_refuse(struct node_wait *v, enum refusal_code why, int reason);
void node_wait_succeed(struct node_wait *v);

/* Ends the node waits whose deadlines have passed. */
void node_waits_run(struct node_waits *node_waits);
static inline int64_t node_waits_due(const struct node_waits *node_waits) {
  return timers_due(&node_waits->timers);
}

/* Reads all nodes again, because a new connection has no watches. */
void node_waits_connected(struct node_waits *node_waits);
/* Ends the node waits that are not `patient`, because the connection is
 * lost. */
void node_waits_disconnected(struct node_waits *node_waits);
/* Sends the requests that could not be sent before, or that were refused. */
void node_waits_drive(struct node_waits *node_waits);
/* Ends all node waits as failed. */
void node_waits_refuse(struct node_waits *node_waits, enum refusal_code why,
                       int reason);

/* A barrier leave: a member leaves a double barrier together with all other
 * members. The protocol is that of Curator's DistributedDoubleBarrier, except
 * for the differences that barrier_leave.c lists. */

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
