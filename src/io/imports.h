/* What names stand for in ZooKeeper's library, and ours in it: see imports.c.  The
 * library is given functions in place of some of the C library's: for descriptors
 * that no child program inherits, addresses that are found without a lock, and the
 * streams of stream.h. */
#ifndef ZKLOCK_IMPORTS_H
#define ZKLOCK_IMPORTS_H

#pragma GCC visibility push(hidden)

/* Once in the process: for the shared library that has `function`, of those that
 * our `module` (dlopen) was linked to.  Where this system links in another way,
 * all keep what they have. */
void imports_replace(void *module, const char *function);

#pragma GCC visibility pop

#endif
