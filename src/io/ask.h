/* Asks: a session's requests about nodes, apart from its locks. An ask is a
 * list of requests that are sent for the Lua layer.
 *
 * The requests of one ask do not wait for each other's replies. They are sent
 * in order, as the in-flight limit has room, and one event carries all replies.
 * A read after a sync is at least as new as that sync. Other reads can be out
 * of date: a server answers them from its own state, which can lag behind the
 * leader.
 *
 * Other clients decide how many children a directory has and how large their
 * data are. So zklock does not list a directory with more than ASK_CHILDREN
 * children. An ask also limits the data that it keeps. If a node's data exceed
 * the limit, the ask returns only the Stat. */
#ifndef ZKLOCK_ASK_H
#define ZKLOCK_ASK_H

#include "acquisition.h"
#include "in_flight_limit.h"

#pragma GCC visibility push(hidden)

enum {
  ASK_CHILDREN = 50000,
  /* The assumed size of a child's name in a reply. It counts towards the
   * in-flight limit. */
  ASK_CHILD_BYTES = 64,
  /* Each read of data takes at least this share of the in-flight limit, even if
   * the data were small. Data can grow after their size was read, up to
   * ASK_PACKET. With this share at most sixteen reads are in flight, so they
   * return at most 16 MiB. */
  ASK_READ_BYTES = IN_FLIGHT_BYTES / 16,
  ASK_PACKET = 1024 * 1024, /* servers refuse a larger packet */
};

/* A text without a NUL at its end. `text` is NULL if there is no text. */
struct text {
  const char *text;
  size_t size;
};

/* The description of a request that ask_add is to create. */
struct asked {
  struct text operation;
  struct text path; /* without the chroot; "/" is the chroot itself */
  struct text data;
  struct text provided; /* the path of a node that must exist, or none */
  /* "set": the version that the node must have; -1: any. "get", "list": the
   * known number of bytes or children. */
  int number;
};

/* The Stat of a node, as a server has replied it. */
struct known {
  int64_t czxid, owner, ctime_ms, mtime_ms;
  int version, length, children;
};

struct ask;

struct request {
  struct op op; /* the protocol's request; `op.owner` is this struct */
  struct ask *ask;
  struct nonce *nonce; /* the nonce (nonce.h) that `op` checks; or NULL */
  char *text;          /* the path and the other data of `op` */
  int number;
  int cost; /* the request's share of the in-flight limit, or OUTSIDE */
  const char *whole; /* "mkdir": the path to create */
  size_t length;     /* length of the part of `whole` that is created now */
  int tries;         /* number of creates tried so far */

  /* The reply. */
  int rc;
  struct known known;
  /* "get": the data. "list": the names in order, each with its NUL. NULL: there
   * are no data, or they were too large. */
  char *data;
  size_t size;
};

/* Access to the fields: (c) constant after core_ask; (i) used by the I/O thread
 * until it posts the replies. Then the Lua thread uses and frees the ask. */
struct ask {
  struct subject subject;
  struct message begin, answered;
  uint64_t number; /* (c) identifies the ask in EVENT_ANSWERED */
  /* (c) The hold to check (ask_to_verify), or NULL. */
  struct acquisition *acquisition;
  int64_t each, all; /* (c) limits of kept data, in bytes: per node; in total */

  struct session *session;                   /* (i) */
  struct in_flight_limit *limit;             /* (i) */
  void (*done)(void *self, struct ask *ask); /* (i) */
  void *self;                                /* (i) */
  struct sender sender;                      /* (i) */
  int64_t kept; /* (i) number of bytes of data kept so far */
  /* (i) Number of requests sent so far; number of requests not answered yet. */
  int cursor, pending;
  bool is_queued; /* (i) `sender` is in the queue of the in-flight limit */

  int rc; /* (i) REPLY_OK, or why the ask failed as a whole */
  /* (i) The hold of `acquisition` has ended, or its node is missing or belongs
   * to another hold. */
  bool gone;
  int count;
  struct request requests[];
};

/* Creates an empty ask with room for `count` requests. `each` and `all` limit
 * the data that it keeps. Returns NULL if there is no memory. */
struct ask *ask_new(int count, int64_t each, int64_t all);
void ask_free(struct ask *ask);

enum ask_fault { ASK_OK, ASK_NO_MEMORY, ASK_WRONG };

/* Adds a request to the ask. "mkdir" and the two after it take several requests
 * to a server; every other operation takes one:
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
/* Creates an ask that checks whether the hold's node still exists and was
 * created by this hold. Returns NULL if there is no memory. */
struct ask *ask_to_verify(struct acquisition *acquisition);

/* Starts to send the requests. Calls `done` when all requests are answered or
 * the ask has failed, perhaps before this function returns. Called by the I/O
 * thread. */
void ask_begin(struct ask *ask, struct session *session,
               struct in_flight_limit *limit,
               void (*done)(void *self, struct ask *ask), void *self);

#pragma GCC visibility pop

#endif
