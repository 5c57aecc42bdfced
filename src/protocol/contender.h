/* The contender: one acquisition, from the request for a lock to the confirmed
 * removal of its node; what is known of its node, of those ahead of it, and what
 * was decided.  This is the record: life.c says what happens to one, and opens
 * with the states and the argument why they are safe.
 *
 * Beside it the record of a queue: the contenders of this session on one path.
 * contender.c is the only writer of a contender's state, of the counts that
 * follow from the states, and of a queue's list. */
#ifndef ZKLOCK_CONTENDER_H
#define ZKLOCK_CONTENDER_H

#include "directory.h"
#include "hindrance.h"
#include "rule.h"
#include "timer.h"

#pragma GCC visibility push(hidden)

#define CONTENDER_STATES(X)                                        \
  X(PARKED, "parked")     /* waits for a connection or a place */  \
  X(ENTERING, "entering") /* create under way, or made, no list */ \
  X(FINDING, "finding")   /* made or not?  the reply was lost */   \
  X(QUEUED, "queued")     /* in the queue, not first */            \
  X(HELD, "held")         /* first, and told so */                 \
  X(LEAVING, "leaving")   /* the node must go */                   \
  X(GONE, "gone")         /* nothing of it is left on a server */

enum contender_state {
#define X(name, text) CONTENDER_##name,
  CONTENDER_STATES(X)
#undef X
};

/* Why an acquisition was refused, or a hold ended. */
enum verdict {
  VERDICT_TIMEOUT,
  VERDICT_BUSY,
  VERDICT_CANCELLED,
  VERDICT_LOST,
  VERDICT_EXPIRED,
  VERDICT_DISCONNECTED,
  VERDICT_CLOSED,
  VERDICT_AUTH,
  VERDICT_INVALID,
};

/* What ended a hold that its owner had not released. */
#define LOSSES(X)                                                        \
  X(MAX_HOLD, "max_hold")   /* it was held for as long as was allowed */ \
  X(DELETED, "deleted")     /* its node was deleted */                   \
  X(SILENCE, "silence")     /* the lease was over: no server answered */ \
  X(SUSPENDED, "suspended") /* no connection, and that was enough */     \
  X(EXPIRED, "expired")     /* the ZooKeeper session is over ... */      \
  X(CLOSED, "closed")       /* ... and had time left: it was closed */

enum loss {
  LOSS_NONE,
#define X(name, text) LOSS_##name,
  LOSSES(X)
#undef X
};

/* What a contender tells its owner.  Exactly one of GRANTED and REFUSED comes
 * first; after GRANTED at most one LOST; REMOVED when the node is known to be
 * gone; FORGOTTEN last, and then the memory is the owner's again.  REVOKED, at
 * most once while it is held: somebody asks for the lock.  KEPT, before REMOVED:
 * a server refuses to delete the node, or that of its gate. */
enum news {
  NEWS_GRANTED,
  NEWS_REFUSED,
  NEWS_LOST,
  NEWS_REVOKED,
  NEWS_KEPT,
  NEWS_REMOVED,
  NEWS_FORGOTTEN,
};

/* How a mutex's waiter learns that it is first.  The first is right; the others
 * are the classical alternatives, to be compared with. */
enum strategy { WAIT_PREDECESSOR, WAIT_PARENT, WAIT_POLL };

struct contender;
struct contenders;
struct queue;

/* `c->verdict`, `c->reason` and `c->loss` say why.  It runs inside a call of
 * session.h: it may note and post, but not call back. */
typedef void news_handler(struct contender *c, enum news news);

struct contender_options {
  enum kind kind;
  enum layout layout;
  bool downgrade;            /* KIND_READ, by the holder of the write lock: */
  char writer[NAME_MAX_OWN]; /* takes this node's number, its place ... */
  int64_t writer_token;      /* ... and its token: who was queued meanwhile
                                has a node older than the reader's, and comes
                                later */
  int permits;               /* KIND_PERMIT */
  enum strategy strategy;    /* KIND_MUTEX */
  int64_t poll_interval;     /* WAIT_POLL */
  int handoffs;              /* local turns on one node; 0: a node for each */
  int64_t deadline;          /* of the whole acquisition */
  int64_t max_hold;          /* NEVER: none */
  bool patient; /* false: take what is free at once, else VERDICT_BUSY */
  bool lose_on_suspend;
  const void *data; /* the node's data; alive until NEWS_FORGOTTEN */
  int size;
};

/* What a server, or we, would not do: with a reason, for who is to hear of it. */
struct denial {
  const char *what; /* "cannot list"; static; NULL: there is nothing to add */
  size_t length;    /* it was done to so much of the directory's path */
  bool by_gate;     /* that is, of the inner mutexes' */
};

/* One that is ahead of us, as far as that is known without a request. */
struct rival {
  const void *data; /* the beginning of its node's data; of another owner's */
  int size;         /* of all of them; 0: nobody is known */
  bool holds;       /* it held the lock in the list that showed it */
};

/* What is known of our node. */
enum knowledge {
  NODE_NONE,  /* there is none */
  NODE_ASKED, /* its create is under way */
  NODE_MAYBE, /* a create's answer was lost: there may be one */
  NODE_MADE,  /* it was made, and has a name; of which session is it? */
  NODE_OURS,  /* a server has said that it is of the current session */
};

struct node {
  enum knowledge known;
  uint64_t id;            /* the one in its name */
  uint64_t serial;        /* of its create: a later list shows it */
  bool is_one_of_several; /* found, with others of our mark and this id: one of
                             them may be ours */
  bool beside_writer;     /* downgrade: a list has shown both nodes */
  int turn;               /* how many local turns it has had before */
  unsigned granted_in;    /* the connection in which its first turn began */
  unsigned told_in;       /* the last in which a server has said whose it is */
  int64_t czxid, owner_session;
  char name[NAME_MAX_OWN];
};

/* What the last list has shown, and what was heard since. */
struct view {
  unsigned listed_in; /* the connection of that list; 0: nothing is known */
  bool awaits_lease;  /* it was first, but the lease did not stand */
  bool looked;        /* it leaves, and the node was just read */
  int ahead;          /* so many are ahead of us */
  bool asks;          /* is the nearest to be waited for at all?  It is read */
  /* As in struct ahead. */
  bool nearest_proves, before_proves;
  bool nearest_holds, before_holds;
};

/* LOST and RELEASED follow GRANTED. */
enum decision {
  DECISION_NONE,
  DECISION_GRANTED,
  DECISION_REFUSED,
  DECISION_LOST,
  DECISION_RELEASED,
};

/* Somebody has asked the holder to let go. */
enum revocation { REVOCATION_NONE, REVOCATION_HEARD, REVOCATION_TOLD };

/* A semaphore's permit: what has become of its gate, that is the contender for
 * the inner mutex, which lets one at a time ask for a permit. */
enum gate_state {
  GATE_UNUSED, /* it was never asked for */
  GATE_WAITS,
  GATE_INSIDE, /* it is held */
  GATE_OUT,    /* not any more, or never; the session still knows it */
  GATE_FREE,   /* its memory is ours again */
};

/* A way of waiting.  The kinds share them: who waits for whom is the rule's. */
struct way {
  /* Of a session one at a time has a node: its name is the same for all. */
  bool exclusive;
  /* The last part of a new node's path, as it is asked for. */
  void (*name)(const struct contender *c, char *name, size_t size);
  /* PARKED, and has a place: life_enter, now or later. */
  void (*enter)(struct contender *c);
  /* Its create was sent; was answered (NULL: its list is on the way); was
   * refused, for there is such a node (exclusive). */
  void (*sent)(struct contender *c);
  void (*made)(struct contender *c);
  void (*exists)(struct contender *c);
  /* FINDING or LEAVING: is there a node of ours? */
  void (*find)(struct contender *c);
  /* QUEUED: is anybody ahead?  The same, when the lease stands again. */
  void (*look)(struct contender *c);
  void (*look_anew)(struct contender *c);
  /* QUEUED, and its timer is due before its deadline. */
  void (*due)(struct contender *c);
  /* LEAVING with a node: may it be deleted by its name?  If not, it finds out. */
  bool (*may_remove)(struct contender *c);
  /* A list that was sent after its create. */
  void (*listed)(struct contender *c, const struct listing *listing);
  watch_handler *heard;
  /* Who keeps it waiting, for its refusal to tell: in c->rival. */
  void (*note_rival)(struct contender *c);
  /* At the end of each step in which something was decided, or heard that
   * concerns it; NULL: nothing is to be done. */
  void (*settle)(struct contender *c);
};

struct contender {
  struct queue *queue;
  struct contender *next, *previous; /* in the queue, in order of arrival */
  const struct way *way;
  news_handler *tell; /* its owner ... */
  void *owner;        /* ... and what that one wants kept */
  struct contender_options options;
  struct timer timer; /* deadline, max_hold, the next poll or try to leave */
  struct chore chore; /* at the end of the step: is it over? */

  enum contender_state state;
  enum decision decision;
  enum verdict verdict; /* with REFUSED and LOST */
  int reason;           /* with REFUSED: ZooKeeper's code, or ours; or 0 */
  struct denial denial; /* what that was a reason for */
  enum loss loss;       /* with LOST */
  enum revocation revocation;
  int attempts; /* failed tries to leave */
  int kept;     /* LEAVING: why a server does not delete its node; or 0 */

  struct node node;
  char *path; /* the node's, or of the create that asks for it; behind us */
  struct op create, remove;

  struct view view;
  struct watcher own;         /* of our node */
  struct watcher predecessor; /* of the one ahead of us */
  struct watcher before;      /* of the one ahead of that */
  bool watches_children;      /* counted in the directory */
  struct rival rival;         /* whom we wait for; while REFUSED is told */

  struct contender *gate; /* KIND_PERMIT: memory of the owner's */
  enum gate_state gate_state;
};

/* Of one path only so many contenders have a node; the others wait PARKED, in
 * order.  So they do where the session's quota is used up (quota.h). */
enum { QUEUE_ENTERED_MAX = 1000 };

/* This session's contenders on one path, in order of arrival, and the directory
 * there. */
struct queue {
  struct directory directory; /* (first: one is found by the other) */
  struct contenders *all;
  struct chore flush;

  struct contender *first, *last;
  struct contender *parked; /* nobody before it is to be looked at */
  int entered;              /* so many have a node, or may have */
  int impatient;            /* PARKED ones that do not wait for others */
  int kept;                 /* LEAVING ones whose nodes no server deletes */
  int sharing; /* of those who entered: with a node for several in turn */
  int64_t creates_from; /* none is sent before: one of them may be too large */

  struct queue *next;          /* in its bucket of the session's table */
  struct queue *older, *newer; /* queues of the session */
  bool crowded, urgent; /* somebody waits for the quota, urgently: quota.h */
  struct queue *crowded_next, *crowded_previous;
};

/* All contenders of a session. */
struct contenders {
  struct wire *wire;
  struct quota quota;
  struct timers timers;
  uint64_t next_id;
  int active;       /* not GONE */
  int holders;      /* of them, HELD */
  int kept;         /* of all queues */
  int64_t heard_at; /* when holders' own watches were last seen to */
  struct queue *crowded_first, *crowded_last; /* who waits for the quota */
  struct hindrances hindrances;
  /* The queue of a path, made if need be; NULL: no memory. */
  struct queue *(*queue_of)(struct contenders *all, const char *path);
};

const char *contender_state_name(enum contender_state state);
const char *contender_loss_name(enum loss loss); /* NULL: LOSS_NONE */
/* Why ZooKeeper's `rc`, or a reason of ours, refuses. */
enum verdict verdict_of(int rc);

/* The memory that a contender on a path of this length needs. */
size_t contender_size(size_t path_length);
void contender_init(struct contender *c,
                    const struct contender_options *options, news_handler *tell,
                    void *owner);

/* The fencing token of its hold. */
int64_t contender_token(const struct contender *c);
/* The size of the create that it was refused for (REASON_TOO_LARGE). */
int contender_bytes(const struct contender *c);

/* For the files above. */

/* The facts of its state, asserted wherever one comes in from outside. */
void contender_check(const struct contender *c);
/* PARKED, and the last in the queue. */
void contender_join(struct contender *c, struct queue *queue);
/* Out of the queue's list. */
void contender_drop(struct contender *c);
void contender_enter(struct contender *c, enum contender_state next);
/* The last part of its node's path. */
void contender_set_name(struct contender *c, const char *name);
/* LEAVING: a server refuses to delete its node. */
void contender_keep(struct contender *c, int rc);
/* At the end of the step: its way's `settle`, and is it over? */
void contender_settle_later(struct contender *c);

static inline struct wire *contender_wire(const struct contender *c) {
  return c->queue->directory.wire;
}

static inline bool contender_is_waiting(const struct contender *c) {
  return c->state < CONTENDER_HELD;
}

static inline bool contender_has_node(const struct contender *c) {
  return c->node.known >= NODE_MADE;
}

/* What the view tells is of this connection. */
static inline bool contender_sees(const struct contender *c) {
  return c->view.listed_in == contender_wire(c)->connection;
}

/* Of these a queue has one at a time: the others wait PARKED. */
static inline bool contender_is_sharing(const struct contender *c) {
  return c->options.handoffs > 0 || c->way->exclusive;
}

static inline bool contender_has_entered(const struct contender *c) {
  return c->state != CONTENDER_PARKED && c->state != CONTENDER_GONE;
}

/* Is anybody on its way out, and will be gone soon? */
static inline bool contenders_are_leaving(const struct contenders *all) {
  return all->wire->counters.pending_releases > (uint64_t)all->kept;
}

/* Is there anything left for its node? */
enum quota_answer contender_quota(const struct contender *c, bool urgent);

#pragma GCC visibility pop

#endif
