/* The window: how much of what a session asks beside the protocol may be
 * unanswered at a time.
 *
 * A server answers a session in order, so a heartbeat, or a lock's request,
 * waits until what was asked before it has been answered.  How many children a
 * directory has, and how large their data are, strangers decide: so only a few
 * requests are under way, and answers of a few bytes, however much there is to
 * ask.  Whoever has something to send stands in line, and sends one request in
 * each turn.
 *
 * Arithmetic only. */
#ifndef ZKLOCK_WINDOW_H
#define ZKLOCK_WINDOW_H

#include <stdbool.h>

#pragma GCC visibility push(hidden)

enum { WINDOW_REQUESTS = 64, WINDOW_BYTES = 4 * 1024 * 1024 };

/* One that has something to send. */
struct sender {
  struct sender *next;
  int cost; /* the bytes that the answer to its next request brings, about */
  /* Sends that one.  True: it has another one, whose cost it has set; false:
   * it leaves the line, and its memory may be gone. */
  bool (*send)(struct sender *sender);
  void *owner;
};

struct window {
  int requests, bytes; /* under way */
  struct sender *first, **end;
  bool runs;
};

void window_init(struct window *window);
/* Puts it at the end of the line; it may send before this returns. */
void window_join(struct window *window, struct sender *sender);
/* A request of this cost is over: answered, or never sent. */
void window_leave(struct window *window, int cost);

#pragma GCC visibility pop

#endif
