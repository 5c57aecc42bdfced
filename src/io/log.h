/* The user's log (option `log`). Lines go to the Lua thread as events. Repeated
 * messages are limited to one a minute (log_throttle.h). */
#ifndef ZKLOCK_LOG_H
#define ZKLOCK_LOG_H

#include <pthread.h>

#include "channel.h"
#include "log_throttle.h"

#pragma GCC visibility push(hidden)

/* Used by any thread. (c) constant after log_init, (a) atomic, (m) guarded by
 * `lock` */
struct log {
  bool wanted;             /* (c) the user has set a log function */
  struct channel *channel; /* (c) */
  /* (a) Number of queued lines. The number is limited, because Lua's loop does
   * not always run. */
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
/* Logs a message unless the same message was logged within the last minute.
 * After that minute, logs the message with the number of times that it was
 * skipped. */
void log_throttled(struct log *log, const char *level, const char *sentence);

#pragma GCC visibility pop

#endif
