/* The in-flight limit: how many of a session's asks can be unanswered at a
 * time, and how large their replies can be.
 *
 * A server replies to a session in order. So a heartbeat or a lock's request
 * waits for the replies to all earlier asks. Other clients decide how many
 * children a directory has and how large their data are. So one limit applies
 * to all asks of a session together. Senders queue, and each sends one request
 * before the next sender's turn.
 *
 * Pure. */
#ifndef ZKLOCK_IN_FLIGHT_LIMIT_H
#define ZKLOCK_IN_FLIGHT_LIMIT_H

#include <stdbool.h>

#pragma GCC visibility push(hidden)

enum { IN_FLIGHT_REQUESTS = 64, IN_FLIGHT_BYTES = 4 * 1024 * 1024 };

/* A sender of requests, such as an ask. A sender waits in the queue for its
 * turn. */
struct sender {
  struct sender *next;
  int cost; /* approximate size of the next request's reply */
  /* Sends the next request. Returns true if the sender has another one, whose
   * cost it has set. Returns false if the sender leaves the queue; then its
   * memory can already be freed. */
  bool (*send)(struct sender *sender);
  void *owner;
};

struct in_flight_limit {
  int requests, bytes; /* requests in flight: number; sum of costs */
  struct sender *first, **end;
  bool runs;
};

void in_flight_limit_init(struct in_flight_limit *in_flight_limit);
/* Appends a sender to the queue. Its `send` can be called before this
 * returns. */
void in_flight_limit_join(struct in_flight_limit *in_flight_limit,
                          struct sender *sender);
/* Frees the share of a request of this cost, which was answered or never sent.
 * Then calls the senders that have room now. */
void in_flight_limit_leave(struct in_flight_limit *in_flight_limit, int cost);

#pragma GCC visibility pop

#endif
