/* One request to ZooKeeper and its reply: the seam between the protocol and
 * whatever carries it, a real client (client.c) or a simulated one.
 *
 * An op is a slot inside its owner (a contender, a directory, a watch): it
 * carries one request at a time, so that sending never allocates.
 *
 * What a server replies is not ours to assert anything about: what nobody has
 * foreseen is an error like any other.  Assertions are about our own state; they
 * stay in a release build, and so each is a comparison or two. */
#ifndef ZKLOCK_OP_H
#define ZKLOCK_OP_H

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

struct listing;

enum op_kind {
  OP_CREATE,    /* create2: an ephemeral node, sequential unless `exact`; or,
                   with `beside`, a multi, and a path is all that it tells */
  OP_MKDIR,     /* create: a container, or a persistent node, with its data */
  OP_REHEARSE,  /* multi: would that be of use to us?  Nothing is made. */
  OP_LIST,      /* getChildren, with a watch if `watch`: the contenders */
  OP_NAMES,     /* getChildren2 without a watch: all of them */
  OP_GET,       /* getData with a watch */
  OP_EXISTS,    /* exists with a watch: for nodes that need not be there */
  OP_REMOVE,    /* delete; with `beside` or a condition a multi */
  OP_SYNC,      /* sync */
  OP_READ,      /* getData without a watch */
  OP_WRITE,     /* setData, if the version is still `version`; -1: any */
  OP_HEARTBEAT, /* multi of checks: a committed no-op */
  OP_PING,      /* exists without a watch: asks the connected server only */
  OP_UNWATCH,   /* removes this session's watches of a node: data, or if
                   `watch` children */
};

/* ZooKeeper's own numbers, as far as the protocol tells them apart. */
enum reply_code {
  REPLY_OK = 0,
  REPLY_LOST = -4, /* applied, or not, or not yet: unknown */
  REPLY_UNIMPLEMENTED = -6,
  REPLY_BAD_ARGUMENTS = -8,
  REPLY_NO_NODE = -101,
  REPLY_NO_AUTH = -102,
  REPLY_BAD_VERSION = -103,
  REPLY_NO_CHILDREN_FOR_EPHEMERALS = -108,
  REPLY_NODE_EXISTS = -110,
  REPLY_NOT_EMPTY = -111,
  REPLY_SESSION_EXPIRED = -112,
  REPLY_INVALID_ACL = -114,
  REPLY_AUTH_FAILED = -115,
  REPLY_SESSION_MOVED = -118,
  REPLY_NO_WATCH = -121,
  REPLY_AUTH_REQUIRED = -124,
  REPLY_QUOTA_EXCEEDED = -125,
  REPLY_THROTTLED = -127,
  /* Ours: never a server's reply, but a reason for a refusal. */
  REASON_COUNTER_AT_END = -1001,
  REASON_NO_MEMORY = -1002,
  REASON_NO_ROOM = -1003,
  REASON_CREDENTIALS = -1004,
  REASON_STAYS = -1007,
  REASON_ACL = -1008,
  REASON_CROWDED = -1009,
  /* The other one of the two that are one transaction was refused, and so
   * neither was done.  (Of a delete with `beside`: that node is not there.) */
  REPLY_UNDONE = -1011,
};

/* The request may have been applied, or not, or may be yet.  The connection is
 * over, or about to be. */
static inline bool reply_is_unknown(int rc) {
  return rc == REPLY_LOST || rc == REPLY_SESSION_EXPIRED ||
         rc == REPLY_SESSION_MOVED;
}

/* Requests whose success a server tells after a quorum has committed them. */
static inline bool op_is_write(enum op_kind kind) {
  return kind == OP_CREATE || kind == OP_REMOVE || kind == OP_MKDIR ||
         kind == OP_HEARTBEAT;
}

/* Only a quorum can have given this answer: lease.h has the list, and why no
 * refusal is in it. */
static inline bool reply_proves(enum op_kind kind, int rc) {
  return op_is_write(kind) && rc == REPLY_OK;
}

/* Not now: a server has done nothing, and the same request may succeed later.  A
 * throttled request never reached the request processors; a quota has room again
 * when other nodes go. */
static inline bool reply_is_transient(int rc) {
  return rc == REPLY_THROTTLED || rc == REPLY_QUOTA_EXCEEDED;
}

/* An ACL refuses. */
static inline bool reply_is_denied(int rc) {
  return rc == REPLY_NO_AUTH || rc == REASON_ACL;
}

/* Credentials are refused, or wanted: it is a matter of the whole session. */
static inline bool reply_is_unauthenticated(int rc) {
  return rc == REPLY_AUTH_FAILED || rc == REPLY_AUTH_REQUIRED ||
         rc == REASON_CREDENTIALS;
}

struct reply {
  int rc;
  const char *path;     /* OP_CREATE: the node that was made */
  int64_t czxid, owner; /* OP_CREATE, _GET, _EXISTS, _READ, _WRITE, _PING */
  int64_t ctime_ms, mtime_ms; /* OP_READ, _PING, with the version */
  int version;
  int length, children;    /* OP_PING: bytes of data, nodes below it */
  const void *data;        /* OP_GET: the first OP_SHOWN bytes of it */
  int size;                /* (the mark that asks to let go is none) */
  bool revoked;            /* OP_GET: the data ask us to let go */
  struct listing *listing; /* OP_LIST, _NAMES; NULL there: no memory */
};

/* So much of a watched node's data is kept: it says whose node it is. */
enum { OP_SHOWN = 100 };

struct op;
typedef void op_handler(struct op *op, const struct reply *reply);

struct op {
  op_handler *handler; /* called once for each op that was submitted */
  void *owner;
  const char *path;
  /* OP_CREATE, OP_REMOVE: the name of another node of the same directory, made, as
   * an ephemeral node with the data, or deleted in the same transaction. */
  const char *beside;
  /* OP_MKDIR, OP_REMOVE without `beside`, OP_WRITE: the path of a node that must be
   * there, or nothing is done, and the reply is REPLY_UNDONE.  With it the reply to
   * OP_MKDIR tells nothing of the new node. */
  const char *provided;
  bool anew;        /* with `provided`: what has the name is deleted first */
  const void *data; /* OP_CREATE, OP_WRITE, OP_MKDIR (NULL: null) */
  int size;
  int version; /* OP_WRITE */
  /* OP_REMOVE, if `counted`: so many children of the directory have been made
   * (struct listing), or nothing is done, and the reply is REPLY_UNDONE. */
  int creates;
  enum op_kind kind : 8;
  bool watch;      /* of the children */
  bool exact;      /* OP_CREATE: `path` is the name, no number follows */
  bool persistent; /* OP_MKDIR: not a container */
  bool shared;     /* OP_MKDIR: others may read it, and create in it, too */
  bool insists;    /* sent again, a few times, where a server says not now */
  bool counted;    /* OP_REMOVE: on the condition of `creates` */
  bool joins;      /* OP_REMOVE, and the OP_CREATE behind it: may be one */

  /* The wire's: */
  bool in_flight;  /* or held, to be sent later */
  bool round;      /* its confirmation renews the lease */
  uint8_t tries;   /* of one that insists */
  uint64_t serial; /* grows with every op of the session */
  int64_t sent;
  struct op *next;
};

enum watch_event { WATCH_DELETED, WATCH_CHANGED, WATCH_CHILDREN };

/* The world as the protocol sees it. */
struct transport {
  void *self;
  /* Sends a request; the reply comes later as session_reply(serial), in the
   * order of submission.  Whatever of `op` is needed is copied before this
   * returns.  False: nothing was sent (no memory, no connection).  `before`: a
   * delete that is one transaction with this create, which comes after it; each
   * is answered.  NULL: none. */
  bool (*submit)(void *self, const struct op *op, const struct op *before);
  /* Gives up the ZooKeeper session, if any, and begins a new one. */
  void (*open)(void *self);
};

#pragma GCC visibility pop

#endif
