/* An eviction: a contender's node is deleted, whoever it is, and its session
 * hears of it as of any deletion. */
#ifndef ZKLOCK_EVICTION_H
#define ZKLOCK_EVICTION_H

#include "query.h"

#pragma GCC visibility push(hidden)

/* `node`: below the path; `token`: its czxid, or -1 for that of any.  NULL: no
 * memory. */
struct query *eviction_new(const char *chroot, const char *path,
                           const char *node, int64_t token);

#pragma GCC visibility pop

#endif
