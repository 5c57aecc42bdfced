#include "in_flight_limit.h"

#include <stddef.h>

void in_flight_limit_init(struct in_flight_limit *w) {
  *w = (struct in_flight_limit){.end = &w->first};
}

static void append(struct in_flight_limit *w, struct sender *sender) {
  sender->next = NULL;
  *w->end = sender;
  w->end = &sender->next;
}

static struct sender *take_first(struct in_flight_limit *w) {
  struct sender *sender = w->first;
  w->first = sender->next;
  if (!w->first) w->end = &w->first;
  return sender;
}

/* Returns whether a request of this cost is allowed to be sent now. A request
 * that costs more than IN_FLIGHT_BYTES is sent when no other request is in
 * flight. Smaller requests never overtake the first request in the queue.
 * Otherwise a large request could wait for ever. */
static bool has_room(const struct in_flight_limit *w, int cost) {
  return w->requests < IN_FLIGHT_REQUESTS &&
         (w->bytes == 0 || cost <= IN_FLIGHT_BYTES - w->bytes);
}

/* Calls the senders in the queue while there is room. A sender can end or begin
 * other requests, which calls run() again. Such an inner call returns at once,
 * because the loop of the outer call serves the queue. */
static void run(struct in_flight_limit *w) {
  if (w->runs) return;
  w->runs = true;
  while (w->first && has_room(w, w->first->cost)) {
    struct sender *sender = take_first(w);
    w->requests++;
    w->bytes += sender->cost;
    if (sender->send(sender)) append(w, sender);
  }
  w->runs = false;
}

void in_flight_limit_join(struct in_flight_limit *w, struct sender *sender) {
  append(w, sender);
  run(w);
}

void in_flight_limit_leave(struct in_flight_limit *w, int cost) {
  w->requests--;
  w->bytes -= cost;
  run(w);
}
