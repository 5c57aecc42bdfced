/* A revocation: nodes get the mark by which their owners are asked to let go.
 * What is marked is their own data as they are, with the mark behind them. */
#ifndef ZKLOCK_REVOCATION_H
#define ZKLOCK_REVOCATION_H

#include "query.h"

#pragma GCC visibility push(hidden)

/* A node whose path and data are longer is not marked: a server closes the
 * connection at a request that is larger than its jute.maxbuffer, which is 16 KiB
 * at least.  (No lock of ours comes near.) */
enum { REVOCATION_MAX = 12 * 1024 };

/* NULL: no memory. */
struct query *revocation_new(const char *chroot, const char *path);
/* One of the nodes below the path; its data were of so many bytes.  False: no
 * memory. */
bool revocation_add(struct query *query, const char *name, int size);

#pragma GCC visibility pop

#endif
