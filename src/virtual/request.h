/* Copies of requests and replies, and how large they are on the wire. */
#ifndef ZKLOCK_VIRTUAL_REQUEST_H
#define ZKLOCK_VIRTUAL_REQUEST_H

#include "arena.h"
#include "messages.h"

#pragma GCC visibility push(hidden)

struct zk_request *request_copy(struct arena *arena,
                                const struct zk_request *request);
struct zk_reply *reply_copy(struct arena *arena, const struct zk_reply *reply);
/* In bytes, without the length that goes before it. */
int64_t request_size(const struct zk_request *request);
/* It may change something: only the leader answers it. */
bool request_is_write(enum zk_op op);

#pragma GCC visibility pop

#endif
