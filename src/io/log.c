#include "log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "library_codes.h"
#include "messages.h"
#include "protocol/hash.h"

#define MINUTE INT64_C(60000000000)

enum { LINES_MAX = 256, SENTENCE_MAX = REASON_MAX + 200 };

void log_init(struct log *log, struct channel *channel, bool wanted) {
  log->wanted = wanted;
  log->channel = channel;
  pthread_mutex_init(&log->lock, NULL);
}

void log_free(struct log *log) { pthread_mutex_destroy(&log->lock); }

static void free_line(void *subject) {
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
  subject_init(&line->subject, free_line);
  message_init(&line->message, &line->subject);
  line->log = log;
  line->level = level;
  memcpy(line->text, text, size);
  channel_event(log->channel, &line->message, EVENT_LOG);
  subject_drop(&line->subject);
}

/* Returns the entry of the message with this hash. If there is none, returns an
 * unused entry. If none is unused, returns the entry of the message that was
 * logged longest ago. */
static struct throttled *find(struct log_throttle *log_throttle,
                              uint64_t hash) {
  struct throttled *oldest = NULL;
  for (int i = 0; i < LOG_THROTTLE_MAX; i++) {
    struct throttled *n = &log_throttle->list[i];
    if (n->hash == hash) return n;
    if (!oldest ||
        (oldest->hash && (!n->hash || n->logged_at < oldest->logged_at)))
      oldest = n;
  }
  return oldest;
}

bool log_throttle_due(struct log_throttle *log_throttle, const char *text,
                      int64_t now, int *since) {
  uint64_t hash = hash_text(HASH_BEGIN, text, strlen(text));
  struct throttled *n = find(log_throttle, hash);
  bool known = n->hash == hash;
  *since = known ? n->since : 0;
  if (known && now - n->logged_at < MINUTE) {
    n->since++;
    return false;
  }
  *n = (struct throttled){.hash = hash, .logged_at = now};
  return true;
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
