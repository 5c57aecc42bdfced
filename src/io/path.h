/* Checks paths by ZooKeeper's rules, and finds the names of contenders' nodes.
 * This module does no I/O. */
#ifndef ZKLOCK_PATH_H
#define ZKLOCK_PATH_H

#include <stddef.h>

#pragma GCC visibility push(hidden)

enum { PATH_MAX_BYTES = 1000 };

/* Returns NULL if ZooKeeper accepts the path. Otherwise returns a part of an
 * error message that says why not, such as "must not be the root". */
const char *path_fault(const char *path, size_t length);

/* Returns the first component of the path that can be the name of a contender's
 * node, or NULL. Finds the names of all kinds of locks, in all layouts. Sets
 * `*length` to the length of the component. */
const char *path_contender(const char *path, size_t path_length,
                           size_t *length);

/* If the path `node` is in the directory (name.h), returns the rest of the path,
 * which is the node's name. Otherwise returns NULL. */
const char *path_name_in(const char *node, const char *directory);

/* Returns NULL if `node` can be a contender's node; otherwise returns why not.
 * `node` is relative to the lock's path. It is a name, or a path in one of a
 * semaphore's directories. */
const char *path_node_fault(const char *node, size_t length);

#pragma GCC visibility pop

#endif
