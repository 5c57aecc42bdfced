/* Which texts are paths of nodes. */
#ifndef ZKLOCK_VIRTUAL_ZNODE_PATH_H
#define ZKLOCK_VIRTUAL_ZNODE_PATH_H

#include <stdbool.h>
#include <stddef.h>

#pragma GCC visibility push(hidden)

bool znode_path_is_valid(const char *path);
/* One of the nodes that are always there, and cannot be deleted. */
bool znode_path_is_special(const char *path);
/* The length of the parent's path, which is 0 for the root; -1: no slash. */
int znode_path_parent(const char *path);

#pragma GCC visibility pop

#endif
