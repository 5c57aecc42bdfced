/* Checks the paths of nodes. */
#ifndef ZKLOCK_VIRTUAL_ZNODE_PATH_H
#define ZKLOCK_VIRTUAL_ZNODE_PATH_H

#include <stdbool.h>
#include <stddef.h>

#pragma GCC visibility push(hidden)

bool znode_path_is_valid(const char *path);
/* Returns true if the path is that of a node that always exists and cannot be
 * deleted. */
bool znode_path_is_special(const char *path);
/* Returns the length of the parent's path, which is 0 if the parent is the
 * root. Returns -1 if there is no slash. */
int znode_path_parent(const char *path);

#pragma GCC visibility pop

#endif
