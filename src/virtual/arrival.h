/* A client's queue of arrivals: messages that have reached the client, but that
 * it has not read yet. The queue stores copies, in the order of arrival. */
#ifndef ZKLOCK_VIRTUAL_ARRIVAL_H
#define ZKLOCK_VIRTUAL_ARRIVAL_H

#include "ensemble.h"

#pragma GCC visibility push(hidden)

struct arrival {
  struct arrival *next;
  enum {
    ARRIVAL_ACCEPTED,
    ARRIVAL_CONNECTED,
    ARRIVAL_REPLY,
    ARRIVAL_EVENT,
    ARRIVAL_END
  } kind;
  struct zk_session session;    /* only for ARRIVAL_CONNECTED */
  const struct zk_reply *reply; /* only for ARRIVAL_REPLY */
  struct zk_event event;        /* only for ARRIVAL_EVENT */
  enum zk_end end;              /* only for ARRIVAL_END */
  struct arena *arena; /* owns what the message points to; can be NULL */
};

struct arrivals {
  struct arrival *first, **end;
};

void arrivals_init(struct arrivals *arrivals);
void arrivals_clear(struct arrivals *arrivals);
/* Removes the oldest arrival and returns it; the caller frees it. Returns NULL
 * if there is none. */
struct arrival *arrivals_take(struct arrivals *arrivals);
void arrivals_append(struct arrivals *arrivals, struct arrival *arrival);

struct arrival *arrival_of_acceptance(void);
struct arrival *arrival_of_session(const struct zk_session *session);
struct arrival *arrival_of_reply(const struct zk_reply *reply);
struct arrival *arrival_of_event(const struct zk_event *event);
struct arrival *arrival_of_end(enum zk_end end);
void arrival_free(struct arrival *arrival);

#pragma GCC visibility pop

#endif
