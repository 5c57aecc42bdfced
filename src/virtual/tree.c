#include "tree.h"

#include <stdlib.h>
#include <string.h>

/* ---- Finding ------------------------------------------------------------- */

static int compare(const char *name, size_t length, const char *other) {
  int order = strncmp(name, other, length);
  return order ? order : other[length] ? -1 : 0;
}

/* Returns the index of the child with this name. If there is none, returns the
 * index at which it would be inserted. */
static int place_of(const struct node *node, const char *name, size_t length,
                    bool *found) {
  int low = 0, high = node->count;
  *found = false;
  if (high > 0 && compare(name, length, node->children[high - 1]->name) > 0)
    return high;
  while (low < high) {
    int middle = (low + high) / 2;
    int order = compare(name, length, node->children[middle]->name);
    if (order == 0) {
      *found = true;
      return middle;
    }
    if (order < 0)
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

struct node *node_child(const struct node *node, const char *name,
                        size_t length) {
  bool found;
  int place = place_of(node, name, length, &found);
  return found ? node->children[place] : NULL;
}

struct node *tree_find_part(const struct tree *tree, const char *path,
                            int length) {
  struct node *node = tree->root;
  const char *at = path, *end = path + length;
  if (length == 0 || (length == 1 && *path == '/')) return node;
  while (node && at < end) {
    if (*at++ != '/') return NULL;
    size_t name = strcspn(at, "/");
    if (at + name > end) name = (size_t)(end - at);
    node = node_child(node, at, name);
    at += name;
  }
  return node;
}

struct node *tree_find(const struct tree *tree, const char *path) {
  return tree_find_part(tree, path, (int)strlen(path));
}

char *node_path(const struct node *node) {
  if (!node->parent) return fresh_text("/");
  size_t size = 1;
  for (const struct node *n = node; n->parent; n = n->parent)
    size += strlen(n->name) + 1;
  char *path = fresh(size), *at = path + size - 1;
  for (const struct node *n = node; n->parent; n = n->parent) {
    size_t length = strlen(n->name);
    memcpy(at -= length, n->name, length);
    *--at = '/';
  }
  return path;
}

bool node_is_ephemeral(const struct node *node) {
  int64_t owner = node->state.owner;
  return owner != 0 && owner != CONTAINER_OWNER &&
         (owner & TTL_OWNER) != TTL_OWNER;
}

void node_stat(const struct node *node, struct zk_stat *stat) {
  const struct node_state *s = &node->state;
  /* The cversion that clients receive is the number of creations plus the
   * number of deletions of children. The number of deletions is the number of
   * creations minus the number of existing children. */
  uint32_t changes = 2 * (uint32_t)s->cversion - (uint32_t)node->count;
  *stat = (struct zk_stat){
      .czxid = s->czxid,
      .mzxid = s->mzxid,
      .ctime = s->ctime,
      .mtime = s->mtime,
      .version = s->version,
      .cversion = (int32_t)changes,
      .aversion = s->aversion,
      .owner = node_is_ephemeral(node) ? s->owner : 0,
      .length = blob_length(s->data),
      .children = node->count,
      .pzxid = s->pzxid,
  };
}

/* ---- Changing ------------------------------------------------------------ */

static void own(struct tree *tree, struct node *node) {
  if (node->state.owner == 0) return;
  node->next_owned = NULL;
  node->previous_owned = tree->last_owned;
  if (tree->last_owned)
    tree->last_owned->next_owned = node;
  else
    tree->first_owned = node;
  tree->last_owned = node;
}

static void disown(struct tree *tree, struct node *node) {
  if (node->state.owner == 0) return;
  if (node->next_owned)
    node->next_owned->previous_owned = node->previous_owned;
  else
    tree->last_owned = node->previous_owned;
  if (node->previous_owned)
    node->previous_owned->next_owned = node->next_owned;
  else
    tree->first_owned = node->next_owned;
}

static void count_ephemeral(struct node *parent, const struct node *node,
                            int change) {
  if (!node_is_ephemeral(node)) return;
  parent->ephemerals += change;
  if (parent->ephemerals == 0 || parent->ephemerals > parent->most_ephemerals)
    parent->most_ephemerals = parent->ephemerals;
}

static void attach(struct tree *tree, struct node *parent, struct node *node) {
  bool found;
  int place = place_of(parent, node->name, strlen(node->name), &found);
  parent->children = with_room(parent->children, parent->count, &parent->room,
                               sizeof *parent->children);
  memmove(parent->children + place + 1, parent->children + place,
          (size_t)(parent->count - place) * sizeof *parent->children);
  parent->children[place] = node;
  parent->count++;
  count_ephemeral(parent, node, 1);
  node->parent = parent;
  own(tree, node);
}

static void detach(struct tree *tree, struct node *node) {
  bool found;
  struct node *parent = node->parent;
  int place = place_of(parent, node->name, strlen(node->name), &found);
  parent->count--;
  count_ephemeral(parent, node, -1);
  memmove(parent->children + place, parent->children + place + 1,
          (size_t)(parent->count - place) * sizeof *parent->children);
  node->parent = NULL;
  disown(tree, node);
}

static void keep_state(struct node_state *state) {
  blob_keep(state->data);
  acl_list_keep(state->acls);
}

static void drop_state(struct node_state *state) {
  blob_drop(state->data);
  acl_list_drop(state->acls);
}

static void node_free(struct node *node) {
  for (int i = 0; i < node->count; i++) node_free(node->children[i]);
  drop_state(&node->state);
  free(node->children);
  free(node->name);
  free(node);
}

static struct undo *note(struct tree *tree, int kind, struct node *node) {
  tree->undos = with_room(tree->undos, tree->undo_count, &tree->undo_room,
                          sizeof *tree->undos);
  struct undo *undo = &tree->undos[tree->undo_count++];
  *undo = (struct undo){.kind = kind, .node = node, .parent = node->parent};
  return undo;
}

void tree_change(struct tree *tree, struct node *node) {
  struct undo *undo = note(tree, UNDO_CHANGE, node);
  undo->state = node->state;
  keep_state(&node->state); /* for the undo */
}

struct node *tree_create(struct tree *tree, struct node *parent,
                         const char *name, const struct node_state *state) {
  struct node *node = fresh(sizeof *node);
  node->name = fresh_text(name);
  node->state = *state;
  attach(tree, parent, node);
  note(tree, UNDO_ATTACH, node);
  return node;
}

void tree_delete(struct tree *tree, struct node *node) {
  note(tree, UNDO_DETACH, node);
  detach(tree, node);
}

void tree_undo(struct tree *tree) {
  while (tree->undo_count > 0) {
    struct undo *undo = &tree->undos[--tree->undo_count];
    if (undo->kind == UNDO_CHANGE) {
      drop_state(&undo->node->state);
      undo->node->state = undo->state;
    } else if (undo->kind == UNDO_ATTACH) {
      detach(tree, undo->node);
      node_free(undo->node);
    } else {
      attach(tree, undo->parent, undo->node);
    }
  }
}

void tree_settle(struct tree *tree) {
  for (int i = 0; i < tree->undo_count; i++)
    if (tree->undos[i].kind == UNDO_CHANGE) drop_state(&tree->undos[i].state);
  for (int i = 0; i < tree->undo_count; i++)
    if (tree->undos[i].kind == UNDO_DETACH) node_free(tree->undos[i].node);
  tree->undo_count = 0;
}

/* ---- Sessions ------------------------------------------------------------ */

static int session_place(const struct tree *tree, int64_t id) {
  int low = 0, high = tree->session_count;
  while (low < high) {
    int middle = (low + high) / 2;
    if (tree->sessions[middle].id < id)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

struct session_record *tree_session(const struct tree *tree, int64_t id) {
  int place = session_place(tree, id);
  bool found = place < tree->session_count && tree->sessions[place].id == id;
  return found ? &tree->sessions[place] : NULL;
}

void tree_add_session(struct tree *tree, int64_t id, int32_t timeout_ms) {
  struct session_record *known = tree_session(tree, id);
  if (known) {
    known->timeout_ms = timeout_ms;
    return;
  }
  int place = session_place(tree, id);
  tree->sessions = with_room(tree->sessions, tree->session_count,
                             &tree->session_room, sizeof *tree->sessions);
  memmove(tree->sessions + place + 1, tree->sessions + place,
          (size_t)(tree->session_count - place) * sizeof *tree->sessions);
  tree->sessions[place] = (struct session_record){id, timeout_ms};
  tree->session_count++;
}

void tree_remove_session(struct tree *tree, int64_t id) {
  struct session_record *known = tree_session(tree, id);
  if (!known) return;
  int place = (int)(known - tree->sessions);
  tree->session_count--;
  memmove(known, known + 1,
          (size_t)(tree->session_count - place) * sizeof *tree->sessions);
}

/* ---- Trees --------------------------------------------------------------- */

static struct node *root_new(void) {
  struct node *root = fresh(sizeof *root);
  root->name = fresh_text("");
  root->state.acls = acl_list_open();
  root->state.data = blob_new("", 0);
  return root;
}

static struct node *always(struct node *parent, const char *name) {
  struct node *node = root_new();
  struct tree none = {.root = NULL};
  free(node->name);
  node->name = fresh_text(name);
  attach(&none, parent, node);
  return node;
}

struct tree *tree_new(void) {
  struct tree *tree = fresh(sizeof *tree);
  tree->root = root_new();
  struct node *own_nodes = always(tree->root, "zookeeper");
  struct node *config = always(own_nodes, "config");
  acl_list_drop(config->state.acls);
  const struct zk_acl anyone = {ZK_READ, "world", "anyone"};
  config->state.acls = acl_list_new(&(struct zk_acls){1, &anyone});
  config->state.aversion = -1;
  always(own_nodes, "quota");
  return tree;
}

static struct node *node_copy(const struct node *node, struct node *parent) {
  struct node *copy = fresh(sizeof *copy);
  copy->name = fresh_text(node->name);
  copy->parent = parent;
  copy->state = node->state;
  keep_state(&copy->state);
  copy->count = copy->room = node->count;
  copy->ephemerals = node->ephemerals;
  copy->most_ephemerals = node->most_ephemerals;
  if (node->count)
    copy->children = fresh((size_t)node->count * sizeof *copy->children);
  for (int i = 0; i < node->count; i++)
    copy->children[i] = node_copy(node->children[i], copy);
  return copy;
}

struct tree *tree_copy(const struct tree *tree) {
  struct tree *copy = fresh(sizeof *copy);
  copy->root = node_copy(tree->root, NULL);
  copy->zxid = tree->zxid;
  for (struct node *n = tree->first_owned; n; n = n->next_owned) {
    char *path = node_path(n);
    struct node *same = tree_find(copy, path);
    if (same) own(copy, same);
    free(path);
  }
  for (int i = 0; i < tree->session_count; i++)
    tree_add_session(copy, tree->sessions[i].id, tree->sessions[i].timeout_ms);
  return copy;
}

void tree_free(struct tree *tree) {
  if (!tree) return;
  tree_undo(tree);
  node_free(tree->root);
  free(tree->sessions);
  free(tree->undos);
  free(tree->deferred);
  free(tree);
}
