/* What a session asks of the servers beside the protocol: is this hold still
 * good, who contends for this path (survey.h), and that holders let go
 * (revocation.h); and what tools ask of single nodes: what is there
 * (inspection.h), that it be stamped (stamp.h), or gone (eviction.h), and that a
 * barrier be set or lifted (barrier.h).  A query runs on the I/O thread and is
 * answered by one event.
 *
 * Where strangers decide how much there is to ask, it is asked in phases: the
 * requests of each are sent one by one as the window has room, and the next
 * begins when all of them are answered. */
#ifndef ZKLOCK_QUERY_H
#define ZKLOCK_QUERY_H

#include "claim.h"
#include "window.h"

#pragma GCC visibility push(hidden)

enum query_kind {
  QUERY_VERIFY,     /* of a claim: is its node there, and ours? */
  QUERY_CONTENDERS, /* of a path: who contends? */
  QUERY_HEAD,       /* of a path: who is the first of one role? */
  QUERY_REVOKE,     /* of nodes below a path: mark them */
  QUERY_STAT,       /* of a path: what is there? */
  QUERY_CHILDREN,   /* of a path: what is below? */
  QUERY_STAMP,      /* of a path: make it, or write it anew */
  QUERY_EVICT,      /* of a node: delete it */
  QUERY_SET,        /* of a barrier: make it */
  QUERY_LIFT,       /* of a barrier: delete it */
};

struct query;
struct item;

struct request {
  struct op op; /* its owner is this */
  struct query *query;
  struct item *item; /* that is asked for; or NULL */
  int cost;          /* what it takes of the window; OUTSIDE */
};

enum { OUTSIDE = -1, UNWANTED = -1 };

/* A node below the path. */
struct item {
  struct request request;
  char *path; /* whole */
  enum role role;
  int32_t sequence;
  bool there;  /* a server has told what follows, */
  bool hidden; /* ... or that this session may not look at it */
  int64_t czxid, owner, ctime_ms;
  int64_t token; /* QUERY_EVICT: the czxid of the node that is meant; -1: any */
  int size;      /* of its data */
  char *data;    /* NULL: they are empty, or were not read */
  int tries;     /* to mark it */
};

/* Some requests that do not wait for each other; the last phase of a query is
 * one without a count. */
struct phase {
  int (*count)(const struct query *query);
  /* What the i-th takes of the window; UNWANTED: it is left out. */
  int (*cost)(const struct query *query, int i);
  void (*send)(struct query *query, int i);
};

/* A directory of a survey. */
struct place {
  struct request request;
  char *path;
  bool is_there;
  int children;
};

enum { PLACES = 4 };

/* What a server has told of a node. */
struct known {
  int64_t owner, ctime_ms, mtime_ms;
  int version, length, children;
};

/* (c) constant after core_ask  (i) the I/O thread, until it posts the answer;
 * then the Lua thread, which frees it */
struct query {
  struct subject subject;
  struct message ask, answer;
  enum query_kind kind; /* (c) */
  uint64_t number;      /* (c) what the event calls it */
  struct claim *claim;  /* (c) QUERY_VERIFY */
  char *path;           /* (c) */
  bool with_data;       /* (c) QUERY_CONTENDERS, _STAT */
  enum role role;       /* (c) QUERY_HEAD */
  /* (c) QUERY_STAMP, _SET: the data; (i) QUERY_CHILDREN: the names in order, each
   * with its NUL. */
  char *text;
  size_t size; /* of that */

  struct session *session;                       /* (i) */
  struct window *window;                         /* (i) */
  void (*done)(void *self, struct query *query); /* (i) */
  void *self;                                    /* (i) */
  const struct phase *phase;                     /* (i) */
  struct sender sender;                          /* (i) */
  int cursor;                                    /* (i) in the phase */
  bool in_line;                /* (i) the window will have it send */
  int pending;                 /* (i) answers */
  struct request sync;         /* (i) */
  struct place places[PLACES]; /* (i) QUERY_CONTENDERS; others have one */
  struct item *items;          /* (i) */
  int count;                   /* (i) of them */
  struct nonce *nonce;         /* (i) QUERY_SET, _LIFT: it may be there */
  int next;                    /* (i) QUERY_HEAD: the one to be asked about */
  int contenders;              /* (i) QUERY_HEAD: so many, of any role */
  int64_t kept;                /* (i) bytes of data */

  int rc;             /* (i) the first refusal; REPLY_LOST: nobody answered */
  bool gone;          /* (i) of a node: it is not there, or not ours */
  bool missing;       /* (i) what was asked about or for does not exist */
  bool hidden;        /* (i) QUERY_STAT: it exists; no more may be told */
  struct known known; /* (i) QUERY_STAT */
  int tries;          /* (i) QUERY_STAMP, _SET: to make it */
  int marked;         /* (i) QUERY_REVOKE, _SET */
  int refusal;        /* (i) of an item, the first; the others went on */
  const struct item *refused; /* (i) that one */
};

/* NULL: no memory. */
struct query *query_to_verify(struct claim *claim);
void query_free(struct query *query);
/* On the I/O thread; `done` is called once, perhaps at once. */
void query_start(struct query *query, struct session *session,
                 struct window *window,
                 void (*done)(void *self, struct query *query), void *self);

/* For the kinds of query. */

struct query *query_new(enum query_kind kind, const struct phase *phases,
                        const char *chroot, const char *path);
char *query_join(const char *a, const char *b, const char *c);
/* NULL: no memory. */
struct item *query_add(struct query *query, const char *directory,
                       const char *name);
/* For phases: one request, or one for each item; of which none asks for what
 * strangers have made large. */
int query_count_one(const struct query *query);
int query_count_items(const struct query *query);
int query_cost_none(const struct query *query, int i);
/* In a phase's `send`.  `path` NULL: no memory. */
void query_send(struct query *query, struct request *request, enum op_kind kind,
                op_handler *handler, const char *path);
/* In a phase's `send`, first: what is read behind it is not older than this.  (A
 * server answers reads from what it has, which may lag behind the leader.) */
void query_sync(struct query *query, const char *path);
/* It is deleted.  (So it is when the query is over.) */
void query_drop_nonce(struct query *query);
/* In the handler of a request, its last word: it is answered, and the query may
 * be over; or another request takes its place. */
void query_answered(struct request *request, int rc);
void query_follow(struct request *request, enum op_kind kind,
                  op_handler *handler);

#pragma GCC visibility pop

#endif
