/* Limits repeated log messages to one a minute.
 *
 * Without a connection, each attempt logs the same message. zklock logs the
 * first message, and skips further messages for a minute. The next message is
 * logged with the number of skipped messages. A message names its server, so a
 * message about another server is logged at once.
 *
 * Pure. Messages are identified by their hash. Only the last LOG_THROTTLE_MAX
 * are remembered. */
#ifndef ZKLOCK_LOG_THROTTLE_H
#define ZKLOCK_LOG_THROTTLE_H

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

enum { LOG_THROTTLE_MAX = 32 };

struct throttled {
  uint64_t hash;     /* 0: the entry is unused */
  int64_t logged_at; /* when the message was logged last */
  int since;         /* number of skipped messages since then */
};

struct log_throttle {
  struct throttled list[LOG_THROTTLE_MAX];
};

/* Returns whether to log a message now. If so, sets `*since` to how often the
 * message was skipped. */
bool log_throttle_due(struct log_throttle *log_throttle, const char *text,
                      int64_t now, int *since);

#pragma GCC visibility pop

#endif
