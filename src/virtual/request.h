/* Copies requests and replies, and computes the sizes of requests on the
 * wire. */
#ifndef ZKLOCK_VIRTUAL_REQUEST_H
#define ZKLOCK_VIRTUAL_REQUEST_H

#include "arena.h"
#include "messages.h"

#pragma GCC visibility push(hidden)

struct zk_request *request_copy(struct arena *arena,
                                const struct zk_request *request);
struct zk_reply *reply_copy(struct arena *arena, const struct zk_reply *reply);
/* Returns the size of the request on the wire, in bytes, without the length
 * field that precedes it. */
int64_t request_size(const struct zk_request *request);
/* Returns true if the operation is a write. Only the leader decides on
 * writes. */
bool request_is_write(enum zk_op op);

#pragma GCC visibility pop

#endif
