/* A server's connections to clients. Processes the requests of each connection
 * in order. */
#ifndef ZKLOCK_VIRTUAL_SERVER_H
#define ZKLOCK_VIRTUAL_SERVER_H

#include "inside.h"

#pragma GCC visibility push(hidden)

/* The following functions implement hooks of inside.h. */
void server_greets(struct server *server, struct zk_connection *connection,
                   int64_t now);
void server_reads(struct server *server, struct zk_connection *connection,
                  struct message *message, int64_t now);
void server_forgets(struct server *server, struct zk_connection *connection);

/* Continues a client's hello or request after the leader has answered it.
 * `answer`: the leader's answer. */
void server_answers(struct server *server, const struct forward *answer,
                    int64_t now);
struct zk_connection *server_connection(const struct server *server,
                                        const struct origin *origin);
/* Removes the connection's oldest request after it was answered, and continues
 * with the next. */
void server_finishes(struct server *server, struct zk_connection *connection,
                     int64_t now);
void server_establishes(struct server *server, struct zk_connection *connection,
                        bool valid, int64_t now);
/* server_drops_all closes all connections of the server. server_drops_session
 * closes only those of one session. */
void server_drops_all(struct server *server, int64_t now);
void server_drops_session(struct server *server, int64_t session, int64_t now);

#pragma GCC visibility pop

#endif
