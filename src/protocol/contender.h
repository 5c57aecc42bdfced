/* The contender: the record of one acquisition, from the request for a lock to
 * the confirmed deletion of its node. The record has the decision, and what
 * zklock knows of the contender's node and of the nodes ahead. acquire_fsm.c
 * changes the record, and explains the states and why grants are safe.
 *
 * This file also has the record of a queue: this session's contenders on one
 * path. Only contender.c changes a contender's state, the counts of states, and
 * the lists of contenders. */
#ifndef ZKLOCK_CONTENDER_H
#define ZKLOCK_CONTENDER_H

#include "directory.h"
#include "quota.h"
#include "rule.h"
#include "timer.h"

#pragma GCC visibility push(hidden)

#define CONTENDER_STATES(X)                                              \
  X(PARKED, "parked")     /* not admitted yet: it has no node */         \
  X(ENTERING, "entering") /* create in flight, or node not listed yet */ \
  X(FINDING, "finding")   /* create's reply lost: is there a node? */    \
  X(QUEUED, "queued")     /* in the queue, not first */                  \
  X(HELD, "held")         /* first, and its owner knows */               \
  X(LEAVING, "leaving")   /* its node must be deleted */                 \
  X(GONE, "gone")         /* no node is left on a server */

enum contender_state {
#define X(name, text) CONTENDER_##name,
  CONTENDER_STATES(X)
#undef X
};

/* Why an acquisition was refused or a hold ended. */
enum refusal_code {
  REFUSED_TIMEOUT,
  REFUSED_BUSY,
  REFUSED_CANCELLED,
  REFUSED_LOST,
  REFUSED_DISCONNECTED,
  REFUSED_CLOSED,
  REFUSED_AUTH,
  REFUSED_DENIED,
  REFUSED_INVALID,
  REFUSED_CONFLICT, /* a lock of another kind is in use on the path */
};

/* The reasons why a hold ended before its owner released it. */
#define LOSSES(X)                                                           \
  X(MAX_HOLD_REACHED, "max_hold_reached") /* held for the maximum time */   \
  X(NODE_DELETED, "node_deleted")         /* its node was deleted */        \
  X(LEASE_EXPIRED, "lease_expired")       /* no server replied in time */   \
  X(CONNECTION_LOST, "connection_lost")   /* with lose_on_suspend */        \
  X(SESSION_EXPIRED, "session_expired")   /* ZooKeeper ended the session */ \
  X(SESSION_CLOSED, "session_closed")     /* the user closed it before */

enum loss {
  LOSS_NONE,
#define X(name, text) LOSS_##name,
  LOSSES(X)
#undef X
};

/* The events that a contender reports. The first is GRANTED or REFUSED, never
 * both. The others follow a grant, except the last three:
 *   REVOKED      another client asks for the lock; at most once in a hold
 *   UNCONTENDED  after session_watch_contention: no other node is in the queue
 *   CONTENDED    after UNCONTENDED: other nodes may be in the queue again
 *   LOST         the hold ended without a release; at most once
 *   UNDELETABLE  a server refuses to delete the node (or the gate's) so far
 *   REMOVED      the node does not exist any more, or never existed
 *   FORGOTTEN    always the last event: the owner has the memory again */
enum news {
  NEWS_GRANTED,
  NEWS_REFUSED,
  NEWS_LOST,
  NEWS_REVOKED,
  NEWS_UNCONTENDED,
  NEWS_CONTENDED,
  NEWS_UNDELETABLE,
  NEWS_REMOVED,
  NEWS_FORGOTTEN,
};

/* How a waiter for a mutex detects that it is first. Applications should use
 * WAIT_PREDECESSOR; the others exist for comparison. */
enum strategy { WAIT_PREDECESSOR, WAIT_PARENT, WAIT_POLL };

struct contender;
struct contenders;
struct queue;
struct queue_tail; /* fast_requeue.h */
struct wait_ops;   /* the functions of a kind: acquire_fsm.h */

/* Receives an event of `c`; `c->refusal_code`, `c->reason` and `c->loss` have
 * the details. Runs inside a session_ function, and must not call another. */
typedef void news_handler(struct contender *c, enum news news);

struct contender_options {
  enum kind kind : 8;
  enum layout layout : 8;
  enum strategy strategy : 8; /* only for KIND_MUTEX */
  bool downgrade;             /* this reader holds the write lock now */
  bool patient;               /* false: if the lock is not free, REFUSED_BUSY */
  bool lose_on_suspend;
  bool shares_path;      /* true: allow locks of other kinds */
  int permits;           /* PERMIT: the limit; MEMBER: how many must come */
  int local_turns;       /* maximum of local turns (acquisition.c) */
  int64_t poll_interval; /* WAIT_POLL: the time between two lists */
  int64_t deadline;      /* when the whole acquisition must end */
  int64_t max_hold;      /* the maximum length of the hold; or NEVER */
  /* downgrade: the token of the writer's hold, which the reader inherits. Its
   * own node's czxid would be too great: a writer with an older node can get
   * the lock later. */
  int64_t writer_token;
  int writer_number; /* downgrade: the number of the writer's node */
  int size;          /* the size of the node's data */
  const void *data;  /* valid until NEWS_FORGOTTEN */
};

/* What a server or zklock refused to do, for the error message. */
struct denial {
  const char *what; /* the operation, as "cannot list"; NULL: none */
  unsigned length;  /* the message shows so much of the directory's path */
  bool by_gate;     /* that directory is the gates' directory */
};

/* What this session knows of a node ahead of a contender. */
struct blocker {
  const void *data; /* the first bytes of the node's data */
  int size;         /* the size of all the data; 0: unknown */
  bool holds;       /* in the last list, the node was first */
};

/* The node of another kind that has caused REFUSED_CONFLICT. */
struct other_kind {
  enum role role; /* ROLE_FOREIGN: the `holder` of an unfair lock */
  int64_t session;
};

/* What this session knows of a contender's own node. */
enum knowledge {
  NODE_NONE,  /* there is no node */
  NODE_ASKED, /* the create is in flight */
  NODE_MAYBE, /* the create's reply was lost: there may be a node */
  NODE_MADE,  /* the name is known, the owner is not proved */
  NODE_OURS,  /* a server has named this session as the node's owner */
};

struct node {
  enum knowledge known : 8;
  bool refuted;        /* MAYBE: no listed node up to `name` is ours */
  bool beside_writer;  /* downgrade: one list has shown both nodes */
  bool has_left;       /* this session's waiters do not count the node */
  bool unconfirmed;    /* the create's reply was lost; no node proved */
  bool let_in;         /* double barrier: `ready` is newer than this node */
  bool preceded_ready; /* double barrier: existed before `ready` */
  bool cleared;        /* no conflict with another kind (conflict.c) */
  struct {
    int64_t czxid, seen_at; /* the suspect node, when it was first seen */
    int64_t since;          /* when the first suspect was seen */
  } suspect;
  uint64_t id;            /* the id in the node's name */
  uint64_t serial;        /* the create's serial: later lists show the node */
  unsigned granted_in;    /* the connection of the grant */
  unsigned owner_seen_in; /* the last connection that showed the owner */
  int64_t czxid, owner_session;
  const char *name; /* a part of `c->path`; constant after the grant */
};

/* A detail of struct view. Most values occur in one state only. */
enum view_phase {
  VIEW_PLAIN,
  VIEW_FOLLOWS,      /* ENTERING: the last node is watched, without a list */
  VIEW_AT_LEAST,     /* QUEUED: at least `ahead` nodes are ahead */
  VIEW_AWAITS_LEASE, /* QUEUED: first, but without a lasting lease */
  VIEW_UNCONTENDED,  /* HELD: NEWS_UNCONTENDED was reported */
  VIEW_READ,         /* LEAVING: the node was just read */
};

/* What the last list of the queue showed, updated by later events. */
struct view {
  unsigned listed_in; /* the connection of the last list; 0: none is valid */
  int ahead;          /* the number of nodes ahead */
  enum view_phase phase;
  /* `_proves`: see struct ahead. `_holds`: unblocked, so it holds the lock. */
  bool nearest_proves, before_proves;
  bool nearest_holds, before_holds;
};

/* What was decided about `c`. LOST and RELEASED come only after GRANTED. */
enum decision {
  DECISION_NONE,
  DECISION_GRANTED,
  DECISION_REFUSED,
  DECISION_LOST,
  DECISION_RELEASED,
};

/* Was the holder asked to release the lock? REPORTED: NEWS_REVOKED was sent. */
enum revocation { REVOCATION_NONE, REVOCATION_SEEN, REVOCATION_REPORTED };

struct contender {
  struct queue *queue;
  struct contender *next, *previous; /* the queue's list, by arrival */
  const struct wait_ops *wait_ops;
  news_handler *notify; /* reports events to the owner */
  void *owner;          /* the owner's pointer, for `notify` */
  struct contender_options options;
  struct timer timer;       /* deadline, max_hold, next poll or next delete */
  struct refusals repeated; /* the pause after creates without effect */
  struct deferred_call
      deferred_call; /* calls wait_ops->settle after the step */

  enum contender_state state : 8;
  enum decision decision : 8;
  enum refusal_code refusal_code : 8; /* only in REFUSED, LOST */
  enum loss loss : 8;                 /* only in LOST */
  enum revocation revocation : 8;
  bool has_gate : 1;         /* the memory of `gate` is in use */
  bool watches_children : 1; /* `children_wanted` counts `c` */
  bool undone : 1;           /* LEAVING: delete only the node, not `holder` */
  bool own_node_gone : 1;    /* LEAVING: only `holder` may still exist */
  uint8_t attempts;          /* the number of failed deletes, at most 6 */
  int reason;           /* only in REFUSED: a server's or zklock's code; or 0 */
  int undeletable;      /* LEAVING: the code of the refused delete; or 0 */
  struct denial denial; /* the operation that failed with `reason` */

  struct node node;
  char *path;   /* the node's path, in memory behind the struct */
  struct op op; /* the create, owner check or delete of the node */

  struct view view;
  struct watcher own;         /* watches the contender's own node */
  struct watcher predecessor; /* watches the nearest node ahead */
  struct watcher before;      /* watches the node before the predecessor */
  /* Hashes of two names: reads found these listed nodes missing (queued.c). */
  uint32_t missed_predecessor, missed_before;
  struct blocker blocker; /* valid while REFUSED is reported */

  struct conflict_check *check; /* the current check (conflict.c); or NULL */
  struct other_kind other;

  /* KIND_PERMIT: the gate, in memory of the owner: a contender for the
   * semaphore's inner mutex, whose holder alone is allowed to add a permit. */
  struct contender *gate;
};

/* An object that is not a contender, but receives each list of a directory. */
struct list_observer {
  struct list_observer *next;
  /* Receive a list, or the code of a failed request for a list. */
  void (*on_listed)(struct list_observer *o, const struct listing *listing,
                    uint64_t serial);
  void (*on_refused)(struct list_observer *o, int rc);
};

/* The most contenders with a node on one path. Further contenders wait for a
 * node, in order of arrival, in the state PARKED. */
enum { QUEUE_ENTERED_MAX = 1000 };

/* This session's contenders on one path, and their directory. */
struct queue {
  struct directory directory; /* must be first: converted by a cast */
  struct contenders *all;
  struct deferred_call flush;

  struct contender *first, *last;
  struct contender *parked; /* the first PARKED contender */
  int entered;              /* number of contenders that may have a node */
  int impatient;            /* number of PARKED, not `patient` contenders */
  int undeletable;          /* number of contenders with a refused delete */
  int admitted_alone;       /* those with a node that are admitted alone */

  struct queue_tail *tail; /* the last stored tail; NULL: none was stored */
  struct list_observer *observers;
  struct op *ready_create; /* double barrier: the create of `ready` */

  struct queue *next;          /* the next in the bucket (queues.c) */
  struct queue *older, *newer; /* the neighbours by age */
  bool late_create_possible;   /* a server can still apply a create here */
  bool late_holder_possible;   /* a server can still create `holder` here */

  bool awaits_quota; /* `parked` waits for the quota */
  struct queue *quota_next, *quota_previous;
};

enum { CHECKED_MAX = 256 };

/* All contenders of a session. */
struct contenders {
  struct pipeline *pipeline;
  struct quota quota;
  struct timers timers;
  uint64_t next_id;
  int active;             /* number of contenders that are not GONE */
  int holders;            /* number of HELD contenders */
  int64_t own_watched_at; /* when the holders' own watches were last set */
  struct queue *quota_first, *quota_last; /* the queues that need quota */
  int64_t late_list_at; /* when late_creates.c must list; or NEVER */
  /* When this session last checked a path for locks of another kind
   * (conflict.c). The hash of the path selects the place. */
  struct {
    uint64_t path;
    int64_t at;
  } checked[CHECKED_MAX];
  /* Returns the queue of a path and creates it if needed; NULL: no memory. */
  struct queue *(*queue_of)(struct contenders *all, const char *path);
  struct queues *queues; /* for queue_of */
};

const char *contender_state_name(enum contender_state state);
const char *contender_loss_name(enum loss loss); /* NULL for LOSS_NONE */
/* Returns the refusal code for a code of a server or of zklock. A transient
 * `rc` gives REFUSED_TIMEOUT, because no time is left for a retry. */
enum refusal_code refusal_code_of(int rc);

/* Returns how many bytes a contender on a path of this length needs. */
size_t contender_size(size_t path_length);
void contender_init(struct contender *c,
                    const struct contender_options *options,
                    news_handler *notify, void *owner);

/* Returns the fencing token of the hold of `c`. */
int64_t contender_token(const struct contender *c);
/* Returns how many nodes were ahead of `c` at its refusal; -1: one or more. */
int contender_ahead(const struct contender *c);

/* Requests another list, and ignores the view of `c` until it comes. */
void contender_list_again(struct contender *c);
/* Asserts the invariants of the state of `c`. Called before `c` is changed. */
void contender_assert(const struct contender *c);
/* Appends `c` to the queue as PARKED. */
void contender_join(struct contender *c, struct queue *queue);
/* Removes `c` from the list of its queue. */
void contender_drop(struct contender *c);
/* Changes the state of `c`, and the counters that depend on it. */
void contender_enter(struct contender *c, enum contender_state next);
/* Writes to `name` a new node's name, to which the server adds a number. */
void contender_new_name(const struct contender *c, char *name, size_t size);
void contender_set_name(struct contender *c, const char *name);
void contender_decide(struct contender *c, enum decision decision);
/* Prepares `c->op` for a request. `c->op` serves one request at a time: a read
 * and a create of the node are never in flight together. */
void contender_prepare(struct contender *c, enum op_kind kind);
/* Makes each change of the children cause a list of the directory, for `c`. */
void contender_watch_children(struct contender *c);
/* contender_unwatch drops all watches of `c`. contender_unwatch_others keeps
 * the watch of its own node. */
void contender_unwatch(struct contender *c);
void contender_unwatch_others(struct contender *c);
/* Stores the code `rc` with which a server refuses the delete of `c`. */
void contender_set_undeletable(struct contender *c, int rc);
/* Calls `c->wait_ops->settle` at the end of the step (deferred_call.h). */
void contender_settle_later(struct contender *c);

static inline struct pipeline *contender_pipeline(const struct contender *c) {
  return c->queue->directory.pipeline;
}

static inline struct directory *contender_directory(const struct contender *c) {
  return &c->queue->directory;
}

/* Returns whether `c` lists its directory instead of watching nodes ahead. */
static inline bool contender_waits_by_list(const struct contender *c) {
  return c->options.kind == KIND_PERMIT ||
         c->options.strategy != WAIT_PREDECESSOR;
}

/* Returns whether `c` wants an unfair lock, whose path has one `holder`. */
static inline bool contender_is_exclusive(const struct contender *c) {
  return c->options.kind == KIND_UNFAIR;
}

static inline bool contender_is_waiting(const struct contender *c) {
  return c->state < CONTENDER_HELD;
}

/* Returns whether the node in `reply` is the node of `c`: this session owns it,
 * and it was not replaced. A node that replaced it has another czxid, and
 * waiters may have overtaken `c` in between. */
bool contender_owns(const struct contender *c, const struct reply *reply);
/* Records that the node in `reply` is the node of `c`. */
void contender_prove(struct contender *c, const struct reply *reply);
/* Records that the node found by its name (NODE_MADE) is gone or belongs to
 * another session. This session may have another node with the id of `c`. */
void contender_refute(struct contender *c);
/* Returns whether a server has named this session as the node's owner in this
 * connection. After a reconnection, the name may belong to a new node. */
bool contender_is_surely_ours(const struct contender *c);

static inline bool contender_has_node(const struct contender *c) {
  return c->node.known >= NODE_MADE;
}

/* Returns whether the view of `c` is from a list of the current connection. */
static inline bool contender_sees(const struct contender *c) {
  return c->view.listed_in == contender_pipeline(c)->connection;
}

/* Returns whether only a list has shown the node, by its name. The node may
 * belong to another session, or to an earlier create of this contender: such
 * names differ only in their sequence numbers. */
static inline bool contender_is_known_by_name(const struct contender *c) {
  return c->node.known == NODE_MADE && c->node.unconfirmed;
}

static inline bool contender_is_creating(const struct contender *c) {
  return c->op.in_flight && c->op.kind == OP_CREATE;
}

/* Returns the name of the node whose deletion ends the hold of `c`. */
static inline const char *contender_watch_name(const struct contender *c) {
  return contender_is_exclusive(c) ? NAME_UNFAIR : c->node.name;
}

/* Returns whether a watch is armed on exactly the node of `c`. */
static inline bool contender_watches_own(const struct contender *c) {
  return watch_is_of(&c->own, c->node.czxid);
}

/* Returns whether a queue admits contenders like `c` one at a time. */
static inline bool contender_is_admitted_alone(const struct contender *c) {
  return c->options.local_turns > 0 || contender_is_exclusive(c);
}

/* Creates that a server may apply late (late_creates.c). late_creates_expect:
 * if the reply to the create of `c` was lost, makes zklock list the directory
 * from time to time. Called before `c` forgets its node. late_creates_end stops
 * that, because the ZooKeeper session has ended. late_creates_list, called for
 * each queue at the time that late_creates_due returns, requests the list. */
void late_creates_expect(struct contender *c);
void late_creates_end(struct queue *queue);
void late_creates_list(struct queue *queue);
int64_t late_creates_due(const struct contenders *all);

static inline bool contender_has_entered(const struct contender *c) {
  return c->state != CONTENDER_PARKED && c->state != CONTENDER_GONE;
}

/* Asks the quota for room for the node of `c` (quota_ask). `urgent`: `c` must
 * not wait for other contenders of this session. */
enum quota_answer contender_quota(const struct contender *c, bool urgent);

#pragma GCC visibility pop

#endif
