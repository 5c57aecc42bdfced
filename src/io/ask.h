/* An ask is a batch of requests about nodes, which a session sends for the Lua
 * layer. Requests for locks do not use asks.
 *
 * The requests of one ask do not wait for each other's replies. zklock sends
 * them in order, as far as the in-flight limit (in_flight_limit.h) has room.
 * One event carries all replies. A read after a sync is at least as new as that
 * sync. Other reads can be out of date: a server answers them from its own
 * state, which can lag behind the leader.
 *
 * Other clients decide how many children a directory has and how large the data
 * of its nodes are. So zklock does not list a directory with more than
 * ASK_CHILDREN children. An ask also limits the data that it keeps. If a node's
 * data exceed the limit, the ask returns only the Stat. */
#ifndef ZKLOCK_ASK_H
#define ZKLOCK_ASK_H

#include "acquisition.h"
#include "in_flight_limit.h"

#pragma GCC visibility push(hidden)

enum {
  ASK_CHILDREN = 50000,
  /* The assumed size of one child's name in a reply. From this size, zklock
   * estimates how much of the in-flight limit a list will use. */
  ASK_CHILD_BYTES = 64,
  /* Each read of data uses at least this much of the in-flight limit, even if
   * the data were small. Data can grow after their size was read, up to
   * ASK_PACKET. With this minimum, at most sixteen reads are in flight, so
   * their replies have at most 16 MiB. */
  ASK_READ_BYTES = IN_FLIGHT_BYTES / 16,
  ASK_PACKET = 1024 * 1024, /* servers refuse a larger packet */
};

/* A text of `size` bytes, without a NUL at its end. `text` is NULL if there is
 * no text. */
struct text {
  const char *text;
  size_t size;
};

/* Describes a request that ask_add creates. */
struct asked {
  struct text operation;
  struct text path; /* without the chroot; "/" means the chroot itself */
  struct text data;
  struct text provided; /* the request requires that this node exists */
  /* "set": the version that the node must have; -1: any version. "get" and
   * "list": the size of the data or the number of children that the caller
   * expects. */
  int number;
};

/* The metadata of a node (its Stat), from a server's reply. */
struct known {
  int64_t czxid, owner, ctime_ms, mtime_ms;
  int version, length, children;
};

struct ask;

struct request {
  struct op op; /* the protocol's request; `op.owner` is this struct */
  struct ask *ask;
  struct nonce *nonce; /* the nonce (nonce.h) that `op` checks; or NULL */
  char *text;          /* the memory of the paths and data in `op` */
  int number;
  int cost;          /* share of the in-flight limit; or NO_SHARE: none */
  const char *whole; /* "mkdir": the path to create */
  size_t length;     /* "mkdir": length of the part to create now */
  int tries;         /* "mkdir": number of creates so far */

  /* The fields below contain the reply. */
  int rc;
  struct known known;
  /* "get": the data. "list": the names in order, each with a NUL. NULL: there
   * are no data, or they exceed the limits of the ask. */
  char *data;
  size_t size;
};

/* Access to the fields: (c) constant after core_ask; (i) used by the I/O thread
 * until it posts EVENT_ANSWERED. After that event the Lua thread uses and frees
 * the ask. */
struct ask {
  struct subject subject;
  struct message begin, answered;
  uint64_t number; /* (c) identifies the ask in EVENT_ANSWERED */
  /* (c) The acquisition whose hold ask_to_verify checks; NULL for other
   * requests. */
  struct acquisition *acquisition;
  int64_t each, all; /* (c) the most bytes of data to keep: per node; in all */

  struct session *session;                   /* (i) */
  struct in_flight_limit *limit;             /* (i) */
  void (*done)(void *self, struct ask *ask); /* (i) */
  void *self;                                /* (i) */
  struct sender sender;                      /* (i) */
  int64_t kept; /* (i) number of bytes of data kept so far */
  /* (i) `cursor`: number of requests sent so far. `pending`: number of requests
   * not answered yet. */
  int cursor, pending;
  bool is_queued; /* (i) `sender` is in the queue of the in-flight limit */

  int rc; /* (i) REPLY_OK, or why the ask failed as a whole */
  /* (i) A verification found that the hold has ended, or that its node is
   * missing or belongs to another hold. */
  bool gone;
  int count;
  struct request requests[];
};

/* Creates an empty batch of requests (an ask) with room for `count`. The ask
 * keeps at most `each` bytes of data per node and `all` bytes in total. Returns
 * NULL if memory runs out. */
struct ask *ask_new(int count, int64_t each, int64_t all);
void ask_free(struct ask *ask);

enum ask_fault { ASK_OK, ASK_NO_MEMORY, ASK_WRONG };

/* Adds a request to the ask. These are the operations. The last three take
 * several requests to a server; every other operation takes one:
 *
 *   "sync"         makes the server catch up with the leader
 *   "exists"       returns the Stat
 *   "list"         returns the names of all children
 *   "get"          returns the data and the Stat
 *   "set"          writes the data
 *   "create"       creates a persistent node
 *   "delete"       deletes the node
 *   "delete-both"  deletes an unfair lock's node, whose path is given, and the
 *                  node beside it, in one transaction
 *   "mkdir"        creates a directory and its parents
 *   "create-once"  like "create", but applied at most once, never late: see
 *                  nonce.h
 *   "delete-once"  like "delete", in the same way */
enum ask_fault ask_add(struct ask *ask, const char *chroot,
                       const struct asked *asked);
/* Creates an ask that checks a hold. It checks that the hold's node still
 * exists, and that this hold has created the node. Returns NULL if there is no
 * memory. */
struct ask *ask_to_verify(struct acquisition *acquisition);

/* Starts to send the requests. Calls `done(self, ask)` when all requests are
 * answered, or when the ask has failed. This can happen before ask_begin
 * returns. Only the I/O thread calls this function. */
void ask_begin(struct ask *ask, struct session *session,
               struct in_flight_limit *limit,
               void (*done)(void *self, struct ask *ask), void *self);

#pragma GCC visibility pop

#endif
