/* Answers the requests that a server answers without the leader: reads, watches
 * and pings. */
#ifndef ZKLOCK_VIRTUAL_READ_H
#define ZKLOCK_VIRTUAL_READ_H

#include "inside.h"

#pragma GCC visibility push(hidden)

/* Creates the message that answers a pending request. Returns its reply, which
 * the caller fills. */
struct zk_reply *reply_new(struct message **message,
                           const struct pending *pending);
void event_send(struct zk_connection *connection, enum zk_event_type type,
                const char *path, int64_t zxid, int64_t now);
/* Answers a request. If `rc` is not ZK_OK, the server may not serve the
 * session. Then the reply contains only this code. */
void read_answer(struct server *server, struct zk_connection *connection,
                 const struct pending *pending, int rc, int64_t now);

#pragma GCC visibility pop

#endif
