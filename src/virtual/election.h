/* Elects the leader, and makes the other servers follow it. */
#ifndef ZKLOCK_VIRTUAL_ELECTION_H
#define ZKLOCK_VIRTUAL_ELECTION_H

#include "inside.h"

#pragma GCC visibility push(hidden)

void election_init(struct ensemble *ensemble);
/* Elects the first leader without delay, as if all servers had already found
 * each other. */
void election_is_over(struct ensemble *ensemble, int64_t now);
/* Makes servers without a leader join a leader that they reach. If the servers
 * that still have none are a majority, schedules an election. Must be called
 * after each change that can take a leader from servers, or give them one. */
void election_considers(struct ensemble *ensemble, int64_t now);
/* Makes a server stop serving, and closes all its connections. */
void election_steps_down(struct server *server, int64_t now);

#pragma GCC visibility pop

#endif
