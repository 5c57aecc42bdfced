/* One request to ZooKeeper and its reply. This is the interface between the
 * protocol and its transport: a real client (client.c) or a simulated one.
 *
 * An op is a field of its owner, such as a contender, a directory or a watch.
 * It carries one request at a time, so sending never allocates.
 *
 * The code asserts nothing about a server's reply: an unexpected reply is an
 * error like any other. Assertions are about this process's own state. They
 * stay in a release build, so each is only a comparison or two. */
#ifndef ZKLOCK_OP_H
#define ZKLOCK_OP_H

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

struct listing;

enum op_kind {
  /* create2: creates an ephemeral node, sequential unless `exact`. With
   * `beside`, or with a delete before it (struct transport), it is a multi.
   * Then the reply has the path of the new node, but not its Stat. */
  OP_CREATE,
  OP_MKDIR, /* create: a container or persistent node with data */
  /* multi: tests whether the ACL would let the creator use the node; creates
   * nothing. */
  OP_CHECK_ACL,
  OP_LIST,      /* getChildren, with a watch if `watch`: lists contenders */
  OP_NAMES,     /* getChildren2 without a watch: lists all children */
  OP_GET,       /* getData with a watch */
  OP_EXISTS,    /* exists with a watch, even if the node is missing */
  OP_REMOVE,    /* delete; a multi with `beside` or a condition */
  OP_SYNC,      /* sync */
  OP_READ,      /* getData without a watch */
  OP_WRITE,     /* setData if the version is `version`; -1: any */
  OP_HEARTBEAT, /* multi of checks: a committed no-op */
  OP_PING,      /* exists without a watch: served without a quorum */
  /* Removes this session's data watch of a node, or its child watch if `watch`
   * is set. */
  OP_UNWATCH,
};

/* ZooKeeper's codes, as far as the protocol distinguishes them. */
enum reply_code {
  REPLY_OK = 0,
  REPLY_LOST = -4, /* no reply: applied, not applied, or applied later */
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
  /* Reasons of zklock for a refusal. No server sends them. */
  REASON_COUNTER_AT_END = -1001,
  REASON_NO_MEMORY = -1002,
  REASON_NO_ROOM = -1003,
  REASON_CREDENTIALS = -1004,
  REASON_TLS = -1005,
  REASON_UNOWNED = -1007,
  REASON_ACL = -1008,
  REASON_TOO_MANY_CHILDREN = -1009,
  /* The server has refused another part of the transaction, so it has applied
   * no part. For a delete with `beside`, this means that the node `beside` does
   * not exist. */
  REPLY_UNDONE = -1011,
};

/* Returns whether the request's fate is unknown: a server may have applied it,
 * or may apply it later. The connection is lost, or will be. */
static inline bool reply_is_unknown(int rc) {
  return rc == REPLY_LOST || rc == REPLY_SESSION_EXPIRED ||
         rc == REPLY_SESSION_MOVED;
}

/* Returns whether the request is one of the writes that can renew the lease. A
 * server confirms its success only after a quorum has committed it. */
static inline bool op_is_write(enum op_kind kind) {
  return kind == OP_CREATE || kind == OP_REMOVE || kind == OP_MKDIR ||
         kind == OP_HEARTBEAT;
}

/* Returns whether only a quorum can have given this reply. lease.h lists these
 * replies, and explains why refusals are not among them. */
static inline bool reply_proves(enum op_kind kind, int rc) {
  return op_is_write(kind) && rc == REPLY_OK;
}

/* Returns whether a server has not applied the request, but the same request
 * may succeed later. A throttled request never reached the request processors.
 * After a refusal by a quota, room returns when other nodes are deleted. */
static inline bool reply_is_transient(int rc) {
  return rc == REPLY_THROTTLED || rc == REPLY_QUOTA_EXCEEDED;
}

/* Returns whether an ACL refused the request. */
static inline bool reply_is_denied(int rc) {
  return rc == REPLY_NO_AUTH || rc == REASON_ACL;
}

/* Returns whether a server has refused credentials or a certificate, or
 * requires other credentials. Such a reply concerns the whole session. */
static inline bool reply_is_unauthenticated(int rc) {
  return rc == REPLY_AUTH_FAILED || rc == REPLY_AUTH_REQUIRED ||
         rc == REASON_CREDENTIALS || rc == REASON_TLS;
}

struct reply {
  int rc;
  const char *path;     /* OP_CREATE: the created node's path */
  int64_t czxid, owner; /* OP_CREATE, _GET, _EXISTS, _READ, _WRITE, _PING */
  int64_t ctime_ms, mtime_ms; /* OP_READ, _PING, with the version */
  int version;
  int length, children; /* OP_PING: bytes of data, number of children */
  const void *data;     /* OP_GET: the first OP_SHOWN bytes of the data */
  int size;     /* size of the data, without a mark that asks for a release */
  bool revoked; /* OP_GET: the data ask for a release of the lock */
  struct listing *listing; /* OP_LIST, OP_NAMES; NULL: no memory for the list */
};

/* How many bytes of a watched node's data zklock keeps, to show the node's
 * owner in messages. */
enum { OP_SHOWN = 100 };

struct op;
typedef void op_handler(struct op *op, const struct reply *reply);

struct op {
  op_handler *handler; /* called once for each submitted op */
  void *owner;
  const char *path;
  /* The name of another node in the same directory. An OP_CREATE also creates
   * that node in the same transaction, ephemeral and with the same data. An
   * OP_REMOVE also deletes it. */
  const char *beside;
  /* OP_MKDIR, OP_REMOVE without `beside`, OP_WRITE: the path of a node that
   * must exist. If that node is missing, the server does nothing, and the reply
   * is REPLY_UNDONE. With `provided`, the reply to OP_MKDIR does not describe
   * the new node. */
  const char *provided;
  /* OP_MKDIR with `provided`: first deletes the node at `path`, which must
   * exist, in the same transaction. */
  bool replace;
  const void *data; /* OP_CREATE, OP_WRITE, OP_MKDIR (NULL: null) */
  int size;
  int version; /* OP_WRITE: the version that the node must have; -1: any */
  /* OP_REMOVE with `counted`: how many children may ever have been created in
   * the directory (`creates` of struct listing). If more were created, the
   * server does nothing, and the reply is REPLY_UNDONE. */
  int creates;
  enum op_kind kind : 8;
  bool watch;      /* true: set a watch on the children */
  bool exact;      /* OP_CREATE: the server adds no number */
  bool persistent; /* OP_MKDIR: makes a persistent node, not a container */
  bool shared;     /* OP_MKDIR: the ACL lets all clients read and create */
  bool resend;     /* after a transient refusal, send the op again */
  bool counted;    /* OP_REMOVE: delete only if `creates` matches */
  /* True for two ops that can share a transaction: an OP_REMOVE, and the
   * OP_CREATE that follows it. */
  bool joins;

  /* Private to the pipeline: */
  bool in_flight;  /* the op is sent and not answered, or is to be sent */
  bool renews;     /* the op's confirmation renews the lease */
  uint8_t tries;   /* how often the op was resent */
  uint64_t serial; /* increases with every op of the session */
  int64_t sent;
  struct op *next;
};

enum watch_event { WATCH_DELETED, WATCH_CHANGED, WATCH_CHILDREN };

/* The functions with which the protocol sends requests and opens sessions. */
struct transport {
  void *self;
  /* Sends a request; the reply comes later as session_reply(serial), in the
   * order of submission. Copies what it needs of `op` before it returns.
   * Returns false if it sent nothing, because there is no memory or no
   * connection. If `before` is not NULL, it is a delete: puts it before this
   * create in one transaction. Each of the two gets a reply. */
  bool (*submit)(void *self, const struct op *op, const struct op *before);
  /* Begins the first ZooKeeper session. After the end of a session, the
   * transport begins the next one by itself. */
  void (*open)(void *self);
};

#pragma GCC visibility pop

#endif
