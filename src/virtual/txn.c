#include "txn.h"

#include <stdlib.h>
#include <string.h>

#include "quota.h"
#include "znode_path.h"

struct txn *txn_new(enum zk_op op, int change_count) {
  struct txn *txn = fresh(sizeof *txn);
  txn->keepers = 1;
  txn->op = op;
  txn->origin.server = -1;
  txn->change_count = change_count;
  txn->changes = fresh((size_t)change_count * sizeof *txn->changes);
  return txn;
}

struct txn *txn_keep(struct txn *txn) {
  txn->keepers++;
  return txn;
}

void txn_drop(void *self) {
  struct txn *txn = self;
  if (--txn->keepers > 0) return;
  for (int i = 0; i < txn->change_count; i++) {
    free(txn->changes[i].path);
    blob_drop(txn->changes[i].data);
    acl_list_drop(txn->changes[i].acls);
  }
  free(txn->changes);
  free(txn);
}

bool txn_fails(const struct txn *txn) {
  if (txn->rc != ZK_OK) return true;
  for (int i = 0; i < txn->change_count; i++)
    if (txn->changes[i].rc != ZK_OK) return true;
  return false;
}

/* Returns the path of the parent; "/" if the parent is the root. The caller
 * frees it. */
static char *parent_path(const char *path) {
  size_t length = (size_t)(strrchr(path, '/') - path);
  char *parent = fresh(length + 2);
  memcpy(parent, path, length);
  if (length == 0) parent[0] = '/';
  return parent;
}

static void tell_stat(const struct txn_observer *observer, int number,
                      const struct node *node) {
  struct zk_stat stat;
  if (!observer) return;
  node_stat(node, &stat);
  observer->stat(observer->self, number, &stat);
}

static void create(const struct txn *txn, int number, struct tree *tree,
                   const struct txn_observer *observer) {
  const struct change *c = &txn->changes[number];
  struct node *parent =
      tree_find_part(tree, c->path, znode_path_parent(c->path));
  if (!parent) return;
  struct node_state state = {
      .data = blob_keep(c->data),
      .acls = acl_list_keep(c->acls),
      .czxid = txn->zxid,
      .mzxid = txn->zxid,
      .pzxid = txn->zxid,
      .ctime = txn->time_ms,
      .mtime = txn->time_ms,
      .owner = c->owner,
  };
  tree_change(tree, parent);
  /* If `cversion` has overflowed, it is smaller than the old value. Then the
   * server's tree keeps the old value, but the leader's tree `head` takes the
   * new one. */
  if (c->cversion > parent->state.cversion || tree->is_head) {
    parent->state.cversion = c->cversion;
    parent->state.pzxid = txn->zxid;
  }
  struct node *node =
      tree_create(tree, parent, strrchr(c->path, '/') + 1, &state);
  tell_stat(observer, number, node);
  quota_created(tree, c->path);
  quota_count(tree, c->path, blob_length(c->data), 1);
  if (!observer) return;
  char *above = parent_path(c->path);
  observer->created(observer->self, c->path, c->acls);
  observer->children_changed(observer->self, above, parent->state.acls);
  free(above);
}

static void delete (const struct txn *txn, int number, struct tree *tree,
                    const struct txn_observer *observer) {
  const struct change *c = &txn->changes[number];
  struct node *node = tree_find(tree, c->path);
  if (!node || !node->parent) return;
  struct node *parent = node->parent;
  struct acl_list *acls = acl_list_keep(node->state.acls);
  int64_t bytes = blob_length(node->state.data);
  tree_change(tree, parent);
  if (txn->zxid > parent->state.pzxid) parent->state.pzxid = txn->zxid;
  tree_delete(tree, node);
  quota_count(tree, c->path, -bytes, -1);
  if (observer) {
    char *above = parent_path(c->path);
    observer->deleted(observer->self, c->path, acls);
    observer->children_changed(observer->self, above, parent->state.acls);
    free(above);
  }
  acl_list_drop(acls);
}

static void set_data(const struct txn *txn, int number, struct tree *tree,
                     const struct txn_observer *observer) {
  const struct change *c = &txn->changes[number];
  struct node *node = tree_find(tree, c->path);
  if (!node) return;
  int64_t bytes = blob_length(c->data) - blob_length(node->state.data);
  tree_change(tree, node);
  blob_drop(node->state.data);
  node->state.data = blob_keep(c->data);
  node->state.mtime = txn->time_ms;
  node->state.mzxid = txn->zxid;
  node->state.version = c->version;
  tell_stat(observer, number, node);
  quota_count(tree, c->path, bytes, 0);
  if (observer) observer->changed(observer->self, c->path, node->state.acls);
}

static void set_acl(const struct txn *txn, int number, struct tree *tree,
                    const struct txn_observer *observer) {
  const struct change *c = &txn->changes[number];
  struct node *node = tree_find(tree, c->path);
  if (!node) return;
  tree_change(tree, node);
  acl_list_drop(node->state.acls);
  node->state.acls = acl_list_keep(c->acls);
  node->state.aversion = c->version;
  tell_stat(observer, number, node);
}

void txn_apply_change(const struct txn *txn, int number, struct tree *tree,
                      const struct txn_observer *observer) {
  switch (txn->changes[number].op) {
    case ZK_CREATE:
    case ZK_CREATE2:
    case ZK_CREATE_CONTAINER:
    case ZK_CREATE_TTL:
      create(txn, number, tree, observer);
      break;
    case ZK_DELETE:
      delete (txn, number, tree, observer);
      break;
    case ZK_SET_DATA:
      set_data(txn, number, tree, observer);
      break;
    case ZK_SET_ACL:
      set_acl(txn, number, tree, observer);
      break;
    default: /* a check */
      break;
  }
}

void txn_apply(const struct txn *txn, struct tree *tree,
               const struct txn_observer *observer) {
  if (!txn_fails(txn)) {
    for (int i = 0; i < txn->change_count; i++)
      txn_apply_change(txn, i, tree, observer);
    if (txn->op == ZK_CREATE_SESSION)
      tree_add_session(tree, txn->session, txn->timeout_ms);
    if (txn->op == ZK_CLOSE_SESSION) tree_remove_session(tree, txn->session);
    tree_settle(tree);
  }
  tree->zxid = txn->zxid;
}
