/* A stamp: a persistent node that is made, or written anew, so that the time of
 * its last change, by the servers' clock, is that of an event. */
#ifndef ZKLOCK_STAMP_H
#define ZKLOCK_STAMP_H

#include "query.h"

#pragma GCC visibility push(hidden)

/* `node`: the path of a node that must be there, or nothing is done; NULL: none.  The
 * data are copied.  NULL: no memory. */
struct query *stamp_new(const char *chroot, const char *path, const char *node,
                        const char *data, size_t size);

#pragma GCC visibility pop

#endif
