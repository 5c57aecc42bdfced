/* Writes lines to the user's log (option `log`). Each line goes to the Lua
 * thread as an event.
 *
 * While there is no connection, each attempt to connect logs the same message.
 * zklock logs the first one, and skips repetitions for a minute. It logs the
 * next repetition with the number of skipped ones. A message names its server.
 * So a message about another server is not a repetition, and is logged at once.
 * A message is identified by its hash, and only the last LOG_THROTTLE_MAX
 * messages are remembered. */
#ifndef ZKLOCK_LOG_H
#define ZKLOCK_LOG_H

#include <pthread.h>

#include "channel.h"

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

/* Any thread uses the log. Access: (c) constant after log_init, (a) atomic, (m)
 * guarded by `lock` */
struct log {
  bool wanted;             /* (c) the user has set a log function */
  struct channel *channel; /* (c) */
  /* (a) Number of queued lines. log_write drops further lines if this number is
   * too high, because Lua's loop does not always run. */
  _Atomic int lines;
  pthread_mutex_t lock;
  struct log_throttle log_throttle; /* (m) */
};

/* A line of the log, on its way to the Lua thread. Constant while queued. */
struct log_line {
  struct subject subject;
  struct message message;
  struct log *log;
  const char *level; /* a static string */
  char text[];
};

void log_init(struct log *log, struct channel *channel, bool wanted);
void log_free(struct log *log);
void log_write(struct log *log, const char *level, const char *text);
/* Returns whether to log the message `text` now. If so, sets `*since` to the
 * number of its skipped repetitions. */
bool log_throttle_due(struct log_throttle *log_throttle, const char *text,
                      int64_t now, int *since);
/* Logs a message if it is due. */
void log_throttled(struct log *log, const char *level, const char *sentence);

#pragma GCC visibility pop

#endif
