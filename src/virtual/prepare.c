#include "prepare.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "quota.h"
#include "znode_path.h"

static int64_t own_of(const struct preparation *p, int32_t mode, int64_t ttl) {
  switch (mode) {
    case ZK_EPHEMERAL:
    case ZK_EPHEMERAL_SEQUENTIAL:
      return p->session;
    case ZK_CONTAINER:
      return CONTAINER_OWNER;
    case ZK_TTL:
    case ZK_TTL_SEQUENTIAL:
      return TTL_OWNER | ttl;
    default:
      return 0;
  }
}

static bool is_sequential(int32_t mode) {
  return mode == ZK_SEQUENTIAL || mode == ZK_EPHEMERAL_SEQUENTIAL ||
         mode == ZK_TTL_SEQUENTIAL;
}

static bool is_mode(int32_t flags) {
  return flags >= ZK_PERSISTENT && flags <= ZK_TTL_SEQUENTIAL;
}

static bool is_timed(const struct zk_request *r) {
  return r->flags == ZK_TTL || r->flags == ZK_TTL_SEQUENTIAL;
}

static int check_mode(const struct preparation *p, const struct zk_request *r) {
  bool timed = is_timed(r);
  if (!is_mode(r->flags)) return ZK_BAD_ARGUMENTS;
  if (timed && !p->ttl) return ZK_UNIMPLEMENTED;
  if (timed != (r->op == ZK_CREATE_TTL)) return ZK_BAD_ARGUMENTS;
  if (timed && (r->ttl <= 0 || r->ttl > INT64_C(0xffffffffff)))
    return ZK_BAD_ARGUMENTS;
  return ZK_OK;
}

static int create(const struct preparation *p, const struct zk_request *r,
                  struct change *c) {
  int rc = check_mode(p, r), above = znode_path_parent(r->path);
  if (rc != ZK_OK) return rc;
  if (above < 0) return ZK_BAD_ARGUMENTS;
  c->acls = acl_list_checked(&r->acls, p->identities);
  if (!c->acls) return ZK_INVALID_ACL;
  struct node *parent = tree_find_part(p->tree, r->path, above);
  if (!parent) return ZK_NO_NODE;
  if (!acl_grants(parent->state.acls, ZK_CREATES, p->identities))
    return ZK_NO_AUTH;
  size_t size = strlen(r->path) + 12;
  c->path = fresh(size);
  snprintf(c->path, size, "%s", r->path);
  if (is_sequential(r->flags))
    snprintf(c->path, size, "%s%010" PRId32, r->path, parent->state.cversion);
  if (!znode_path_is_valid(c->path)) return ZK_BAD_ARGUMENTS;
  if (tree_find(p->tree, c->path)) return ZK_NODE_EXISTS;
  if (node_is_ephemeral(parent)) return ZK_NO_CHILDREN_FOR_EPHEMERALS;
  c->data = blob_new(r->data.bytes, r->data.length);
  if (p->enforces_quotas &&
      quota_exceeded(p->tree, c->path, blob_length(c->data), 1))
    return ZK_QUOTA_EXCEEDED;
  c->owner = own_of(p, r->flags, r->ttl);
  c->cversion = (int32_t)((uint32_t)parent->state.cversion + 1);
  return ZK_OK;
}

static int check_version(int32_t actual, int32_t wanted, struct change *c) {
  c->version = (int32_t)((uint32_t)actual + 1);
  return wanted == -1 || wanted == actual ? ZK_OK : ZK_BAD_VERSION;
}

static int delete (const struct preparation *p, const struct zk_request *r,
                   struct change *c) {
  int above = znode_path_parent(r->path);
  if (above < 0 || znode_path_is_special(r->path)) return ZK_BAD_ARGUMENTS;
  struct node *parent = tree_find_part(p->tree, r->path, above);
  if (!parent) return ZK_NO_NODE;
  if (!acl_grants(parent->state.acls, ZK_DELETES, p->identities))
    return ZK_NO_AUTH;
  struct node *node =
      node_child(parent, r->path + above + 1, strlen(r->path + above + 1));
  if (!node) return ZK_NO_NODE;
  int rc = check_version(node->state.version, r->version, c);
  if (rc != ZK_OK) return rc;
  if (node->count > 0) return ZK_NOT_EMPTY;
  c->path = fresh_text(r->path);
  return ZK_OK;
}

static int set_data(const struct preparation *p, const struct zk_request *r,
                    struct change *c) {
  if (!znode_path_is_valid(r->path)) return ZK_BAD_ARGUMENTS;
  struct node *node = tree_find(p->tree, r->path);
  if (!node) return ZK_NO_NODE;
  if (!acl_grants(node->state.acls, ZK_WRITE, p->identities)) return ZK_NO_AUTH;
  c->data = blob_new(r->data.bytes, r->data.length);
  int64_t bytes = blob_length(c->data) - blob_length(node->state.data);
  if (p->enforces_quotas && quota_exceeded(p->tree, r->path, bytes, 0))
    return ZK_QUOTA_EXCEEDED;
  c->path = fresh_text(r->path);
  return check_version(node->state.version, r->version, c);
}

static int set_acl(const struct preparation *p, const struct zk_request *r,
                   struct change *c) {
  if (!znode_path_is_valid(r->path)) return ZK_BAD_ARGUMENTS;
  c->acls = acl_list_checked(&r->acls, p->identities);
  if (!c->acls) return ZK_INVALID_ACL;
  struct node *node = tree_find(p->tree, r->path);
  if (!node) return ZK_NO_NODE;
  if (!acl_grants(node->state.acls, ZK_ADMIN, p->identities)) return ZK_NO_AUTH;
  c->path = fresh_text(r->path);
  return check_version(node->state.aversion, r->version, c);
}

static int check(const struct preparation *p, const struct zk_request *r,
                 struct change *c) {
  if (!znode_path_is_valid(r->path)) return ZK_BAD_ARGUMENTS;
  struct node *node = tree_find(p->tree, r->path);
  if (!node) return ZK_NO_NODE;
  if (!acl_grants(node->state.acls, ZK_READ, p->identities)) return ZK_NO_AUTH;
  c->path = fresh_text(r->path);
  return check_version(node->state.version, r->version, c);
}

static int change_of(const struct preparation *p, const struct zk_request *r,
                     struct change *c) {
  switch (r->op) {
    case ZK_CREATE_CONTAINER:
      return p->containers ? create(p, r, c) : ZK_UNIMPLEMENTED;
    case ZK_CREATE:
    case ZK_CREATE2:
    case ZK_CREATE_TTL:
      return create(p, r, c);
    case ZK_DELETE:
      return delete (p, r, c);
    case ZK_SET_DATA:
      return set_data(p, r, c);
    case ZK_SET_ACL:
      return set_acl(p, r, c);
    case ZK_CHECK:
      return check(p, r, c);
    default:
      return ZK_UNIMPLEMENTED;
  }
}

static struct txn *new_txn(const struct preparation *p, enum zk_op op,
                           int changes) {
  struct txn *txn = txn_new(op, changes);
  txn->session = p->session;
  txn->zxid = p->zxid;
  txn->time_ms = p->time_ms;
  return txn;
}

struct txn *prepare_refusal(const struct preparation *p, enum zk_op op,
                            int rc) {
  struct txn *txn = new_txn(p, op, 0);
  txn->rc = rc;
  p->tree->zxid = p->zxid;
  return txn;
}

/* Returns the operation that a server performs for a part of a multi. Which
 * kind of node a create makes depends on its flags, not on its operation. So a
 * create can be performed as another kind of create. */
static enum zk_op part_op(const struct preparation *p,
                          const struct zk_request *r) {
  switch (r->op) {
    case ZK_CREATE:
    case ZK_CREATE2:
    case ZK_CREATE_CONTAINER:
    case ZK_CREATE_TTL:
      if (r->flags == ZK_CONTAINER) return ZK_CREATE_CONTAINER;
      if (is_timed(r)) return ZK_CREATE_TTL;
      return p->multi_create2 && r->op == ZK_CREATE2 ? r->op : ZK_CREATE;
    default:
      return r->op;
  }
}

/* Returns true if a server cannot parse one of the parts. */
static bool is_garbled(const struct preparation *p,
                       const struct zk_request *r) {
  bool garbled = false;
  for (int i = 0; i < r->part_count; i++) {
    const struct zk_request *part = &r->parts[i];
    garbled |= part_op(p, part) == ZK_CREATE_TTL && part->op != ZK_CREATE_TTL;
    garbled |= part->op != ZK_CREATE_TTL && !is_mode(part->flags);
  }
  return garbled;
}

static void undo(struct tree *tree) {
  tree_undo(tree);
  tree->defers = false;
  for (int i = 0; i < tree->deferred_count; i++) free(tree->deferred[i].path);
  tree->deferred_count = 0;
}

/* Prepares a multi: applies all of its parts or none. If a part fails, undoes
 * the parts before it, and does not examine the parts after it. Checks quotas
 * against the counts from before the multi. */
static struct txn *prepare_multi(const struct preparation *p,
                                 const struct zk_request *r) {
  if (p->multi_create2 && is_garbled(p, r))
    return prepare_refusal(p, ZK_MULTI, ZK_MARSHALLING_ERROR);
  struct txn *txn = new_txn(p, ZK_MULTI, r->part_count);
  bool failed = false;
  p->tree->defers = true;
  for (int i = 0; i < r->part_count; i++) {
    struct change *c = &txn->changes[i];
    struct zk_request part = r->parts[i];
    c->op = part.op = part_op(p, &r->parts[i]);
    if (!failed && c->op == ZK_CREATE_TTL && r->parts[i].op != c->op) {
      undo(p->tree); /* servers cannot parse this part */
      txn_drop(txn);
      return prepare_refusal(p, ZK_MULTI, ZK_MARSHALLING_ERROR);
    }
    c->rc = failed ? ZK_RUNTIME_INCONSISTENCY : change_of(p, &part, c);
    failed |= c->rc != ZK_OK;
    if (!failed) txn_apply_change(txn, i, p->tree, NULL);
  }
  if (failed) {
    undo(p->tree);
  } else {
    quota_settle(p->tree);
    tree_settle(p->tree);
  }
  p->tree->zxid = p->zxid;
  return txn;
}

struct txn *prepare_request(const struct preparation *p,
                            const struct zk_request *request) {
  if (request->op == ZK_MULTI) return prepare_multi(p, request);
  struct txn *txn = new_txn(p, request->op, 1);
  txn->changes[0].op = request->op;
  txn->rc = txn->changes[0].rc = change_of(p, request, &txn->changes[0]);
  txn_apply(txn, p->tree, NULL);
  return txn;
}

struct txn *prepare_session(const struct preparation *p, int32_t timeout_ms) {
  struct txn *txn = new_txn(p, ZK_CREATE_SESSION, 0);
  txn->timeout_ms = timeout_ms;
  txn_apply(txn, p->tree, NULL);
  return txn;
}

struct txn *prepare_end_of_session(const struct preparation *p) {
  int count = 0;
  for (struct node *n = p->tree->first_owned; n; n = n->next_owned)
    count += n->state.owner == p->session;
  struct txn *txn = new_txn(p, ZK_CLOSE_SESSION, count);
  count = 0;
  for (struct node *n = p->tree->first_owned; n; n = n->next_owned)
    if (n->state.owner == p->session)
      txn->changes[count++] =
          (struct change){.op = ZK_DELETE, .path = node_path(n)};
  txn_apply(txn, p->tree, NULL);
  return txn;
}

struct txn *prepare_end_of_container(const struct preparation *p,
                                     const char *path) {
  struct node *node = tree_find(p->tree, path);
  if (!node || node->count > 0) return NULL;
  struct txn *txn = new_txn(p, ZK_DELETE, 1);
  txn->changes[0] = (struct change){.op = ZK_DELETE, .path = fresh_text(path)};
  txn_apply(txn, p->tree, NULL);
  return txn;
}
