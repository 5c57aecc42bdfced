/* The in-flight limit: how many of a session's asks may be unanswered at a
 * time, and how large their replies may be.
 *
 * A server replies to a session in order. So a heartbeat or a lock's request
 * waits for the replies to all earlier asks. Other clients decide how many
 * children a directory has and how large their data are. So there is a limit,
 * however much there is to ask. Senders queue, and each sends one request per
 * turn.
 *
 * Pure. */
#ifndef ZKLOCK_IN_FLIGHT_LIMIT_H
#define ZKLOCK_IN_FLIGHT_LIMIT_H

#include <stdbool.h>

#pragma GCC visibility push(hidden)

enum { IN_FLIGHT_REQUESTS = 64, IN_FLIGHT_BYTES = 4 * 1024 * 1024 };

/* A sender in the queue. */
struct sender {
  struct sender *next;
  int cost; /* approximate size of the reply to its next request */
  /* Sends the next request. Returns true if there is another one; its cost was
   * set. Returns false if the sender leaves the queue; its memory may be
   * freed. */
  bool (*send)(struct sender *sender);
  void *owner;
};

struct in_flight_limit {
  int requests, bytes; /* in flight */
  struct sender *first, **end;
  bool runs;
};

void in_flight_limit_init(struct in_flight_limit *in_flight_limit);
/* Appends a sender to the queue. It may send before this returns. */
void in_flight_limit_join(struct in_flight_limit *in_flight_limit,
                          struct sender *sender);
/* Records that a request of this cost was answered or never sent. */
void in_flight_limit_leave(struct in_flight_limit *in_flight_limit, int cost);

#pragma GCC visibility pop

#endif
