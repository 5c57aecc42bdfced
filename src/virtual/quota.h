/* Quotas limit the number of nodes and of bytes below a node. They are nodes
 * themselves: /zookeeper/quota/PATH/zookeeper_limits has the limits,
 * .../zookeeper_stats the counts. */
#ifndef ZKLOCK_VIRTUAL_QUOTA_H
#define ZKLOCK_VIRTUAL_QUOTA_H

#include "tree.h"

#pragma GCC visibility push(hidden)

/* Returns true if this many more bytes and nodes at this path would exceed a
 * hard limit. */
bool quota_exceeded(const struct tree *tree, const char *path, int64_t bytes,
                    int64_t nodes);
/* Adds to the counts of the quota that covers this path; negative numbers are
 * deletions. */
void quota_count(struct tree *tree, const char *path, int64_t bytes,
                 int64_t nodes);
/* If the node created at this path contains a quota's counts, sets them to the
 * bytes and nodes that exist. */
void quota_created(struct tree *tree, const char *path);
/* Adds the changes to the counts that were deferred during a multi. */
void quota_settle(struct tree *tree);

#pragma GCC visibility pop

#endif
