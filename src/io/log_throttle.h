/* Limits repeated log messages to one a minute.
 *
 * While there is no connection, each attempt to connect logs the same message.
 * zklock logs the first one, and skips repetitions for a minute. It logs the
 * next repetition with the number of skipped ones. A message names its server.
 * So a message about another server is not a repetition, and is logged at once.
 *
 * This module does no I/O. It identifies a message by its hash, and remembers
 * only the last LOG_THROTTLE_MAX messages. */
#ifndef ZKLOCK_LOG_THROTTLE_H
#define ZKLOCK_LOG_THROTTLE_H

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

enum { LOG_THROTTLE_MAX = 32 };

struct throttled {
  uint64_t hash;     /* 0: the entry is unused */
  int64_t logged_at; /* when the message was logged last */
  int since;         /* number of repetitions skipped since then */
};

struct log_throttle {
  struct throttled list[LOG_THROTTLE_MAX];
};

/* Returns whether to log the message `text` now. If so, sets `*since` to the
 * number of its skipped repetitions. */
bool log_throttle_due(struct log_throttle *log_throttle, const char *text,
                      int64_t now, int *since);

#pragma GCC visibility pop

#endif
