/* A link between clients and servers, which passes, changes or drops messages
 * of its connections. Each trap on a link waits for one message
 * (operator.h). */
#ifndef ZKLOCK_VIRTUAL_LINK_H
#define ZKLOCK_VIRTUAL_LINK_H

#include "inside.h"

#pragma GCC visibility push(hidden)

/* What a link does with a message that it receives. */
enum passage {
  PASSES,
  STOPS,    /* the link drops the message */
  CUTS,     /* ... and breaks its connection */
  CUTS_ALL, /* ... and breaks all connections of the link */
};

enum passage link_passes_up(struct zk_link *link,
                            struct zk_connection *connection,
                            const struct message *message);
enum passage link_passes_down(struct zk_link *link,
                              struct zk_connection *connection,
                              struct message *message);
/* Called after a client has received `message`. Springs the traps that wait for
 * such a message. Returns CUTS if the connection must break now, otherwise
 * PASSES. */
enum passage link_passed_down(struct zk_link *link,
                              struct zk_connection *connection,
                              const struct message *message, int64_t now);
/* Counts a new connection in the link's visits. If the link's misbehaviour has
 * `asks_ms`, this replaces the session timeout in the connection's hello. */
void link_is_visited(struct zk_link *link, struct zk_connection *connection);
struct server *link_next_server(struct zk_link *link);
void link_free(struct zk_link *link);

#pragma GCC visibility pop

#endif
