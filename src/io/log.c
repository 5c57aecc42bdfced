#include "log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "messages.h"
#include "reason.h"

enum { LINES_MAX = 256, SENTENCE_MAX = REASON_MAX + 200 };

void log_init(struct log *log, struct channel *channel, bool wanted) {
  log->wanted = wanted;
  log->channel = channel;
  pthread_mutex_init(&log->lock, NULL);
}

void log_free(struct log *log) { pthread_mutex_destroy(&log->lock); }

static void drop(void *subject) {
  struct log_line *line = subject;
  line->log->lines--;
  free(line);
}

void log_write(struct log *log, const char *level, const char *text) {
  if (!log->wanted || log->lines >= LINES_MAX) return;
  size_t size = strlen(text) + 1;
  struct log_line *line = malloc(sizeof *line + size);
  if (!line) return;
  log->lines++;
  line->subject.drop = drop;
  message_init(&line->message, &line->subject);
  line->log = log;
  line->level = level;
  memcpy(line->text, text, size);
  channel_event(log->channel, &line->message, EVENT_LOG);
}

void log_throttled(struct log *log, const char *level, const char *sentence) {
  char text[SENTENCE_MAX];
  int since;
  if (!log->wanted) return;
  pthread_mutex_lock(&log->lock);
  bool due =
      log_throttle_due(&log->log_throttle, sentence, clock_now(), &since);
  pthread_mutex_unlock(&log->lock);
  if (!due) return;
  if (since > 0)
    snprintf(text, sizeof text, "%s (and %d times since the last such line)",
             sentence, since);
  log_write(log, level, since > 0 ? text : sentence);
}
