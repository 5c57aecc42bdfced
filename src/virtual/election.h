/* Which server leads, and how the others join it. */
#ifndef ZKLOCK_VIRTUAL_ELECTION_H
#define ZKLOCK_VIRTUAL_ELECTION_H

#include "inside.h"

#pragma GCC visibility push(hidden)

void election_init(struct ensemble *ensemble);
/* Elects the first leader: at the start all servers have found each other. */
void election_is_over(struct ensemble *ensemble, int64_t now);
/* Schedules the elections and joins that are needed. Called after each change
 * by which servers can lose or find a leader. */
void election_considers(struct ensemble *ensemble, int64_t now);
/* Makes a server stop serving, and closes all its connections. */
void election_steps_down(struct server *server, int64_t now);

#pragma GCC visibility pop

#endif
