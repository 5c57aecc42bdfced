/* The queues of a session, found by their paths.  One is made when somebody comes
 * to a path, and freed when nothing is left to do there. */
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

/* `all` is told whom to ask for a queue. */
void queues_init(struct queues *queues, struct contenders *all);
/* Nobody is in them. */
void queues_free(struct queues *queues);

/* The queue of this path, made if need be; NULL: no memory. */
struct queue *queues_get(struct queues *queues, const char *path);

void queues_each(struct queues *queues, void (*visit)(struct queue *queue));
void queues_each_contender(struct queues *queues,
                           void (*visit)(struct contender *c));

/* The server's event. */
void queues_hear(struct queues *queues, enum watch_event event,
                 const char *path);

/* When one of these three has something to do: deadlines and pauses; the nodes of
 * holds, which are watched after a while; directories in doubt. */
int64_t queues_due(const struct queues *queues);
void queues_run_timers(struct queues *queues);
void queues_watch_holds(struct queues *queues);
void queues_look_for_late_nodes(struct queues *queues);

/* Runs what is to be done at the end of the step and of the batch, until nothing
 * is left to do: who goes lets others in. */
void queues_flush(struct queues *queues);

#pragma GCC visibility pop

#endif
