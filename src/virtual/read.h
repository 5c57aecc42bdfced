/* What a server answers by itself: reads, watches, pings. */
#ifndef ZKLOCK_VIRTUAL_READ_H
#define ZKLOCK_VIRTUAL_READ_H

#include "inside.h"

#pragma GCC visibility push(hidden)

/* A reply that is being made. */
struct zk_reply *reply_new(struct message **message,
                           const struct pending *pending);
void event_send(struct zk_connection *connection, enum zk_event_type type,
                const char *path, int64_t zxid, int64_t now);
/* `rc`: not ZK_OK: why the session is not served. */
void read_answer(struct server *server, struct zk_connection *connection,
                 const struct pending *pending, int rc, int64_t now);

#pragma GCC visibility pop

#endif
