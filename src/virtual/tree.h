/* The nodes as one server has them, and the sessions that it knows.  Each change
 * to a node can be undone until the tree is settled. */
#ifndef ZKLOCK_VIRTUAL_TREE_H
#define ZKLOCK_VIRTUAL_TREE_H

#include "acl.h"
#include "arena.h"
#include "messages.h"

#pragma GCC visibility push(hidden)

#define CONTAINER_OWNER INT64_MIN
#define TTL_OWNER ((int64_t)0xff00000000000000)

/* What of a node changes.  (`cversion` counts creations; what clients see is made
 * of it.) */
struct node_state {
  struct blob *data;
  struct acl_list *acls;
  int64_t czxid, mzxid, pzxid, ctime, mtime, owner;
  int32_t version, cversion, aversion;
};

struct node {
  struct node *parent; /* NULL: the root, or a node that is gone */
  char *name;
  struct node **children; /* by name */
  int count, room;
  int ephemerals,
      crowd; /* of the children; the most at once, since there was none */
  struct node_state state;
  struct node *next_owned, *previous_owned; /* of those that have an owner */
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
  struct node *first_owned, *last_owned; /* in the order of their creation */
  int64_t zxid;                          /* of the last transaction */
  struct session_record *sessions;       /* by id */
  int session_count, session_room;
  struct undo *undos;
  int undo_count, undo_room;
  bool is_head; /* of a leader: what is proposed is done in it */
  bool defers;  /* changes of quotas wait until the tree is settled */
  struct quota_change *deferred;
  int deferred_count, deferred_room;
};

struct tree *tree_new(void);
struct tree *tree_copy(const struct tree *tree);
void tree_free(struct tree *tree);

struct node *tree_find(const struct tree *tree, const char *path);
/* The first `length` bytes of a path. */
struct node *tree_find_part(const struct tree *tree, const char *path,
                            int length);
struct node *node_child(const struct node *node, const char *name,
                        size_t length);
void node_stat(const struct node *node, struct zk_stat *stat);
bool node_is_ephemeral(const struct node *node);
/* Allocated. */
char *node_path(const struct node *node);

/* The new node's state is the tree's: what it points to is kept by it. */
struct node *tree_create(struct tree *tree, struct node *parent,
                         const char *name, const struct node_state *state);
/* A node without children. */
void tree_delete(struct tree *tree, struct node *node);
/* Before `node->state` is changed; data and acls that are replaced are to be
 * dropped by none but the tree. */
void tree_change(struct tree *tree, struct node *node);
void tree_undo(struct tree *tree);   /* all since the tree was settled */
void tree_settle(struct tree *tree); /* nothing is undone */

struct session_record *tree_session(const struct tree *tree, int64_t id);
void tree_add_session(struct tree *tree, int64_t id, int32_t timeout_ms);
void tree_remove_session(struct tree *tree, int64_t id);

#pragma GCC visibility pop

#endif
