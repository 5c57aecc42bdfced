#include "history.h"

static void know_paths(struct history *history, int count) {
  for (; history->known_paths < count; history->known_paths++) {
    history->newest[history->known_paths] = NO_NODE;
    history->first_child[history->known_paths] = NO_NODE;
  }
}

void history_reset(struct history *history) {
  history->log_count = 0;
  history->node_count = 0;
  history->known_paths = 0;
  history->epoch = 1;
  history->overflowed = false;
}

int history_append(struct history *history, enum transaction_kind kind,
                   int node, int session) {
  if (history->log_count == LOG_MAX) {
    history->overflowed = true;
    history->log_count--;
  }
  int number = history->log_count++;
  /* The counter does not begin again with an epoch: then the low half of a
   * zxid tells the transaction, and the order is the same. */
  history->log[number] = (struct transaction){
      .kind = kind,
      .node = node,
      .beside = NO_NODE,
      .session = session,
      .request = NOBODY,
      .server = NOBODY,
      .zxid = (int64_t)history->epoch << 32 | (number + 1),
  };
  return number;
}

int history_create(struct history *history, struct paths *paths, int path,
                   int parent, int session, bool container) {
  if (history->node_count == NODES_MAX) {
    history->overflowed = true;
    history->node_count--;
  }
  know_paths(history, paths->count);
  int number = history->node_count++;
  history->nodes[number] = (struct znode){
      .path = path,
      .parent = parent,
      .older = history->newest[path],
      .sibling = history->first_child[parent],
      .made = history->log_count,
      .gone = NOT_YET,
      .revoked = NOT_YET,
      .role = ROLE_FOREIGN,
      .order = history->log_count,
      .session = session,
      .shut_by = NOBODY,
      .container = container,
  };
  history->newest[path] = history->first_child[parent] = number;
  int directory = history_find(history, paths, parent, history->log_count);
  if (directory != NO_NODE) history->nodes[directory].children++;
  return number;
}

static int parent_node(const struct history *history, int node) {
  int at = history->newest[history->nodes[node].parent];
  return history_has(history, at) ? at : NO_NODE;
}

void history_remove(struct history *history, int node, bool by_force) {
  history->nodes[node].gone = history->log_count;
  history->nodes[node].by_force = by_force;
  int directory = parent_node(history, node);
  if (directory != NO_NODE) history->nodes[directory].children--;
}

int history_find(struct history *history, const struct paths *paths, int path,
                 int view) {
  know_paths(history, paths->count);
  int node = history->newest[path];
  while (node != NO_NODE && history->nodes[node].made >= view)
    node = history->nodes[node].older;
  if (node != NO_NODE && history->nodes[node].gone < view) return NO_NODE;
  return node;
}

int history_creates(const struct history *h, int path, int view) {
  int count = 0;
  for (CHILDREN(child, h, path)) count += child->made < view;
  return count;
}
