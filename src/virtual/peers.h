/* Sends messages between a leader and its followers, and writes transactions to
 * each server's disk. */
#ifndef ZKLOCK_VIRTUAL_PEERS_H
#define ZKLOCK_VIRTUAL_PEERS_H

#include "inside.h"

#pragma GCC visibility push(hidden)

/* Returns true if the server follows this leader in the leader's current
 * epoch. */
bool peers_follows(const struct server *server, const struct server *leader);
bool peers_reach(const struct server *server, const struct server *other);
void peers_tell_follower(struct server *follower, struct message *message,
                         int64_t now);
void peers_tell_leader(struct server *follower, struct message *message,
                       int64_t now);
/* Starts to write a transaction to the server's disk. The transaction counts as
 * logged when the disk's latency has passed. */
void peers_log(struct server *server, int64_t zxid, int64_t now);
int majority_of(const struct ensemble *ensemble);

#pragma GCC visibility pop

#endif
