#include "quota.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TOP "/zookeeper/quota"
#define LIMITS "zookeeper_limits"
#define STATS "zookeeper_stats"

/* Returns the node of the quota that covers this path, or NULL. If several
 * quotas cover it, returns the deepest node. */
static struct node *quota_of(const struct tree *tree, const char *path) {
  struct node *quota = tree_find(tree, TOP), *deepest = NULL;
  for (const char *at = path; quota && *at == '/';) {
    size_t length = strcspn(++at, "/");
    quota = length ? node_child(quota, at, length) : NULL;
    if (quota && node_child(quota, LIMITS, sizeof LIMITS - 1)) deepest = quota;
    at += length;
  }
  return deepest;
}

/* Returns the value of a key in the node's data, such as
 * "count=1,bytes=2=;byteHardLimit=3". Returns -1 if the key is missing. */
static int64_t value_of(const struct node *node, const char *key) {
  const struct blob *data = node->state.data;
  size_t length = strlen(key), size = (size_t)blob_length(data);
  char *text = fresh(size + 1);
  if (size) memcpy(text, data->bytes, size);
  int64_t value = -1;
  for (char *rest, *part = strtok_r(text, ",;", &rest); part;
       part = strtok_r(NULL, ",;", &rest))
    if (strncmp(part, key, length) == 0 && part[length] == '=' &&
        part[length + 1] != '\0')
      value = strtoll(part + length + 1, NULL, 10);
  free(text);
  return value;
}

bool quota_exceeded(const struct tree *tree, const char *path, int64_t bytes,
                    int64_t nodes) {
  const struct node *quota = quota_of(tree, path);
  if (!quota) return false;
  const struct node *limits = node_child(quota, LIMITS, sizeof LIMITS - 1);
  const struct node *stats = node_child(quota, STATS, sizeof STATS - 1);
  if (!stats) return false;
  int64_t most_nodes = value_of(limits, "countHardLimit");
  int64_t most_bytes = value_of(limits, "byteHardLimit");
  if (nodes != 0 && most_nodes > -1 &&
      value_of(stats, "count") + nodes > most_nodes)
    return true;
  return bytes != 0 && most_bytes > -1 &&
         value_of(stats, "bytes") + bytes > most_bytes;
}

/* Writes the counts of a quota into its node `stats`. The node's versions and
 * times do not change. */
static void write_stats(struct tree *tree, struct node *stats, int64_t nodes,
                        int64_t bytes) {
  char text[80];
  int length = snprintf(text, sizeof text, "count=%" PRId64 ",bytes=%" PRId64,
                        nodes, bytes);
  tree_change(tree, stats);
  blob_drop(stats->state.data);
  stats->state.data = blob_new(text, length);
}

static void count_now(struct tree *tree, const char *path, int64_t bytes,
                      int64_t nodes) {
  const struct node *quota = quota_of(tree, path);
  struct node *stats =
      quota ? node_child(quota, STATS, sizeof STATS - 1) : NULL;
  if (stats)
    write_stats(tree, stats, value_of(stats, "count") + nodes,
                value_of(stats, "bytes") + bytes);
}

void quota_count(struct tree *tree, const char *path, int64_t bytes,
                 int64_t nodes) {
  if (!tree->defers) {
    count_now(tree, path, bytes, nodes);
    return;
  }
  tree->deferred = with_room(tree->deferred, tree->deferred_count,
                             &tree->deferred_room, sizeof *tree->deferred);
  tree->deferred[tree->deferred_count++] =
      (struct quota_change){fresh_text(path), bytes, nodes};
}

void quota_settle(struct tree *tree) {
  tree->defers = false;
  for (int i = 0; i < tree->deferred_count; i++) {
    struct quota_change *change = &tree->deferred[i];
    count_now(tree, change->path, change->bytes, change->nodes);
    free(change->path);
  }
  tree->deferred_count = 0;
}

static void add_up(const struct node *node, int64_t *nodes, int64_t *bytes) {
  ++*nodes;
  *bytes += blob_length(node->state.data);
  for (int i = 0; i < node->count; i++) add_up(node->children[i], nodes, bytes);
}

void quota_created(struct tree *tree, const char *path) {
  const char *slash = strrchr(path, '/');
  if (strncmp(path, TOP "/", sizeof TOP) != 0 || strcmp(slash + 1, STATS) != 0)
    return;
  int64_t nodes = 0, bytes = 0;
  const char *target = path + sizeof TOP - 1;
  const struct node *node = tree_find_part(tree, target, (int)(slash - target));
  if (node) add_up(node, &nodes, &bytes);
  struct node *stats = tree_find(tree, path);
  write_stats(tree, stats, nodes, bytes);
}
