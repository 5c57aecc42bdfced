/* Quotas limit the number of nodes, and of their bytes, below the path PATH. A
 * quota is stored in two nodes: /zookeeper/quota/PATH/zookeeper_limits has the
 * limits, .../zookeeper_stats the current counts. */
#ifndef ZKLOCK_VIRTUAL_QUOTA_H
#define ZKLOCK_VIRTUAL_QUOTA_H

#include "tree.h"

#pragma GCC visibility push(hidden)

/* Returns true if this many more bytes and nodes at this path would exceed a
 * hard limit. */
bool quota_exceeded(const struct tree *tree, const char *path, int64_t bytes,
                    int64_t nodes);
/* Adds `bytes` and `nodes` to the counts of the quota that covers this path, if
 * any. The numbers are negative after a deletion. */
void quota_count(struct tree *tree, const char *path, int64_t bytes,
                 int64_t nodes);
/* Called when the node at this path was created. If the node is a
 * zookeeper_stats, writes the numbers of bytes and nodes that exist into it. */
void quota_created(struct tree *tree, const char *path);
/* Adds to the counts the changes that were deferred during a multi. */
void quota_settle(struct tree *tree);

#pragma GCC visibility pop

#endif
