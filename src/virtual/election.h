/* Which server leads, and how others join it. */
#ifndef ZKLOCK_VIRTUAL_ELECTION_H
#define ZKLOCK_VIRTUAL_ELECTION_H

#include "inside.h"

#pragma GCC visibility push(hidden)

void election_init(struct ensemble *ensemble);
/* At the beginning: all servers have found each other. */
void election_is_over(struct ensemble *ensemble, int64_t now);
/* After anything by which a leader may be lost or found. */
void election_considers(struct ensemble *ensemble, int64_t now);
/* A server serves no longer: all its connections are closed. */
void election_steps_down(struct server *server, int64_t now);

#pragma GCC visibility pop

#endif
