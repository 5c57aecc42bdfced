/* Rewrites the imports of ZooKeeper's library, and our imports from it: see
 * imports.c. The library gets replacements for some functions of the C library.
 * They create descriptors that child programs do not inherit, resolve addresses
 * without a lock, and use the streams of stream.h. */
#ifndef ZKLOCK_IMPORTS_H
#define ZKLOCK_IMPORTS_H

#include <stdbool.h>

#pragma GCC visibility push(hidden)

/* Runs once per process. Applies to the shared library that exports `function`,
 * among those that `module` (from dlopen) is linked to. On systems that link in
 * another way, nothing changes. */
void imports_replace(void *module, const char *function);
/* Returns whether the library's sockets have streams. */
bool imports_have_streams(void);

#pragma GCC visibility pop

#endif
