/* An ask is a batch of requests about nodes, which a session sends for the Lua
 * layer. Requests for locks do not use asks.
 *
 * The requests of one ask do not wait for each other's replies. One event
 * carries all replies. A read after a sync is at least as new as that sync.
 * Other reads can be out of date: a server answers them from its own state,
 * which can lag behind the leader.
 *
 * Other clients decide how many children a directory has and how large the data
 * of its nodes are. So zklock does not list a directory with more than
 * ASK_CHILDREN children. An ask also limits the data that it keeps. If a node's
 * data exceed the limit, the ask returns only the Stat.
 *
 * A server replies to a session in order. So a heartbeat or a lock's request
 * waits for the replies to all earlier asks, which can be large. So all asks of
 * a session share one limit of the requests in flight (struct asks). Asks with
 * unsent requests wait in a queue. The first one sends one request, then it is
 * the next one's turn. */
#ifndef ZKLOCK_ASK_H
#define ZKLOCK_ASK_H

#include "channel.h"
#include "protocol/session.h"

#pragma GCC visibility push(hidden)

enum {
  /* The most requests in flight, and the most bytes of their replies. */
  ASK_REQUESTS = 64,
  ASK_BYTES = 4 * 1024 * 1024,
  ASK_CHILDREN = 50000,
  /* The assumed size of one child's name in a reply. From this size, zklock
   * estimates the size of a list. */
  ASK_CHILD_BYTES = 64,
  /* Each read of data counts as at least this many bytes, even if the data were
   * small. Data can grow after their size was read, up to ASK_PACKET. With this
   * minimum, at most sixteen reads are in flight, so their replies have at most
   * 16 MiB. */
  ASK_READ_BYTES = ASK_BYTES / 16,
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

struct ask;

struct request {
  struct op op; /* the protocol's request; `op.owner` is this struct */
  struct ask *ask;
  struct nonce *nonce; /* the nonce (nonce.h) that `op` checks; or NULL */
  char *text;          /* the memory of the paths and data in `op` */
  int cost;            /* the assumed size of the reply, or of the data sent */
  const char *whole;   /* "mkdir": the path to create */
  size_t length;       /* "mkdir": length of the part to create now */
  int tries;           /* "mkdir": number of creates so far */

  /* The fields below contain the reply; its pointers are not valid. */
  struct reply reply;
  /* "get": the data. "list": the names in order, each with a NUL. NULL: there
   * are no data, or they exceed the limits of the ask. */
  char *data;
  size_t size;
};

/* All asks of a session. Only the I/O thread uses this struct. */
struct asks {
  struct session *session;
  void (*done)(void *self, struct ask *ask); /* the ask has its replies */
  void *self;
  int requests, bytes; /* requests in flight: their number; their cost */
  struct ask *first, **end;
  bool runs;
};

/* Access to the fields: (c) constant after core_ask; (i) used by the I/O thread
 * until it posts EVENT_ANSWERED. After that event the Lua thread uses and frees
 * the ask. */
struct ask {
  struct subject subject;
  struct message message; /* COMMAND_ASK, then EVENT_ANSWERED */
  uint64_t number;        /* (c) identifies the ask in EVENT_ANSWERED */
  int64_t each, all; /* (c) the most bytes of data to keep: per node; in all */

  struct asks *asks; /* (i) */
  struct ask *next;  /* (i) */
  int64_t kept;      /* (i) number of bytes of data kept so far */
  int cursor;        /* (i) number of requests sent so far */
  /* (i) number of requests not answered yet; one more while the ask is in the
   * queue */
  int pending;

  int rc; /* (i) REPLY_OK, or why the ask failed as a whole */
  int count;
  struct request requests[];
};

/* Creates an empty batch of requests (an ask) with room for `count`. The ask
 * keeps at most `each` bytes of data per node and `all` bytes in total. Returns
 * NULL if memory runs out. */
struct ask *ask_new(int count, int64_t each, int64_t all);

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

/* `done(self, ask)` is called when all requests of an ask are answered, or when
 * it has failed. */
void asks_init(struct asks *asks, struct session *session,
               void (*done)(void *self, struct ask *ask), void *self);
/* Starts to send the requests. Can call `done` before it returns. Only the I/O
 * thread calls this function. */
void ask_begin(struct ask *ask, struct asks *asks);

#pragma GCC visibility pop

#endif
