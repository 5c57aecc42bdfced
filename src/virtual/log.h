/* The transactions that a server has. */
#ifndef ZKLOCK_VIRTUAL_LOG_H
#define ZKLOCK_VIRTUAL_LOG_H

#include "inside.h"

#pragma GCC visibility push(hidden)

int64_t log_last(const struct server *server);
int log_place(const struct server *server,
              int64_t zxid); /* of the first after it */
void log_append(struct server *server, struct txn *txn);
/* Makes the log of a follower that of its leader. */
void log_adopt(struct server *server, const struct server *leader);
void log_cut(struct server *server, int count);
void log_forget(struct ensemble *ensemble); /* what all have applied */

#pragma GCC visibility pop

#endif
