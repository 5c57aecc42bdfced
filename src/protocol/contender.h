/* The contender: the protocol of one acquisition, from the request for a lock
 * to the confirmed removal of its node.  Pure: no I/O, no clock, no thread.
 * contender.c opens with the states and the argument why they are safe. */
#ifndef ZKLOCK_CONTENDER_H
#define ZKLOCK_CONTENDER_H

#include "op.h"
#include "room.h"
#include "rule.h"
#include "timer.h"
#include "watch.h"

#pragma GCC visibility push(hidden)

struct lane;

#define CONTENDER_STATES(X)                                        \
  X(PARKED, "parked")     /* waits for a connection or a place */  \
  X(ENTERING, "entering") /* create under way, or made, no list */ \
  X(FINDING, "finding")   /* made or not?  the reply was lost */   \
  X(QUEUED, "queued")     /* in the queue, not first */            \
  X(HELD, "held")         /* first, announced */                   \
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
 * most once while it is held: somebody asks for the lock. */
enum news {
  NEWS_GRANTED,
  NEWS_REFUSED,
  NEWS_LOST,
  NEWS_REVOKED,
  NEWS_REMOVED,
  NEWS_FORGOTTEN,
};

/* How a mutex's waiter learns of its turn.  The first is right; the others
 * are the classical alternatives, to be compared with. */
enum strategy { WAIT_PREDECESSOR, WAIT_PARENT, WAIT_POLL };

struct contender;
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

/* One that is ahead of us, as far as that is known without a request. */
struct rival {
  const void *data; /* the beginning of its node's data; of another owner's */
  int size;         /* of all of them; 0: nobody is known */
  bool holds;       /* it held the lock in the list that showed it */
};

struct contender {
  struct lane *lane;
  struct contender *next, *previous; /* in the lane, in order of arrival */
  news_handler *tell;                /* its owner ... */
  void *owner;                       /* ... and what that one wants kept */
  struct contender_options options;
  struct timer timer; /* deadline, max_hold, or the next try to leave */

  enum contender_state state;
  uint64_t id; /* the one in the node's name */
  char name[NAME_MAX_OWN];
  char *path;           /* the create's prefix, then the node; behind us */
  bool announced;       /* GRANTED was delivered */
  bool decided;         /* GRANTED or REFUSED was delivered */
  enum verdict verdict; /* with REFUSED and LOST */
  int reason;           /* with REFUSED: ZooKeeper's code, or ours; or 0 */
  enum loss loss;       /* why LOST was delivered */
  bool revoked;         /* REVOKED was delivered */
  bool asked;           /* our node's data ask us to let go */
  bool made;            /* `path` and `name` are a node that was made */
  bool doubtful;        /* a create's reply was lost: it may exist */
  bool proven;          /* czxid and owner are the node's, from a server */
  int64_t czxid, owner_session;

  unsigned granted_in;  /* the connection in which it was granted */
  unsigned listed_in;   /* the connection whose list `ahead` is from */
  int ahead;            /* contenders ahead of us in that list */
  bool shortcut, chain; /* of struct ahead */
  bool alone;           /* only the predecessor is ahead, and its deletion
                          proves that we are first */
  bool predecessor_holds, before_holds; /* in that list */
  struct rival rival;    /* whom we wait for; while REFUSED is told */
  int turn;              /* how many local turns the node has had before */
  bool anchored;         /* downgrade: a list has shown both nodes */
  bool watches_children; /* counted in the lane */
  bool unproved;         /* first, but the lease did not stand */
  bool again;            /* LEAVING only to begin again */
  int attempts;          /* failed tries to leave */

  /* KIND_PERMIT: an inner mutex lets one at a time ask for a lease. */
  struct contender *gate; /* that mutex's contender; memory of the owner's */
  struct contender *lease_of; /* in the gate: whose it is */
  bool gate_running;          /* the session knows it */
  bool gate_open;             /* it is held */

  struct op create, remove;
  struct watch *own;         /* our node */
  struct watch *predecessor; /* the one ahead of us; NULL: nobody */
  struct watch *before;      /* the one ahead of that */
};

const char *contender_state_name(enum contender_state state);
const char *contender_loss_name(enum loss loss); /* NULL: LOSS_NONE */

/* The fencing token of its hold. */
int64_t contender_token(const struct contender *c);

/* The size of the create that it was refused for (REASON_TOO_LARGE). */
int contender_bytes(const struct contender *c);

/* The memory that a contender on a path of this length needs. */
size_t contender_size(size_t path_length);
void contender_init(struct contender *c,
                    const struct contender_options *options, news_handler *tell,
                    void *owner);
void contender_join(struct contender *c, struct lane *lane);

/* May this parked one have a node now? */
bool contender_may_enter(const struct contender *c);
/* Has the session room for its node? */
enum room_answer contender_room(const struct contender *c);
bool contender_is_urgent(const struct contender *c);
/* If not: because of others that are not on their way out? */
bool contender_is_kept_out(const struct contender *c);
/* Submits whatever the state calls for; idempotent. */
void contender_drive(struct contender *c);
/* A list that includes our node, if we have one. */
void contender_listed(struct contender *c, const struct listing *listing);
/* News of a watch; `reply`: of the request that armed it, if it did. */
void contender_watch(struct contender *c, struct watch *watch,
                     enum watch_news news, const struct reply *reply);
void contender_proved(struct contender *c);
void contender_disconnected(struct contender *c);
void contender_session_ended(struct contender *c);
void contender_due(struct contender *c);
void contender_parent_failed(struct contender *c, enum verdict why, int reason);
void contender_release(struct contender *c);
void contender_refuse(struct contender *c, enum verdict why, int reason);
void contender_lose(struct contender *c, enum loss why);
/* The same, when the node is known to be gone. */
void contender_lose_node(struct contender *c);
/* The same, when the lease is over. */
void contender_lose_by_lease(struct contender *c);
void contender_close(struct contender *c);
/* The holder's own watch, armed late: an uncontended lock pays nothing. */
void contender_guard(struct contender *c);

#pragma GCC visibility pop

#endif
