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
#include "looks.h"
#include "quota.h"
#include "rule.h"
#include "tail.h"
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
  VERDICT_DENIED,
  VERDICT_INVALID,
  VERDICT_CONFLICT, /* a lock of another kind is in use on the path */
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
 * most once while it is held: somebody asks for the lock.  ALONE, while it is held
 * and looks around: nobody else stands in the queue; COMPANY: perhaps somebody
 * does again.  KEPT, before REMOVED: a server refuses to delete the node, or that
 * of its gate. */
enum news {
  NEWS_GRANTED,
  NEWS_REFUSED,
  NEWS_LOST,
  NEWS_REVOKED,
  NEWS_ALONE,
  NEWS_COMPANY,
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
struct way; /* of waiting: way.h */

/* `c->verdict`, `c->reason` and `c->loss` say why.  It runs inside a call of
 * session.h: it may note and post, but not call back. */
typedef void news_handler(struct contender *c, enum news news);

struct contender_options {
  enum kind kind : 8;
  enum layout layout : 8;
  enum strategy strategy : 8; /* KIND_MUTEX */
  bool downgrade;             /* KIND_READ, by the holder of the write lock */
  bool patient; /* false: take what is free at once, else VERDICT_BUSY */
  bool lose_on_suspend;
  bool shares_path;      /* locks of other kinds may be there */
  int permits;           /* KIND_PERMIT */
  int handoffs;          /* its owner may pass the node on so often; 0: never */
  int64_t poll_interval; /* WAIT_POLL */
  int64_t deadline;      /* of the whole acquisition */
  int64_t max_hold;      /* NEVER: none */
  int64_t writer_token;  /* downgrade: the token of the writer's hold: who was
                            queued meanwhile has a node older than the
                            reader's, and comes later; and ... */
  int writer_number;     /* ... its node's number, which this one takes */
  int size;              /* of the node's data, ... */
  const void *data;      /* ... alive until NEWS_FORGOTTEN */
};

/* What a server, or we, would not do: with a reason, for who is to hear of it. */
struct denial {
  const char *what; /* "cannot list"; static; NULL: there is nothing to add */
  unsigned length;  /* it was done to so much of the directory's path */
  bool by_gate;     /* that is, of the inner mutexes' */
};

/* One that is ahead of us, as far as that is known without a request. */
struct rival {
  const void *data; /* the beginning of its node's data; of another owner's */
  int size;         /* of all of them; 0: nobody is known */
  bool holds;       /* it held the lock in the list that showed it */
};

/* VERDICT_CONFLICT: a node of another kind, and its owner. */
struct other_kind {
  enum role role; /* ROLE_FOREIGN: an unfair lock's */
  int64_t session;
};

/* What is known of our node. */
enum knowledge {
  NODE_NONE,  /* there is none */
  NODE_ASKED, /* its create is under way */
  NODE_MAYBE, /* a create's answer was lost: there may be one */
  NODE_MADE,  /* one has its name, or may have; of which session is it? */
  NODE_OURS,  /* a server has said that it is of the current session */
};

struct node {
  enum knowledge known : 8;
  bool refuted;       /* MAYBE: the one of this name is not ours, nor is any
                             before it that has our base and this id */
  bool beside_writer; /* downgrade: a list has shown both nodes */
  bool has_left;      /* others of ours know that it is not ahead any more */
  bool in_doubt; /* its create's answer was lost, and no server has shown it */
  bool let_in;   /* a double barrier's: `ready` was made after it */
  bool preceded_ready; /* the same: it was there when no `ready` was */
  bool cleared;        /* no other kind was found on the path (conflict.h) */
  struct {
    int64_t czxid, seen_at; /* of another kind's node: when it was seen first */
    int64_t since;          /* the first such node was */
  } suspect;
  uint64_t id;         /* the one in its name */
  uint64_t serial;     /* of its create: a later list shows it */
  unsigned granted_in; /* the connection in which it was granted */
  unsigned told_in;    /* the last in which a server has said whose it is */
  int64_t czxid, owner_session;
  const char *name; /* the end of its path; a granted one's does not change */
};

/* What is peculiar to it; each of these belongs to one state. */
enum view_phase {
  VIEW_PLAIN,
  VIEW_FOLLOWS,      /* ENTERING: asked for no list, and watches the tail */
  VIEW_AT_LEAST,     /* QUEUED: `ahead` are ahead, and perhaps others */
  VIEW_AWAITS_LEASE, /* QUEUED: it was first, but the lease did not stand */
  VIEW_ALONE,        /* HELD: nobody else is there, and its owner was told so */
  VIEW_LOOKED,       /* LEAVING: the node was just read */
};

/* What the last list has shown, and what was heard since. */
struct view {
  unsigned listed_in; /* the connection of that list; 0: nothing is known */
  int ahead;          /* so many are ahead of us */
  enum view_phase phase;
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

struct contender {
  struct queue *queue;
  struct contender *next, *previous; /* in the queue, in order of arrival */
  const struct way *way;
  news_handler *tell; /* its owner ... */
  void *owner;        /* ... and what that one wants kept */
  struct contender_options options;
  struct timer timer; /* deadline, max_hold, the next poll or try to leave */
  struct backoff backoff; /* ENTERING: of creates that led nowhere ... */
  unsigned backoff_in;    /* ... in this connection */
  struct chore chore;     /* at the end of the step: is it over? */

  enum contender_state state : 8;
  enum decision decision : 8;
  enum verdict verdict : 8; /* with REFUSED and LOST */
  enum loss loss : 8;       /* with LOST */
  enum revocation revocation : 8;
  enum gate_state gate_state : 8;
  bool watches_children : 1; /* counted in the directory */
  bool undone : 1;  /* LEAVING: its node is to be deleted by itself, ... */
                    /* without another's create, or the node beside it */
  bool bereft : 1;  /* LEAVING: its node is gone; is the one beside it there? */
  uint8_t attempts; /* failed tries to leave */
  int reason;       /* with REFUSED: ZooKeeper's code, or ours; or 0 */
  int kept;         /* LEAVING: why a server does not delete its node; or 0 */
  struct denial denial; /* what `reason` was one for */

  struct node node;
  char *path;   /* the node's, or of the create that asks for it; behind us */
  struct op op; /* its create, or what asks whose it is and removes it */

  struct view view;
  struct watcher own;         /* of our node */
  struct watcher predecessor; /* of the one ahead of us */
  struct watcher before;      /* of the one ahead of that */
  /* Hashes of their names, if the last that was read was not there. */
  uint32_t missed_predecessor, missed_before;
  struct rival rival; /* whom we wait for; while REFUSED is told */

  struct look *look; /* for other kinds on the path (conflict.c); or NULL */
  struct other_kind other;

  struct contender *gate; /* KIND_PERMIT: memory of the owner's */
};

/* Whoever wants to hear of each list of a directory, and is no contender. */
struct onlooker {
  struct onlooker *next;
  /* What it shows; nobody may list. */
  void (*listed)(struct onlooker *onlooker, const struct listing *listing,
                 uint64_t serial);
  void (*refused)(struct onlooker *onlooker, int rc);
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
  int sharing; /* of those who entered: of whom there is one at a time */

  struct tail *tail; /* NULL: never known */
  struct onlooker *onlookers;
  struct op *opening; /* a double barrier's: makes `ready` (gathering.c) */

  struct queue *next;          /* in its bucket (queues.h) */
  struct queue *older, *newer; /* queues of the session */
  bool in_doubt; /* a create of this session may yet be applied here ... */
  bool beside_in_doubt; /* ... or an unfair lock's, without ours beside it */
  unsigned listed_in;   /* in_doubt: the last round of lists (doubts.h) */

  bool crowded; /* `parked` waits for the quota */
  struct queue *crowded_next, *crowded_previous;
};

/* Directories that are listed because a create may be applied late (doubts.h). */
struct doubts {
  int queues;     /* so many are in doubt */
  unsigned round; /* each of these is listed once in a round, which takes ... */
  int left;       /* ... one turn or more: so many lists this turn has left */
  int64_t due;    /* the next turn */
};

/* All contenders of a session. */
struct contenders {
  struct wire *wire;
  struct quota quota;
  struct timers timers;
  uint64_t next_id;
  int active;       /* not GONE */
  int holders;      /* of them, HELD */
  int64_t heard_at; /* when holders' own watches were last seen to */
  struct queue *crowded_first, *crowded_last; /* who waits for the quota */
  struct looks looks;                         /* for locks of another kind */
  struct doubts doubts;
  /* The queue of a path, made if need be; NULL: no memory. */
  struct queue *(*queue_of)(struct contenders *all, const char *path);
  struct queues *queues; /* where that looks */
};

const char *contender_state_name(enum contender_state state);
const char *contender_loss_name(enum loss loss); /* NULL: LOSS_NONE */
/* Why ZooKeeper's `rc`, or a reason of ours, refuses.  VERDICT_TIMEOUT: it does not,
 * but there is no time to wait until it passes. */
enum verdict verdict_of(int rc);

/* The memory that a contender on a path of this length needs. */
size_t contender_size(size_t path_length);
void contender_init(struct contender *c,
                    const struct contender_options *options, news_handler *tell,
                    void *owner);

/* The fencing token of its hold. */
int64_t contender_token(const struct contender *c);
/* How many were ahead of it when it was refused; -1: one, and perhaps others. */
int contender_ahead(const struct contender *c);

/* For the files above. */

/* What its last list has shown counts no more: another is to tell. */
void contender_list_again(struct contender *c);
/* The facts of its state, asserted wherever one comes in from outside. */
void contender_check(const struct contender *c);
/* PARKED, and the last in the queue. */
void contender_join(struct contender *c, struct queue *queue);
/* Out of the queue's list. */
void contender_drop(struct contender *c);
void contender_enter(struct contender *c, enum contender_state next);
/* The last part of a new node's path, as it is asked for; of its node's path. */
void contender_new_name(const struct contender *c, char *name, size_t size);
void contender_set_name(struct contender *c, const char *name);
void contender_decide(struct contender *c, enum decision decision);
/* Its one op is under way for one thing at a time: nothing is asked about a node
 * whose create has not been answered, nor is one made while that is asked. */
void contender_prepare(struct contender *c, enum op_kind kind);
/* Any change of the directory is told from now on. */
void contender_watch_children(struct contender *c);
/* No watch is its any more; all but that of its own node. */
void contender_unwatch(struct contender *c);
void contender_unwatch_others(struct contender *c);
/* LEAVING: a server refuses to delete its node. */
void contender_keep(struct contender *c, int rc);
/* At the end of the step: its way's `settle`. */
void contender_settle_later(struct contender *c);

static inline struct wire *contender_wire(const struct contender *c) {
  return c->queue->directory.wire;
}

static inline struct directory *contender_directory(const struct contender *c) {
  return &c->queue->directory;
}

/* It looks at the nodes ahead only if they have been there for long. */
static inline bool contender_waits_by_list(const struct contender *c) {
  return c->options.kind == KIND_PERMIT ||
         c->options.strategy != WAIT_PREDECESSOR;
}

/* An unfair lock's: of a session one at a time has a node. */
static inline bool contender_is_exclusive(const struct contender *c) {
  return c->options.kind == KIND_UNFAIR;
}

static inline bool contender_is_waiting(const struct contender *c) {
  return c->state < CONTENDER_HELD;
}

/* Is what was read our node?  Not a dying one of another session; nor what
 * somebody has put in the place of ours while we had no connection: others pass
 * it over, perhaps. */
bool contender_owns(const struct contender *c, const struct reply *reply);
/* It is. */
void contender_prove(struct contender *c, const struct reply *reply);
/* The one that has its name (NODE_MADE) is not ours, or is gone: another may be
 * ours. */
void contender_refute(struct contender *c);
/* Told in this connection: somebody may have deleted it in between, and made
 * another of its name. */
bool contender_is_surely_ours(const struct contender *c);

static inline bool contender_has_node(const struct contender *c) {
  return c->node.known >= NODE_MADE;
}

/* What the view tells is of this connection. */
static inline bool contender_sees(const struct contender *c) {
  return c->view.listed_in == contender_wire(c)->connection;
}

/* A list has shown a node of our name: is it ours?  Another session's can have the
 * same name up to its number, and one of an earlier create of ours can, too. */
static inline bool contender_is_known_by_name(const struct contender *c) {
  return c->node.known == NODE_MADE && c->node.in_doubt;
}

/* Its create is under way. */
static inline bool contender_is_creating(const struct contender *c) {
  return c->op.in_flight && c->op.kind == OP_CREATE;
}

/* What is watched to know whether its node is there. */
static inline const char *contender_watch_name(const struct contender *c) {
  return contender_is_exclusive(c) ? NAME_UNFAIR : c->node.name;
}

/* Its own node is watched: that very node, whoever else has asked for it. */
static inline bool contender_watches_own(const struct contender *c) {
  return watch_is_of(&c->own, c->node.czxid);
}

/* Of these a queue has one at a time: the others wait PARKED. */
static inline bool contender_is_sharing(const struct contender *c) {
  return c->options.handoffs > 0 || contender_is_exclusive(c);
}

static inline bool contender_has_entered(const struct contender *c) {
  return c->state != CONTENDER_PARKED && c->state != CONTENDER_GONE;
}

/* Is there anything left for one more node? */
enum quota_answer contender_quota(const struct contender *c, bool urgent);

#pragma GCC visibility pop

#endif
