/* The log of a server: its transactions, in the order of their zxids. */
#ifndef ZKLOCK_VIRTUAL_LOG_H
#define ZKLOCK_VIRTUAL_LOG_H

#include "inside.h"

#pragma GCC visibility push(hidden)

int64_t log_last(const struct server *server);
/* Returns the log index of the first transaction whose zxid is greater than
 * `zxid`. */
int log_place(const struct server *server, int64_t zxid);
void log_append(struct server *server, struct txn *txn);
/* Makes the log of `server`, a follower, the same as that of `leader`. */
void log_adopt(struct server *server, const struct server *leader);
void log_cut(struct server *server, int count);
/* Removes the transactions that all servers have applied from all logs. To save
 * time, does so only once per FORGET_AFTER calls. */
void log_forget(struct ensemble *ensemble);

#pragma GCC visibility pop

#endif
