/* Checks paths by ZooKeeper's rules and names of contenders' nodes. Pure. */
#ifndef ZKLOCK_PATH_H
#define ZKLOCK_PATH_H

#include <stddef.h>

#pragma GCC visibility push(hidden)

enum { PATH_MAX_BYTES = 1000 };

/* Returns why ZooKeeper would refuse a path, as the end of a sentence such as
 * "must not be the root", or NULL. */
const char *path_fault(const char *path, size_t length);

/* Returns the first component of the path that is the name of a contender's
 * node, or NULL. The node can be of any kind of lock and layout. `*length` is
 * the component's length. */
const char *path_contender(const char *path, size_t path_length,
                           size_t *length);

/* Returns why `node` cannot be a contender's node, or NULL if it can. `node` is
 * a path below the lock's path: a name, or a path in one of a semaphore's
 * directories. */
const char *path_node_fault(const char *node, size_t length);

#pragma GCC visibility pop

#endif
