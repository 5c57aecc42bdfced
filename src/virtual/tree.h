/* The tree of one server: its nodes, and the sessions that it knows. Changes to
 * nodes can be undone until tree_settle is called. */
#ifndef ZKLOCK_VIRTUAL_TREE_H
#define ZKLOCK_VIRTUAL_TREE_H

#include "acl.h"
#include "arena.h"
#include "messages.h"

#pragma GCC visibility push(hidden)

#define CONTAINER_OWNER INT64_MIN
#define TTL_OWNER ((int64_t)0xff00000000000000)

/* The part of a node that can change. `cversion` is the number of children
 * created so far. Clients receive another number as cversion; node_stat
 * computes it from this one. */
struct node_state {
  struct blob *data;
  struct acl_list *acls;
  int64_t czxid, mzxid, pzxid, ctime, mtime, owner;
  int32_t version, cversion, aversion;
};

struct node {
  struct node *parent; /* NULL for the root and a deleted node */
  char *name;
  struct node **children; /* the children, sorted by name */
  int count, room;
  /* `ephemerals`: the number of ephemeral children. `most_ephemerals`: its
   * maximum since it was last 0. */
  int ephemerals, most_ephemerals;
  struct node_state state;
  struct node *next_owned, *previous_owned; /* list of nodes with an owner */
};

struct undo {
  enum { UNDO_CHANGE, UNDO_ATTACH, UNDO_DETACH } kind;
  struct node *node, *parent;
  struct node_state state;
};

struct session_record {
  int64_t id;
  int32_t timeout_ms;
};

struct quota_change {
  char *path;
  int64_t bytes, nodes;
};

struct tree {
  struct node *root;
  struct node *first_owned, *last_owned; /* nodes in the order of creation */
  int64_t zxid;                          /* the zxid of the last transaction */
  struct session_record *sessions;       /* the sessions, sorted by id */
  int session_count, session_room;
  struct undo *undos;
  int undo_count, undo_room;
  bool is_head; /* true for a leader's tree with all proposals */
  bool defers;  /* changes of quota counts wait for quota_settle */
  struct quota_change *deferred;
  int deferred_count, deferred_room;
};

struct tree *tree_new(void);
struct tree *tree_copy(const struct tree *tree);
void tree_free(struct tree *tree);

struct node *tree_find(const struct tree *tree, const char *path);
/* Finds the node at the first `length` bytes of a path. */
struct node *tree_find_part(const struct tree *tree, const char *path,
                            int length);
struct node *node_child(const struct node *node, const char *name,
                        size_t length);
void node_stat(const struct node *node, struct zk_stat *stat);
bool node_is_ephemeral(const struct node *node);
/* Returns the node's path, which the caller frees. */
char *node_path(const struct node *node);

/* Creates a node. The tree takes over the caller's references to the data and
 * the ACL in `state`. */
struct node *tree_create(struct tree *tree, struct node *parent,
                         const char *name, const struct node_state *state);
/* Deletes a node that has no children. */
void tree_delete(struct tree *tree, struct node *node);
/* Saves a copy of `node->state` for tree_undo. Must be called before each
 * change of the state. The copy has its own references to the data and the ACL.
 * So a caller that replaces one of them must drop the node's reference to the
 * old one. */
void tree_change(struct tree *tree, struct node *node);
void tree_undo(struct tree *tree);   /* undoes all changes since tree_settle */
void tree_settle(struct tree *tree); /* makes the changes final */

struct session_record *tree_session(const struct tree *tree, int64_t id);
void tree_add_session(struct tree *tree, int64_t id, int32_t timeout_ms);
void tree_remove_session(struct tree *tree, int64_t id);

#pragma GCC visibility pop

#endif
