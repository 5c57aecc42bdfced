/* The leader orders all changes, and proposes each to the other servers. It
 * commits a change when a majority of servers has logged it. */
#ifndef ZKLOCK_VIRTUAL_LEADER_H
#define ZKLOCK_VIRTUAL_LEADER_H

#include "inside.h"

#pragma GCC visibility push(hidden)

void leader_init(struct server *server);
void leader_begins(struct server *leader, int64_t now);
void leader_ends(struct server *leader);
void leader_takes(struct server *leader, const struct forward *forward,
                  int64_t now);
void leader_touches(struct server *leader, int64_t session, int32_t timeout_ms,
                    int64_t now);
/* Returns ZK_OK if the server with the number `server` may serve the session.
 * Otherwise returns ZK_SESSION_EXPIRED or ZK_SESSION_MOVED. */
int leader_checks(struct server *leader, int64_t session, int server);
/* Receives a message at the leader of `follower`, a struct server that has sent
 * it. */
void leader_hears(void *follower, struct message *message, int64_t now);
void leader_commits(struct server *leader, int64_t now);
void leader_ticks(struct server *leader, int64_t now);
bool leader_ends_session(struct server *leader, int64_t session, int64_t now);

#pragma GCC visibility pop

#endif
