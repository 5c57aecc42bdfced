/* A link, through which connections pass, and its traps. */
#ifndef ZKLOCK_VIRTUAL_LINK_H
#define ZKLOCK_VIRTUAL_LINK_H

#include "inside.h"

#pragma GCC visibility push(hidden)

/* The decision of a link on a message. */
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
/* Springs the traps for a message that the client has just received. Returns
 * CUTS if the connection must break now, otherwise PASSES. */
enum passage link_passed_down(struct zk_link *link,
                              struct zk_connection *connection,
                              const struct message *message, int64_t now);
/* Counts a connection to the link's address. If the link has an `asks_ms`,
 * writes it as the session timeout into the connection's hello. */
void link_is_visited(struct zk_link *link, struct zk_connection *connection);
struct server *link_next_server(struct zk_link *link);
void link_free(struct zk_link *link);

#pragma GCC visibility pop

#endif
