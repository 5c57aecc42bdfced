/* What a session asks of the servers beside its locks: requests about nodes, from
 * Lua, which decides what to ask next.
 *
 * The requests of one ask do not wait for each other.  They are sent in order, as
 * the window has room, and one event brings all of their answers.  A read behind a
 * sync is not older than that sync.  (A server answers reads from what it has, which
 * may lag behind the leader.)
 *
 * Strangers decide how many children a directory has, and how large their data are.
 * So a directory with more than ASK_CHILDREN is not listed, and an ask says how much
 * data it keeps: of larger data only the Stat is told. */
#ifndef ZKLOCK_ASK_H
#define ZKLOCK_ASK_H

#include "claim.h"
#include "window.h"

#pragma GCC visibility push(hidden)

enum {
  ASK_CHILDREN = 50000,
  /* Of a child's name and the list's own parts, as it travels; about. */
  ASK_CHILD_BYTES = 64,
  /* What a read takes of the window at least.  The data may have become more since
   * their size was told, a packet's size at most: so sixteen reads are under way,
   * and what they bring is 16 MiB at worst. */
  ASK_READ_BYTES = WINDOW_BYTES / 16,
  ASK_PACKET = 1024 * 1024, /* servers close the connection at more */
};

/* A text that need not end with a NUL; its `text` is NULL: none. */
struct text {
  const char *text;
  size_t size;
};

/* One request, as it is asked for. */
struct asked {
  struct text operation;
  struct text path; /* without the chroot; "/" is the chroot itself */
  struct text data;
  struct text provided; /* the path of a node that must be there */
  int number; /* "set": the version, -1 any; "get", "list": how many bytes, or
                 children, there were */
};

/* What a server has told of a node. */
struct known {
  int64_t czxid, owner, ctime_ms, mtime_ms;
  int version, length, children;
};

struct ask;

struct request {
  struct op op; /* its owner is this */
  struct ask *ask;
  struct nonce *nonce; /* it may be there, for the transaction of this */
  char *text;          /* its path; and what else `op` refers to */
  int number;
  int cost;          /* what it takes of the window; OUTSIDE */
  const char *whole; /* "mkdir": what is to be made, */
  size_t length;     /* ... of which so much is being made, */
  int tries;         /* ... after so many others */

  /* The answer. */
  int rc;
  struct known known;
  char *data; /* "get": the data; "list": the names in order, each with its NUL;
                 NULL: none, or not kept */
  size_t size;
};

/* (c) constant after core_ask  (i) the I/O thread, until it posts the answers;
 * then the Lua thread, which frees it */
struct ask {
  struct subject subject;
  struct message begin, answered;
  uint64_t number;     /* (c) what the event calls it */
  struct claim *claim; /* (c) whose node it is about: see ask_to_verify */
  int64_t each, all; /* (c) bytes of data that it keeps: of one node; of all */

  struct session *session;                   /* (i) */
  struct window *window;                     /* (i) */
  void (*done)(void *self, struct ask *ask); /* (i) */
  void *self;                                /* (i) */
  struct sender sender;                      /* (i) */
  int64_t kept;                              /* (i) bytes of data */
  int cursor, pending;                       /* (i) sent; unanswered */
  bool in_line; /* (i) the window will have it send */

  int rc; /* (i) REPLY_LOST and its like: some have no answer; or no memory */
  bool gone; /* (i) the node of `claim` is not there, or not its own */
  int count;
  struct request requests[];
};

/* With room for so many requests.  NULL: no memory. */
struct ask *ask_new(int count, int64_t each, int64_t all);
void ask_free(struct ask *ask);

enum ask_fault { ASK_FINE, ASK_NO_MEMORY, ASK_WRONG };

/* Adds one.  The operations, of which each is one request but the last three:
 *
 *   "sync"
 *   "exists"       the Stat
 *   "list"         the names of all children
 *   "get"          the data, and the Stat
 *   "set"
 *   "create"       a persistent node
 *   "delete"
 *   "delete-both"  an unfair lock's node, and that beside it, whose path is given: in
 *                  one transaction
 *   "mkdir"        a directory, and what is above it
 *   "create-once"  the same as "create" and "delete", but no server applies it late:
 *   "delete-once"  see nonce.h */
enum ask_fault ask_add(struct ask *ask, const char *chroot,
                       const struct asked *asked);
/* Is the node of this hold there, and its own?  NULL: no memory. */
struct ask *ask_to_verify(struct claim *claim);

/* On the I/O thread; `done` is called once, perhaps at once. */
void ask_begin(struct ask *ask, struct session *session, struct window *window,
               void (*done)(void *self, struct ask *ask), void *self);

#pragma GCC visibility pop

#endif
