/* Changes which functions some calls reach (imports.c). zklock's calls of
 * ZooKeeper's client library then reach the right library. That library calls
 * replacements for some functions of the C library. They create descriptors
 * that child programs do not inherit, resolve addresses without a lock, and use
 * the streams of stream.h. */
#ifndef ZKLOCK_IMPORTS_H
#define ZKLOCK_IMPORTS_H

#include <stdbool.h>

#pragma GCC visibility push(hidden)

/* Rewrites the imports. Only the first call in a process has an effect.
 * `module` is a dlopen handle of zklock's module. The client library is the one
 * that exports `function`, among the libraries that the module is linked to. On
 * systems whose linker works in another way, nothing changes. */
void imports_replace(void *module, const char *function);
/* Returns whether the client library reads and writes its sockets through the
 * buffers of stream.h. TLS needs these buffers. */
bool imports_have_streams(void);

#pragma GCC visibility pop

#endif
