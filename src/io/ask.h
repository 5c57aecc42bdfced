/* A session's requests about nodes, apart from its locks. Lua decides what to
 * ask.
 *
 * The requests of one ask do not wait for each other. They are sent in order,
 * as the in-flight limit has room, and one event carries all replies. A read
 * after a sync is at least as new as that sync. Other reads may be out of date:
 * a server answers them from its own state, which may lag behind the leader.
 *
 * Other clients decide how many children a directory has and how large their
 * data are. So zklock does not list a directory with more than ASK_CHILDREN
 * children. An ask limits the data that it keeps: for larger data, only the
 * Stat is returned. */
#ifndef ZKLOCK_ASK_H
#define ZKLOCK_ASK_H

#include "acquisition.h"
#include "in_flight_limit.h"

#pragma GCC visibility push(hidden)

enum {
  ASK_CHILDREN = 50000,
  /* The approximate size of a child's name and its share of the list,
   * on the pipeline. */
  ASK_CHILD_BYTES = 64,
  /* The least share of the in-flight limit for a read. The data may have grown
   * since their size was read, up to the size of a packet. So at most sixteen
   * reads are in flight, and they return at most 16 MiB. */
  ASK_READ_BYTES = IN_FLIGHT_BYTES / 16,
  ASK_PACKET = 1024 * 1024, /* servers close the connection at more */
};

/* A text without a NUL at its end; `text` is NULL: none. */
struct text {
  const char *text;
  size_t size;
};

/* One request, as the caller describes it. */
struct asked {
  struct text operation;
  struct text path; /* without the chroot; "/" is the chroot itself */
  struct text data;
  struct text provided; /* the path of a node that must exist */
  int number; /* "set": the version, -1 any; "get", "list": the known number of
                 bytes or children */
};

/* What a server has replied about a node. */
struct known {
  int64_t czxid, owner, ctime_ms, mtime_ms;
  int version, length, children;
};

struct ask;

struct request {
  struct op op; /* its owner is this request */
  struct ask *ask;
  struct nonce *nonce; /* may exist for this transaction; or NULL */
  char *text;          /* its path, and what else `op` refers to */
  int number;
  int cost;          /* its share of the in-flight limit; or OUTSIDE */
  const char *whole; /* "mkdir": the path to create, */
  size_t length;     /* ... of which this part is in progress, */
  int tries;         /* ... and the number of parts tried so far */

  /* The reply. */
  int rc;
  struct known known;
  char *data; /* "get": the data; "list": the names in order, each with its NUL;
                 NULL: none, or not kept */
  size_t size;
};

/* (c) constant after core_ask, (i) owned by the I/O thread until it posts the
 * replies, then by the Lua thread, which frees the ask */
struct ask {
  struct subject subject;
  struct message begin, answered;
  uint64_t number; /* (c) identifies it in the event */
  struct acquisition
      *acquisition;  /* (c) the hold to check: see ask_to_verify */
  int64_t each, all; /* (c) most data kept, in bytes: per node; in total */

  struct session *session;                   /* (i) */
  struct in_flight_limit *limit;             /* (i) */
  void (*done)(void *self, struct ask *ask); /* (i) */
  void *self;                                /* (i) */
  struct sender sender;                      /* (i) */
  int64_t kept;                              /* (i) bytes of data */
  int cursor, pending;                       /* (i) sent; unanswered */
  bool in_line; /* (i) the in-flight limit will call `send` */

  int rc;    /* (i) REPLY_OK, or why requests have no reply */
  bool gone; /* (i) no node of `acquisition`, or another session owns it */
  int count;
  struct request requests[];
};

/* Creates an ask with room for `count` requests. Returns NULL if there is no
 * memory. */
struct ask *ask_new(int count, int64_t each, int64_t all);
void ask_free(struct ask *ask);

enum ask_fault { ASK_FINE, ASK_NO_MEMORY, ASK_WRONG };

/* Adds a request. All operations but the last three are a single request:
 *
 *   "sync"
 *   "exists"       returns the Stat
 *   "list"         returns the names of all children
 *   "get"          returns the data and the Stat
 *   "set"
 *   "create"       creates a persistent node
 *   "delete"
 *   "delete-both"  deletes an unfair lock's node, whose path is given, and the
 *                  node beside it, in one transaction
 *   "mkdir"        creates a directory and its parents
 *   "create-once"  like "create" and "delete", but applied at most once,
 *   "delete-once"  never late: see nonce.h */
enum ask_fault ask_add(struct ask *ask, const char *chroot,
                       const struct asked *asked);
/* Creates an ask that checks whether the hold's node exists and is its own.
 * Returns NULL if there is no memory. */
struct ask *ask_to_verify(struct acquisition *acquisition);

/* Runs on the I/O thread. Calls `done` once, perhaps before it returns. */
void ask_begin(struct ask *ask, struct session *session,
               struct in_flight_limit *limit,
               void (*done)(void *self, struct ask *ask), void *self);

#pragma GCC visibility pop

#endif
