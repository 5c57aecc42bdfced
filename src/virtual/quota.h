/* Quotas limit how many nodes and bytes there can be below a path. The quota of
 * PATH is stored in two nodes below /zookeeper/quota/PATH. The node
 * zookeeper_limits contains the limits, and zookeeper_stats the current
 * counts. */
#ifndef ZKLOCK_VIRTUAL_QUOTA_H
#define ZKLOCK_VIRTUAL_QUOTA_H

#include "tree.h"

#pragma GCC visibility push(hidden)

/* Returns true if `bytes` and `nodes`, added at this path, would exceed a hard
 * limit. */
bool quota_exceeded(const struct tree *tree, const char *path, int64_t bytes,
                    int64_t nodes);
/* Adds `bytes` and `nodes` to the counts of the quota that covers this path, if
 * any. The numbers are negative after a deletion. */
void quota_count(struct tree *tree, const char *path, int64_t bytes,
                 int64_t nodes);
/* Called when the node at this path was created. If it is a zookeeper_stats,
 * writes into it how many bytes and nodes its quota now covers. */
void quota_created(struct tree *tree, const char *path);
/* Adds to the counts the changes that a multi has deferred until its end. */
void quota_settle(struct tree *tree);

#pragma GCC visibility pop

#endif
