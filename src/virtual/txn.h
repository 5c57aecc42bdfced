/* The leader converts each write request to a transaction. Each server applies
 * the transaction to its tree. A refused request also becomes a transaction,
 * with a zxid of its own, but this transaction changes nothing. */
#ifndef ZKLOCK_VIRTUAL_TXN_H
#define ZKLOCK_VIRTUAL_TXN_H

#include "tree.h"

#pragma GCC visibility push(hidden)

struct change {
  enum zk_op op;
  int rc; /* if not ZK_OK, the change has no effect */
  char *path;
  struct blob *data;
  struct acl_list *acls;
  int64_t owner;
  int32_t version;  /* the version after the change */
  int32_t cversion; /* the parent's cversion after a creation */
};

/* Identifies the request that has caused a transaction. The client's server
 * answers the request when it applies the transaction. */
struct origin {
  int server; /* -1 if no client waits */
  uint64_t connection, request;
};

struct txn {
  int keepers;
  enum zk_op op;
  int rc; /* ZK_OK even if a part of a multi fails */
  int64_t zxid, time_ms, session;
  int32_t timeout_ms; /* the timeout of a new session */
  struct origin origin;
  int change_count;
  struct change *changes; /* a change for each part of a multi */
};

struct txn *txn_new(enum zk_op op, int change_count);
struct txn *txn_keep(struct txn *txn);
void txn_drop(void *txn);
bool txn_fails(const struct txn *txn); /* true if `txn` changes no node */

/* Functions that txn_apply calls to report the effects of a transaction. */
struct txn_observer {
  void *self;
  /* `created`, `deleted` and `changed` are called after such a change of the
   * node `path`. `children_changed` is called when the node's children have
   * changed. `acls` is the node's ACL; for a deleted node, its last ACL. */
  void (*created)(void *self, const char *path, const struct acl_list *acls);
  void (*deleted)(void *self, const char *path, const struct acl_list *acls);
  void (*changed)(void *self, const char *path, const struct acl_list *acls);
  void (*children_changed)(void *self, const char *path,
                           const struct acl_list *acls);
  /* Called with the Stat that a node has after the change with the number
   * `change`. */
  void (*stat)(void *self, int change, const struct zk_stat *stat);
};

/* Applies a transaction to the tree, and reports its effects to `observer`,
 * which can be NULL. */
void txn_apply(const struct txn *txn, struct tree *tree,
               const struct txn_observer *observer);
/* Applies only the change number `number` of a transaction. Until tree_settle
 * is called, tree_undo can undo it. */
void txn_apply_change(const struct txn *txn, int number, struct tree *tree,
                      const struct txn_observer *observer);

#pragma GCC visibility pop

#endif
