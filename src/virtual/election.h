/* Elects the leader, and makes the other servers follow it. */
#ifndef ZKLOCK_VIRTUAL_ELECTION_H
#define ZKLOCK_VIRTUAL_ELECTION_H

#include "inside.h"

#pragma GCC visibility push(hidden)

void election_init(struct ensemble *ensemble);
/* Elects the first leader at once, as if the servers had already found each
 * other and voted. */
void election_is_over(struct ensemble *ensemble, int64_t now);
/* Makes each server without a leader join a leader that it reaches. If the
 * servers that still have no leader are a majority, schedules an election. Must
 * be called after each change by which a server can lose or find a leader. */
void election_considers(struct ensemble *ensemble, int64_t now);
/* Makes a server stop serving, and closes all its connections. */
void election_steps_down(struct server *server, int64_t now);

#pragma GCC visibility pop

#endif
