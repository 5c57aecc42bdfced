/* Checks whether ZooKeeper accepts a path. Pure. */
#ifndef ZKLOCK_PATH_H
#define ZKLOCK_PATH_H

#include <stddef.h>

#pragma GCC visibility push(hidden)

enum { PATH_MAX_BYTES = 1000 };

/* Returns why ZooKeeper would refuse a path, as the end of a sentence, or
 * NULL. */
const char *path_fault(const char *path, size_t length);

/* Returns the first component that reads as a contender's node, of any kind of
 * lock and layout, or NULL. */
const char *path_contender(const char *path, size_t path_length,
                           size_t *length);

/* Returns what is wrong with a contender's node, or NULL. `node` is its path
 * below the lock's path: its name, or a path in one of a semaphore's
 * directories. */
const char *path_node_fault(const char *node, size_t length);

#pragma GCC visibility pop

#endif
