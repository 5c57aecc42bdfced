/* Creates that a server may apply late.
 *
 * A server's thread may read a create and stall. Its connection breaks. The
 * client reconnects to the same server, lists the directory and does not find
 * the node. Then the thread continues and the server creates the node, because
 * the session is alive and belongs to this server. All server versions behave
 * so: the only check, in PrepRequestProcessor, is of the session and of the
 * server that owns it.
 *
 * This can happen after any length of time. A server that does not own the
 * session refuses such a request, but the session may return to it. Only the
 * end of the ZooKeeper session rules it out.
 *
 * Such a node would block others for as long as the session lives. So zklock
 * lists the directory from time to time until the session ends. If a list shows
 * a node of this session that no contender knows, zklock deletes it
 * (orphans.h). Lists are T/8 to T/4 apart, and further if more than
 * DOUBTS_AT_ONCE directories are in doubt. So a late node delays others by less
 * than a dead client does. */
#ifndef ZKLOCK_DOUBTS_H
#define ZKLOCK_DOUBTS_H

#include "contender.h"

#pragma GCC visibility push(hidden)

/* The number of directories listed in one turn. */
enum { DOUBTS_AT_ONCE = 100 };

void doubts_init(struct doubts *doubts);
/* Marks the queue as in doubt if the reply to the contender's create was lost:
 * its directory is listed from time to time. Called before the contender
 * forgets its node. */
void doubts_note(struct contender *c);
/* Removes the mark of doubts_note, because the ZooKeeper session has ended. */
void doubts_end(struct queue *queue);

/* Returns when the next turn is due; NEVER: no turn is needed. */
int64_t doubts_due(const struct doubts *doubts,
                   const struct pipeline *pipeline);
/* Begins a turn, which lists up to DOUBTS_AT_ONCE directories. The caller then
 * calls doubts_list for each queue. */
void doubts_begin_turn(struct doubts *doubts, struct pipeline *pipeline);
/* Requests a list for a queue in doubt, unless this turn has requested enough
 * lists. */
void doubts_list(struct queue *queue);

#pragma GCC visibility pop

#endif
