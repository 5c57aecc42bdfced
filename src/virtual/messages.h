/* What clients and servers of the model send each other.  The numbers are
 * ZooKeeper's own.  The sender keeps what a message points to: the ensemble
 * copies a request when it is sent, and what a client receives is valid until
 * its function returns. */
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
  ZK_GET_CHILDREN2 = 12, /* with the parent's Stat */
  ZK_CHECK = 13,
  ZK_MULTI = 14,
  ZK_CREATE2 = 15, /* with the new node's Stat */
  ZK_REMOVE_WATCHES = 18,
  ZK_CREATE_CONTAINER = 19,
  ZK_CREATE_TTL = 21,
  ZK_AUTH = 100,
  ZK_SET_WATCHES = 101,
  ZK_WHO_AM_I = 107,
  ZK_CREATE_SESSION = -10, /* only in the log */
  ZK_CLOSE_SESSION = -11,
};

enum zk_code {
  ZK_OK = 0,
  ZK_RUNTIME_INCONSISTENCY = -2, /* a part of a multi after the failed one */
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

/* Whose watches a ZK_REMOVE_WATCHES removes. */
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
  int64_t czxid, mzxid, ctime, mtime; /* the times in milliseconds of 1970 */
  int32_t version, cversion, aversion;
  int64_t owner; /* the session of an ephemeral node, or of what kind it is */
  int32_t length, children;
  int64_t pzxid;
};

struct zk_acl {
  int32_t perms;
  const char *scheme, *id;
};

struct zk_acls {
  int count; /* -1: a null list */
  const struct zk_acl *list;
};

struct zk_data {
  const void *bytes;
  int32_t length; /* -1: null */
};

struct zk_strings {
  int count;
  const char *const *list;
};

/* Fields that an operation does not have are not read. */
struct zk_request {
  int32_t xid; /* comes back in the reply */
  enum zk_op op;
  const char *path;
  struct zk_data data; /* of ZK_AUTH: the credential */
  int32_t flags;       /* enum zk_mode; of ZK_REMOVE_WATCHES: enum zk_watcher */
  int32_t version;     /* -1: any */
  bool watch;
  struct zk_acls acls;
  int64_t ttl;        /* milliseconds */
  const char *scheme; /* of ZK_AUTH */
  /* ZK_MULTI: its parts, whose xids are not read. */
  int part_count;
  const struct zk_request *parts;
  /* ZK_SET_WATCHES: the newest zxid that the client has seen, and its watches. */
  int64_t seen;
  struct zk_strings data_watches, exist_watches, child_watches;
};

/* A kind of request: its zk_op; of a multi 1400 and the operation of its first
 * part, or, if that is a check and another follows, 141300 and the operation of
 * its second part. */
int zk_request_kind(const struct zk_request *request);

/* Fields that the operation does not answer are zero. */
struct zk_reply {
  int32_t xid;
  enum zk_op op; /* of a failed part of a multi: the operation all the same */
  int64_t zxid;
  int rc;
  const char *path;
  struct zk_stat stat;
  struct zk_data data;
  struct zk_strings names; /* children, in no order that means something */
  struct zk_acls acls;     /* of ZK_WHO_AM_I: schemes and ids */
  int part_count;
  const struct zk_reply *parts; /* one for each part of the multi */
};

struct zk_event {
  enum zk_event_type type;
  const char *path;
  int64_t zxid; /* of the change; servers before 3.9 do not tell it */
};

/* The answer to a connection's first message. */
struct zk_session {
  int64_t id;
  char password[16];
  int32_t timeout_ms; /* 0: the session that was asked for has expired */
};

#pragma GCC visibility pop

#endif
