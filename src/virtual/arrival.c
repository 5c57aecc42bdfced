#include "arrival.h"

#include <stdlib.h>

#include "arena.h"
#include "request.h"

void arrivals_init(struct arrivals *arrivals) {
  arrivals->first = NULL;
  arrivals->end = &arrivals->first;
}

void arrivals_append(struct arrivals *arrivals, struct arrival *arrival) {
  *arrivals->end = arrival;
  arrivals->end = &arrival->next;
}

struct arrival *arrivals_take(struct arrivals *arrivals) {
  struct arrival *arrival = arrivals->first;
  if (!arrival) return NULL;
  arrivals->first = arrival->next;
  if (!arrivals->first) arrivals->end = &arrivals->first;
  return arrival;
}

void arrivals_clear(struct arrivals *arrivals) {
  struct arrival *arrival;
  while ((arrival = arrivals_take(arrivals))) arrival_free(arrival);
}

static struct arrival *arrival_new(int kind) {
  struct arrival *arrival = fresh(sizeof *arrival);
  arrival->kind = kind;
  return arrival;
}

struct arrival *arrival_of_acceptance(void) {
  return arrival_new(ARRIVAL_ACCEPTED);
}

struct arrival *arrival_of_session(const struct zk_session *session) {
  struct arrival *arrival = arrival_new(ARRIVAL_CONNECTED);
  arrival->session = *session;
  return arrival;
}

struct arrival *arrival_of_end(enum zk_end end) {
  struct arrival *arrival = arrival_new(ARRIVAL_END);
  arrival->end = end;
  return arrival;
}

struct arrival *arrival_of_event(const struct zk_event *event) {
  struct arrival *arrival = arrival_new(ARRIVAL_EVENT);
  arrival->arena = arena_new();
  arrival->event = *event;
  arrival->event.path = arena_text(arrival->arena, event->path);
  return arrival;
}

struct arrival *arrival_of_reply(const struct zk_reply *reply) {
  struct arrival *arrival = arrival_new(ARRIVAL_REPLY);
  arrival->arena = arena_new();
  arrival->reply = reply_copy(arrival->arena, reply);
  return arrival;
}

void arrival_free(struct arrival *arrival) {
  arena_free(arrival->arena);
  free(arrival);
}
