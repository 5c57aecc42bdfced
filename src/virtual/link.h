/* A link, through which connections pass, and its traps. */
#ifndef ZKLOCK_VIRTUAL_LINK_H
#define ZKLOCK_VIRTUAL_LINK_H

#include "inside.h"

#pragma GCC visibility push(hidden)

/* The decision of a link on a message. */
enum passage {
  PASSES,
  STOPS,    /* the message is dropped */
  CUTS,     /* ... and its connection breaks */
  CUTS_ALL, /* ... and all connections of the link break */
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
/* Counts a connection that has reached the link's address. Applies the link's
 * `asks_ms` to the connection's hello. */
void link_is_visited(struct zk_link *link, struct zk_connection *connection);
struct server *link_next_server(struct zk_link *link);
void link_free(struct zk_link *link);

#pragma GCC visibility pop

#endif
