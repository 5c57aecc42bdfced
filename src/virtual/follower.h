/* Exchanges messages between a follower and its leader. Also contains the tick:
 * the periodic work of each server. */
#ifndef ZKLOCK_VIRTUAL_FOLLOWER_H
#define ZKLOCK_VIRTUAL_FOLLOWER_H

#include "inside.h"

#pragma GCC visibility push(hidden)

/* The following functions implement hooks of inside.h. */
void follower_forwards(struct server *server, const struct forward *forward,
                       int64_t now);
void follower_touches(struct server *server, int64_t session,
                      int32_t timeout_ms, int64_t now);
int follower_checks(struct server *server, int64_t session);

void follower_init(struct server *server);
void follower_begins(struct server *server, struct server *leader, int64_t now);
/* Schedules the server's next tick. */
void follower_wakes(struct server *server, int64_t now);

#pragma GCC visibility pop

#endif
