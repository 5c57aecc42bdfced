/* A connection between a client and a server, with a lane in each direction. */
#ifndef ZKLOCK_VIRTUAL_CONNECTION_H
#define ZKLOCK_VIRTUAL_CONNECTION_H

#include "inside.h"

#pragma GCC visibility push(hidden)

/* Sends a message from the server to the client. */
void connection_tell(struct zk_connection *connection, struct message *message,
                     int64_t now);
/* Breaks a connection at its link, and drops its messages that have not arrived
 * yet. Notifies the server of the end; notifies the client only if `client_too`
 * is true. */
void connection_cut(struct zk_connection *connection, int64_t now,
                    bool client_too);
/* Closes a connection at its server. The client still receives all messages
 * that the server has sent, and then the end. */
void connection_drop(struct zk_connection *connection, int64_t now);
bool connection_is_over(const struct zk_connection *connection);
void connection_free(struct zk_connection *connection);

#pragma GCC visibility pop

#endif
