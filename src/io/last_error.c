#include "last_error.h"

#include <stdio.h>
#include <string.h>

void last_error_init(struct last_error *last) {
  last->text[0] = last->refusal[0] = '\0';
  last->is_fresh = false;
  pthread_mutex_init(&last->lock, NULL);
}

void last_error_free(struct last_error *last) {
  pthread_mutex_destroy(&last->lock);
}

void last_error_note(struct last_error *last, const char *text) {
  pthread_mutex_lock(&last->lock);
  snprintf(last->text, sizeof last->text, "%s", text);
  last->is_fresh = true;
  pthread_mutex_unlock(&last->lock);
}

void last_error_keep(struct last_error *last) {
  pthread_mutex_lock(&last->lock);
  memcpy(last->refusal, last->text, sizeof last->refusal);
  pthread_mutex_unlock(&last->lock);
}

bool last_error_is_over(struct last_error *last) {
  pthread_mutex_lock(&last->lock);
  bool was_fresh = last->is_fresh;
  last->is_fresh = false;
  last->refusal[0] = '\0';
  pthread_mutex_unlock(&last->lock);
  return was_fresh;
}

void last_error_read(struct last_error *last, char *text, size_t size) {
  pthread_mutex_lock(&last->lock);
  bool is_hidden = strcmp(last->refusal, last->text) != 0 && *last->refusal;
  snprintf(text, size, "%s%s%s", last->text, is_hidden ? "; " : "",
           is_hidden ? last->refusal : "");
  pthread_mutex_unlock(&last->lock);
}
