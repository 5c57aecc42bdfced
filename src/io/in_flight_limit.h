/* The in-flight limit applies to a session's asks (ask.h). It limits the number
 * of their unanswered requests, and the total size of the expected replies.
 *
 * A server replies to a session in order. So a heartbeat or a lock's request
 * waits for the replies to all earlier asks. These replies can be large: other
 * clients decide how many children a directory has, and how large a node's data
 * are. So all asks of a session share one limit. Senders wait in a queue. The
 * first sender sends one request, then it is the next sender's turn.
 *
 * This module does no I/O itself. */
#ifndef ZKLOCK_IN_FLIGHT_LIMIT_H
#define ZKLOCK_IN_FLIGHT_LIMIT_H

#include <stdbool.h>

#pragma GCC visibility push(hidden)

enum { IN_FLIGHT_REQUESTS = 64, IN_FLIGHT_BYTES = 4 * 1024 * 1024 };

/* A sender of requests, such as an ask. It waits in the queue for its turn. */
struct sender {
  struct sender *next;
  int cost; /* approximate size of the next request's reply */
  /* Sends the sender's next request. Returns true if the sender has another
   * request, and has set `cost` for it. Returns false if the sender leaves the
   * queue. Then its memory can already be freed. */
  bool (*send)(struct sender *sender);
  void *owner;
};

struct in_flight_limit {
  int requests, bytes; /* requests in flight: their number; their cost */
  struct sender *first, **end;
  bool runs;
};

void in_flight_limit_init(struct in_flight_limit *in_flight_limit);
/* Appends a sender to the queue. If there is room, this can call the sender's
 * `send` before it returns. */
void in_flight_limit_join(struct in_flight_limit *in_flight_limit,
                          struct sender *sender);
/* Records that a request of this cost was answered or will not be sent, so it
 * no longer counts. Then calls the waiting senders, as far as there is room. */
void in_flight_limit_leave(struct in_flight_limit *in_flight_limit, int cost);

#pragma GCC visibility pop

#endif
