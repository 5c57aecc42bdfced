/* Quotas: limits on the number of nodes and on bytes below a node, which are
 * nodes themselves: /zookeeper/quota/PATH/zookeeper_limits has the limits,
 * .../zookeeper_stats has what there is. */
#ifndef ZKLOCK_VIRTUAL_QUOTA_H
#define ZKLOCK_VIRTUAL_QUOTA_H

#include "tree.h"

#pragma GCC visibility push(hidden)

/* Would so many bytes and nodes more, at this path, exceed a hard limit? */
bool quota_exceeded(const struct tree *tree, const char *path, int64_t bytes,
                    int64_t nodes);
/* Counts what has come, or gone, at this path. */
void quota_count(struct tree *tree, const char *path, int64_t bytes,
                 int64_t nodes);
/* After the creation of a node: it may begin a quota. */
void quota_created(struct tree *tree, const char *path);
/* Counts what has been deferred. */
void quota_settle(struct tree *tree);

#pragma GCC visibility pop

#endif
