/* Rewrites the imports of ZooKeeper's client library, and zklock's imports from
 * it: see imports.c. The client library then calls replacements for some
 * functions of the C library. They create descriptors that child programs do
 * not inherit, resolve addresses without a lock, and use the streams of
 * stream.h. */
#ifndef ZKLOCK_IMPORTS_H
#define ZKLOCK_IMPORTS_H

#include <stdbool.h>

#pragma GCC visibility push(hidden)

/* Rewrites the imports, once per process. The client library is the one that
 * exports `function`, among those that `module` (from dlopen) is linked to. On
 * systems whose linker works in another way, nothing changes. */
void imports_replace(void *module, const char *function);
/* Returns whether the client library reads and writes its sockets through the
 * buffers of stream.h. */
bool imports_have_streams(void);

#pragma GCC visibility pop

#endif
