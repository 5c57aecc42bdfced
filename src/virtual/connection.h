/* A client and a server, and the two lanes between them. */
#ifndef ZKLOCK_VIRTUAL_CONNECTION_H
#define ZKLOCK_VIRTUAL_CONNECTION_H

#include "inside.h"

#pragma GCC visibility push(hidden)

/* From the server to the client. */
void connection_tell(struct zk_connection *connection, struct message *message,
                     int64_t now);
/* By the link: both ends see it closed; or the server alone. */
void connection_cut(struct zk_connection *connection, int64_t now,
                    bool client_too);
/* By its server, in order. */
void connection_drop(struct zk_connection *connection, int64_t now);
bool connection_is_over(const struct zk_connection *connection);
void connection_free(struct zk_connection *connection);

#pragma GCC visibility pop

#endif
