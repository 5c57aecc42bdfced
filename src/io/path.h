/* What ZooKeeper takes for a path of a node.  Pure. */
#ifndef ZKLOCK_PATH_H
#define ZKLOCK_PATH_H

#include <stddef.h>

#pragma GCC visibility push(hidden)

enum { PATH_MAX_BYTES = 1000 };

/* What ZooKeeper would refuse in a path, as a sentence's end; NULL: nothing. */
const char *path_fault(const char *path, size_t length);

/* The first component whose name reads as a contender's node, whatever kind of
 * lock and layout it would belong to; NULL: there is none. */
const char *path_contender(const char *path, size_t path_length,
                           size_t *length);

/* What is wrong with a contender's node, as it is named below the path of its
 * lock: its name, or that below a semaphore's directories; NULL: nothing. */
const char *path_node_fault(const char *node, size_t length);

#pragma GCC visibility pop

#endif
