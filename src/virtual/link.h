/* A link, through which connections pass, and its traps. */
#ifndef ZKLOCK_VIRTUAL_LINK_H
#define ZKLOCK_VIRTUAL_LINK_H

#include "inside.h"

#pragma GCC visibility push(hidden)

/* Tells what the link does with a message. */
enum passage {
  PASSES,
  STOPS,    /* it is dropped */
  CUTS,     /* it is dropped, and its connection breaks */
  CUTS_ALL, /* it is dropped, and all connections of the link break */
};

enum passage link_passes_up(struct zk_link *link,
                            struct zk_connection *connection,
                            const struct message *message);
enum passage link_passes_down(struct zk_link *link,
                              struct zk_connection *connection,
                              struct message *message);
/* Called after the client has received the message. */
enum passage link_passed_down(struct zk_link *link,
                              struct zk_connection *connection,
                              const struct message *message, int64_t now);
/* Counts a connection that has reached the link's address, and applies the
 * link's `asks_ms`. */
void link_is_visited(struct zk_link *link, struct zk_connection *connection);
struct server *link_next_server(struct zk_link *link);
void link_free(struct zk_link *link);

#pragma GCC visibility pop

#endif
