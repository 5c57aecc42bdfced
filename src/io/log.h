/* Writes lines to the user's log (option `log`). Each line goes to the Lua
 * thread as an event. Repeated messages are limited to one a minute
 * (log_throttle.h). */
#ifndef ZKLOCK_LOG_H
#define ZKLOCK_LOG_H

#include <pthread.h>

#include "channel.h"
#include "log_throttle.h"

#pragma GCC visibility push(hidden)

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
/* Logs a message, unless the same message was logged within the last minute.
 * The first repetition after that minute is logged with the number of skipped
 * repetitions. */
void log_throttled(struct log *log, const char *level, const char *sentence);

#pragma GCC visibility pop

#endif
