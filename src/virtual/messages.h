/* The messages between clients and servers of a virtual ensemble. Operations,
 * codes and flags have ZooKeeper's numbers. The sender owns the memory to which
 * a message points. ensemble_send copies the request. A client's function can
 * use a received message only until the function returns. */
#ifndef ZKLOCK_VIRTUAL_MESSAGES_H
#define ZKLOCK_VIRTUAL_MESSAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

enum zk_op {
  ZK_CREATE = 1,
  ZK_DELETE = 2,
  ZK_EXISTS = 3,
  ZK_GET_DATA = 4,
  ZK_SET_DATA = 5,
  ZK_GET_ACL = 6,
  ZK_SET_ACL = 7,
  ZK_GET_CHILDREN = 8,
  ZK_SYNC = 9,
  ZK_PING = 11,
  ZK_GET_CHILDREN2 = 12, /* returns the parent's Stat, too */
  ZK_CHECK = 13,
  ZK_MULTI = 14,
  ZK_CREATE2 = 15, /* returns the new node's Stat, too */
  ZK_REMOVE_WATCHES = 18,
  ZK_CREATE_CONTAINER = 19,
  ZK_CREATE_TTL = 21,
  ZK_AUTH = 100,
  ZK_SET_WATCHES = 101,
  ZK_WHO_AM_I = 107,
  ZK_CREATE_SESSION = -10, /* in logs, not in requests */
  ZK_CLOSE_SESSION = -11,
};

enum zk_code {
  ZK_OK = 0,
  ZK_RUNTIME_INCONSISTENCY = -2, /* for parts of a multi after the failed one */
  ZK_MARSHALLING_ERROR = -5,
  ZK_UNIMPLEMENTED = -6,
  ZK_BAD_ARGUMENTS = -8,
  ZK_NO_NODE = -101,
  ZK_NO_AUTH = -102,
  ZK_BAD_VERSION = -103,
  ZK_NO_CHILDREN_FOR_EPHEMERALS = -108,
  ZK_NODE_EXISTS = -110,
  ZK_NOT_EMPTY = -111,
  ZK_SESSION_EXPIRED = -112,
  ZK_INVALID_ACL = -114,
  ZK_AUTH_FAILED = -115,
  ZK_SESSION_MOVED = -118,
  ZK_NO_WATCHER = -121,
  ZK_QUOTA_EXCEEDED = -125,
};

enum zk_perms {
  ZK_READ = 1,
  ZK_WRITE = 2,
  ZK_CREATES = 4,
  ZK_DELETES = 8,
  ZK_ADMIN = 16,
  ZK_ALL = 31,
};

/* The flags of a create. */
enum zk_mode {
  ZK_PERSISTENT = 0,
  ZK_EPHEMERAL = 1,
  ZK_SEQUENTIAL = 2,
  ZK_EPHEMERAL_SEQUENTIAL = 3,
  ZK_CONTAINER = 4,
  ZK_TTL = 5,
  ZK_TTL_SEQUENTIAL = 6,
};

/* The kinds of watches that a ZK_REMOVE_WATCHES request can name. */
enum zk_watcher {
  ZK_CHILD_WATCHES = 1,
  ZK_DATA_WATCHES = 2,
  ZK_ANY_WATCHES = 3
};

enum zk_event_type {
  ZK_NODE_CREATED = 1,
  ZK_NODE_DELETED = 2,
  ZK_NODE_CHANGED = 3,
  ZK_CHILDREN_CHANGED = 4,
};

struct zk_stat {
  int64_t czxid, mzxid, ctime, mtime; /* times are in milliseconds since 1970 */
  int32_t version, cversion, aversion;
  int64_t owner; /* the session of an ephemeral node, otherwise 0 */
  int32_t length, children;
  int64_t pzxid;
};

struct zk_acl {
  int32_t perms;
  const char *scheme, *id;
};

struct zk_acls {
  int count; /* -1 for a null list */
  const struct zk_acl *list;
};

struct zk_data {
  const void *bytes;
  int32_t length; /* -1 for null */
};

struct zk_strings {
  int count;
  const char *const *list;
};

/* A client's request. A server ignores the fields that the request's operation
 * does not use. */
struct zk_request {
  int32_t xid; /* the reply has the same xid */
  enum zk_op op;
  const char *path;
  struct zk_data data; /* for ZK_AUTH: the credential */
  int32_t flags;       /* enum zk_mode, or enum zk_watcher */
  int32_t version;     /* -1 matches any version */
  bool watch;
  struct zk_acls acls;
  int64_t ttl;        /* in milliseconds */
  const char *scheme; /* only for ZK_AUTH */
  /* ZK_MULTI: the parts of the transaction. The xids of the parts are
   * ignored. */
  int part_count;
  const struct zk_request *parts;
  /* ZK_SET_WATCHES: the newest zxid that the client has seen, and the paths
   * that it watches. */
  int64_t seen;
  struct zk_strings data_watches, exist_watches, child_watches;
};

/* Returns the kind of a request. The faults of links select requests by their
 * kinds. The kind of a request is its zk_op. For a multi, it is 1400 plus the
 * zk_op of the first part. If the first of several parts is a check, the kind
 * is 141300 plus the zk_op of the second part. */
int zk_request_kind(const struct zk_request *request);

/* A server's reply. Fields that the operation does not return are zero. */
struct zk_reply {
  int32_t xid;
  enum zk_op op; /* set also for a failed part of a multi */
  int64_t zxid;
  int rc;
  const char *path;
  struct zk_stat stat;
  struct zk_data data;
  struct zk_strings names; /* children, in no particular order */
  struct zk_acls acls;     /* for ZK_WHO_AM_I: the session's identities */
  int part_count;
  const struct zk_reply *parts; /* the replies to the parts of the multi */
};

struct zk_event {
  enum zk_event_type type;
  const char *path;
  int64_t zxid; /* the change's zxid; servers send it since 3.9 */
};

/* A server's answer to the first message of a connection. */
struct zk_session {
  int64_t id;
  char password[16];
  int32_t timeout_ms; /* 0 if the requested session has expired */
};

#pragma GCC visibility pop

#endif
