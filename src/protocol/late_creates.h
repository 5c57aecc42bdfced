/* Creates that a server may apply late.
 *
 * A server's thread may read a create and stall. Its connection breaks. The
 * client reconnects to the same server, lists the directory and does not find
 * the node. Then the thread continues and the server creates the node, because
 * the session is alive and belongs to this server. All server versions behave
 * so: PrepRequestProcessor checks only the session, and which server owns it.
 *
 * This can happen after any length of time. A server that does not own the
 * session refuses such a request, but the session may return to that server.
 * Only the end of the ZooKeeper session excludes a late create.
 *
 * Such a node would block other contenders for as long as the session lives. So
 * zklock lists the directory from time to time until the session ends. If a
 * list shows a node of this session that no contender knows, zklock deletes it
 * (orphans.c). With a session timeout of T, lists are T/8 to T/4 apart. They
 * are further apart if more than LATE_CREATES_AT_ONCE directories must be
 * listed. So a late node delays other contenders by less than a dead client
 * does. */
#ifndef ZKLOCK_LATE_CREATES_H
#define ZKLOCK_LATE_CREATES_H

#include "contender.h"

#pragma GCC visibility push(hidden)

/* The most directories that one turn lists. */
enum { LATE_CREATES_AT_ONCE = 100 };

void late_creates_init(struct late_creates *late);
/* If the reply to the contender's create was lost, makes zklock list the
 * directory from time to time (`late_create_possible`). Called before the
 * contender forgets its node. */
void late_creates_expect(struct contender *c);
/* Stops listing the queue's directory for late creates, because the ZooKeeper
 * session has ended. */
void late_creates_end(struct queue *queue);

/* Returns when directories must be listed again for late creates. NEVER: no
 * late create is possible, or there is no connection. */
int64_t late_creates_due(const struct late_creates *late,
                         const struct pipeline *pipeline);
/* Begins a turn: a round of at most LATE_CREATES_AT_ONCE lists. The caller then
 * calls late_creates_list for each queue. */
void late_creates_begin_turn(struct late_creates *late,
                             struct pipeline *pipeline);
/* Requests a list of the queue's directory if it has `late_create_possible` and
 * was not listed in this cycle. Does nothing if the turn has no lists left. */
void late_creates_list(struct queue *queue);

#pragma GCC visibility pop

#endif
