/* A revocation: nodes get the mark by which their owners are asked to let go.
 * What is marked is their own data as they are, with the mark behind them. */
#ifndef ZKLOCK_REVOCATION_H
#define ZKLOCK_REVOCATION_H

#include "query.h"

#pragma GCC visibility push(hidden)

/* Data of more bytes are not marked, nor what makes a larger packet with its
 * path: a server closes the connection at 1 MiB.  (No lock's own data are
 * longer, and their paths are short.) */
enum { REVOCATION_DATA = 1000000, REVOCATION_PACKET = 1024 * 1024 - 1024 };

/* NULL: no memory. */
struct query *revocation_new(const char *chroot, const char *path);
/* One of the nodes below the path; its data were of so many bytes.  False: no
 * memory. */
bool revocation_add(struct query *query, const char *name, int size);

#pragma GCC visibility pop

#endif
