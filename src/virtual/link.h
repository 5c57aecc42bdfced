/* What a connection passes through, and the traps that are set there. */
#ifndef ZKLOCK_VIRTUAL_LINK_H
#define ZKLOCK_VIRTUAL_LINK_H

#include "inside.h"

#pragma GCC visibility push(hidden)

/* What becomes of a message. */
enum passage {
  PASSES,
  STOPS,    /* it goes no further */
  CUTS,     /* ... and this connection breaks */
  CUTS_ALL, /* ... and all of this link do */
};

enum passage link_passes_up(struct zk_link *link,
                            struct zk_connection *connection,
                            const struct message *message);
enum passage link_passes_down(struct zk_link *link,
                              struct zk_connection *connection,
                              struct message *message);
/* After it has passed. */
enum passage link_passed_down(struct zk_link *link,
                              struct zk_connection *connection,
                              const struct message *message, int64_t now);
/* A server has accepted a connection, or closes it at once. */
void link_is_visited(struct zk_link *link, struct zk_connection *connection);
struct server *link_next_server(struct zk_link *link);
void link_free(struct zk_link *link);

#pragma GCC visibility pop

#endif
