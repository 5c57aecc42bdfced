#include "window.h"

#include <stddef.h>

void window_init(struct window *w) { *w = (struct window){.end = &w->first}; }

static void append(struct window *w, struct sender *sender) {
  sender->next = NULL;
  *w->end = sender;
  w->end = &sender->next;
}

static struct sender *take_first(struct window *w) {
  struct sender *sender = w->first;
  w->first = sender->next;
  if (!w->first) w->end = &w->first;
  return sender;
}

/* A request larger than the window is sent alone. Smaller requests do not
 * overtake the first one in the queue, which could otherwise wait for ever. */
static bool has_room(const struct window *w, int cost) {
  return w->requests < WINDOW_REQUESTS &&
         (w->bytes == 0 || cost <= WINDOW_BYTES - w->bytes);
}

/* Sends while there is room. Sending may end or begin other requests, which
 * calls this function again. That call returns at once, and the loop goes
 * on. */
static void run(struct window *w) {
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

void window_join(struct window *w, struct sender *sender) {
  append(w, sender);
  run(w);
}

void window_leave(struct window *w, int cost) {
  w->requests--;
  w->bytes -= cost;
  run(w);
}
