#include "library_inbox.h"

#include <stdlib.h>
#include <string.h>

#include "protocol/name.h"

_Thread_local struct inbox *inbox_current;

void inbox_init(struct inbox *inbox, const struct wakeup *wakeup) {
  inbox->wakeup = wakeup;
  inbox->first = NULL;
  inbox->end = &inbox->first;
  inbox->overflow = false;
  pthread_mutex_init(&inbox->lock, NULL);
}

void inbox_free(struct inbox *inbox) {
  inbox_discard(inbox);
  pthread_mutex_destroy(&inbox->lock);
}

struct incident *incident_new(int kind, int code, const char *text,
                              size_t size) {
  struct incident *incident = calloc(1, sizeof *incident + size + 1);
  if (!incident) return NULL;
  incident->kind = kind;
  incident->code = code;
  if (size) memcpy(incident->text, text, size);
  return incident;
}

void incident_free(struct incident *incident) {
  listing_free(incident->listing);
  free(incident);
}

/* (All is taken at once: what is there has woken whoever takes it.) */
void inbox_append(struct inbox *inbox, struct incident *incident) {
  pthread_mutex_lock(&inbox->lock);
  bool was_empty = !inbox->first && !inbox->overflow;
  if (incident) {
    incident->next = NULL;
    *inbox->end = incident;
    inbox->end = &incident->next;
  } else {
    inbox->overflow = true;
  }
  pthread_mutex_unlock(&inbox->lock);
  if (inbox->wakeup && was_empty) wakeup_signal(inbox->wakeup);
}

struct incident *inbox_take(struct inbox *inbox, bool *overflow) {
  pthread_mutex_lock(&inbox->lock);
  struct incident *first = inbox->first;
  *overflow = inbox->overflow;
  inbox->first = NULL;
  inbox->end = &inbox->first;
  inbox->overflow = false;
  pthread_mutex_unlock(&inbox->lock);
  return first;
}

int inbox_discard(struct inbox *inbox) {
  int replies = 0;
  bool overflow;
  struct incident *incident = inbox_take(inbox, &overflow);
  while (incident) {
    struct incident *next = incident->next;
    replies += incident->kind == INCIDENT_REPLY;
    incident_free(incident);
    incident = next;
  }
  return replies;
}
