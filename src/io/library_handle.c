#include "library_handle.h"

#include <stdlib.h>
#include <string.h>

#include "protocol/name.h"

_Thread_local struct library *library_current;

struct incident *incident_new(int kind, int code, const char *text,
                              size_t size) {
  struct incident *incident = calloc(1, sizeof *incident + size + 1);
  if (!incident) return NULL;
  incident->kind = kind;
  incident->code = code;
  incident->reply = (struct reply){.rc = code,
                                   .path = incident->text,
                                   .data = incident->text};
  if (size) memcpy(incident->text, text, size);
  return incident;
}

void incident_free(struct incident *incident) {
  listing_free(incident->reply.listing);
  free(incident);
}

void inbox_append(struct library *l, struct incident *incident) {
  if (!incident) {
    l->overflow = true;
    return;
  }
  *l->end = incident;
  l->end = &incident->next;
}

struct incident *inbox_take(struct library *l, bool *overflow) {
  struct incident *first = l->first;
  *overflow = l->overflow;
  l->first = NULL;
  l->end = &l->first;
  l->overflow = false;
  return first;
}

void handle_report_error(struct library *l, const char *text) {
  l->listener.error(l->listener.self, l->server, text);
}
