/* The user's log: lines go to the Lua thread as events.  What may be said
 * again and again is said once a minute (notice.h). */
#ifndef ZKLOCK_LOG_H
#define ZKLOCK_LOG_H

#include <pthread.h>

#include "channel.h"
#include "notice.h"

#pragma GCC visibility push(hidden)

/* Any thread may speak.  (c) constant after log_init  (a) atomic
 * (m) guarded by lock */
struct log {
  bool wanted;             /* (c) somebody listens */
  struct channel *channel; /* (c) */
  _Atomic int lines;       /* (a) under way: a loop that sleeps is spared */
  pthread_mutex_t lock;
  struct notices notices; /* (m) */
};

/* A line under way: one thread's at a time, constant while queued. */
struct log_line {
  struct subject subject;
  struct message message;
  struct log *log;
  const char *level; /* static */
  char text[];
};

void log_init(struct log *log, struct channel *channel, bool wanted);
void log_free(struct log *log);
void log_say(struct log *log, const char *level, const char *text);
/* The same, unless it was said within the last minute; after that with the
 * number of times that it was not. */
void log_notice(struct log *log, const char *level, const char *sentence);

#pragma GCC visibility pop

#endif
