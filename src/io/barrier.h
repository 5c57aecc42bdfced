/* A barrier: the persistent node that holds back who waits for it (vigil.h). */
#ifndef ZKLOCK_BARRIER_H
#define ZKLOCK_BARRIER_H

#include "query.h"

#pragma GCC visibility push(hidden)

/* Makes it, and the directories above it.  NULL: no memory. */
struct query *barrier_to_set(const char *chroot, const char *path,
                             const char *data, size_t size);
struct query *barrier_to_lift(const char *chroot, const char *path);

#pragma GCC visibility pop

#endif
