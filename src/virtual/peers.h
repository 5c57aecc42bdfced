/* The lanes between a leader and those that follow it, and a disk. */
#ifndef ZKLOCK_VIRTUAL_PEERS_H
#define ZKLOCK_VIRTUAL_PEERS_H

#include "inside.h"

#pragma GCC visibility push(hidden)

/* Does it follow this leader, and not one that this has been? */
bool peers_follows(const struct server *server, const struct server *leader);
bool peers_reach(const struct server *server, const struct server *other);
void peers_tell_follower(struct server *follower, struct message *message,
                         int64_t now);
void peers_tell_leader(struct server *follower, struct message *message,
                       int64_t now);
/* It has logged a transaction as soon as its disk has it. */
void peers_log(struct server *server, int64_t zxid, int64_t now);
int majority_of(const struct ensemble *ensemble);

#pragma GCC visibility pop

#endif
