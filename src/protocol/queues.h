/* The queues of a session, found by path. A queue is created when it is first
 * needed and freed when it is idle. */
#ifndef ZKLOCK_QUEUES_H
#define ZKLOCK_QUEUES_H

#include "queue.h"

#pragma GCC visibility push(hidden)

enum { QUEUES_BUCKETS = 1024 };

struct queues {
  struct contenders *all;
  struct queue *newest;
  struct queue *buckets[QUEUES_BUCKETS];
};

/* Initializes an empty set of queues, and makes `all->queue_of` return its
 * queues. */
void queues_init(struct queues *queues, struct contenders *all);
/* Frees all queues. They must have no contenders. */
void queues_free(struct queues *queues);

/* Returns the queue of this path and creates it if needed; NULL: no memory. */
struct queue *queues_get(struct queues *queues, const char *path);

void queues_each(struct queues *queues, void (*visit)(struct queue *queue));
void queues_each_contender(struct queues *queues,
                           void (*visit)(struct contender *c));

/* Passes a watch event from a server to the queues that it concerns. */
void queues_on_event(struct queues *queues, enum watch_event event,
                     const char *path);

/* Returns when the first of the next three functions must be called. They run
 * timers, watch the nodes of holds, and list directories for late creates. */
int64_t queues_due(const struct queues *queues);
void queues_run_timers(struct queues *queues);
void queues_watch_holds(struct queues *queues);
void queues_list_for_late_creates(struct queues *queues);

/* Runs the deferred calls of the step and of the batch until there are none. If
 * contenders that leave have freed quota, wakes queues that wait for it, and
 * repeats this. */
void queues_flush(struct queues *queues);

#pragma GCC visibility pop

#endif
