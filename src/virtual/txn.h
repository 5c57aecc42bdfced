/* Transactions: what the leader makes of a request that changes something, and
 * what each server does to its tree.  A refused request is one, too: it takes a
 * zxid and changes nothing. */
#ifndef ZKLOCK_VIRTUAL_TXN_H
#define ZKLOCK_VIRTUAL_TXN_H

#include "tree.h"

#pragma GCC visibility push(hidden)

struct change {
  enum zk_op op;
  int rc; /* not ZK_OK: nothing is changed */
  char *path;
  struct blob *data;
  struct acl_list *acls;
  int64_t owner;
  int32_t version;  /* the new one */
  int32_t cversion; /* the parent's, after a creation */
};

/* The request that is answered when the transaction is applied. */
struct origin {
  int server; /* -1: no client waits for it */
  uint64_t connection, request;
};

struct txn {
  int keepers;
  enum zk_op op;
  int rc; /* ZK_OK for a multi, whatever becomes of its parts */
  int64_t zxid, time_ms, session;
  int32_t timeout_ms; /* of a session that begins */
  struct origin origin;
  int change_count;
  struct change *changes; /* of a multi: one for each part */
};

struct txn *txn_new(enum zk_op op, int change_count);
struct txn *txn_keep(struct txn *txn);
void txn_drop(void *txn);
bool txn_fails(const struct txn *txn); /* it changes no node */

/* Who is told of what a transaction does. */
struct txn_observer {
  void *self;
  /* A node has changed; `acls`: who may read it (of a deletion: who could). */
  void (*created)(void *self, const char *path, const struct acl_list *acls);
  void (*deleted)(void *self, const char *path, const struct acl_list *acls);
  void (*changed)(void *self, const char *path, const struct acl_list *acls);
  void (*children_changed)(void *self, const char *path,
                           const struct acl_list *acls);
  /* Its Stat after the change with this number. */
  void (*stat)(void *self, int change, const struct zk_stat *stat);
};

/* Changes the tree; `observer` may be NULL. */
void txn_apply(const struct txn *txn, struct tree *tree,
               const struct txn_observer *observer);
/* The change with this number alone; the tree is not settled. */
void txn_apply_change(const struct txn *txn, int number, struct tree *tree,
                      const struct txn_observer *observer);

#pragma GCC visibility pop

#endif
