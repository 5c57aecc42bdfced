/* Creates that may be applied late.
 *
 * A server's thread may read a create and stand still.  Its connection breaks, we
 * reconnect to the same server, list the directory and do not find the node.  Then
 * the thread goes on, and the server makes the node: the session is alive, and
 * this server speaks for it.  (So it is in servers of all versions: the only check
 * is PrepRequestProcessor's, of the session and of the server that owns it.)  No
 * span of time ends this.  While the session is at another server such a request
 * is refused, but the session may come back.  What ends it is the end of the
 * ZooKeeper session.
 *
 * Such a node would keep others waiting for as long as our session lives.  So the
 * directory is listed from time to time, until the session ends; what such a list
 * shows of ours, and no contender knows, is deleted (strays.h).  The time between
 * two lists is T/8 to T/4, longer where more than DOUBTS_AT_ONCE directories are
 * in doubt: a late node delays others by less than a dead client does. */
#ifndef ZKLOCK_DOUBTS_H
#define ZKLOCK_DOUBTS_H

#include "contender.h"

#pragma GCC visibility push(hidden)

/* So many directories are listed in one turn. */
enum { DOUBTS_AT_ONCE = 100 };

void doubts_init(struct doubts *doubts);
/* Before a contender forgets its node: is its create in doubt? */
void doubts_note(struct contender *c);
/* The ZooKeeper session has ended. */
void doubts_end(struct queue *queue);

int64_t doubts_due(const struct doubts *doubts, const struct wire *wire);
/* It is due: doubts_list is called for each queue next. */
void doubts_begin_turn(struct doubts *doubts, struct wire *wire);
void doubts_list(struct queue *queue);

#pragma GCC visibility pop

#endif
