/* A queue: this session's contenders on one path. The queue decides which of
 * them may have a node now, and passes on the reports of their directory. */
#ifndef ZKLOCK_QUEUE_H
#define ZKLOCK_QUEUE_H

#include "acquire_fsm.h"

#pragma GCC visibility push(hidden)

/* Returns a new queue; NULL: no memory. session_run calls `flush` at the end of
 * each batch of calls in which the queue was woken (directory_wake). `flush`
 * must call queue_flush. */
struct queue *queue_new(struct contenders *all, const char *path,
                        void (*flush)(struct deferred_call *deferred_call));
/* Returns whether the queue has no contenders and no requests, so that it can
 * be freed. */
bool queue_is_idle(const struct queue *queue);
void queue_free(struct queue *queue);

/* Admits parked contenders, which then create their nodes, in order of arrival
 * until one must wait. Then sends the requests that are due. */
void queue_flush(struct queue *queue);
/* Admits this contender now, if possible. */
void queue_admit(struct contender *c);
/* Schedules queue_flush, and makes it try to admit all parked contenders. */
void queue_rewind(struct queue *queue);
/* Sends the request that each contender needs (acquire_fsm_drive), except
 * PARKED contenders. */
void queue_drive(struct queue *queue);
/* Called in a new connection. Sends the requests that the contenders and the
 * directory need. */
void queue_connected(struct queue *queue);
/* Makes the queue report to this holder whether other nodes are in the queue.
 * It reports each change by NEWS_UNCONTENDED or NEWS_CONTENDED. */
void queue_watch_contention(struct contender *c);
/* Called when a server has reported a change of the directory's children.
 * Reports CONTENDED, and lists the directory if a contender wants this. */
void queue_children_changed(struct queue *queue);
/* Called when the connection is lost. Reports CONTENDED to each holder whose
 * last report was UNCONTENDED. Without a connection no server can report a new
 * waiter, so the holder must assume that there is one. */
void queue_disconnected(struct queue *queue);
/* Removes watches that no contender or node wait uses any more. Called after a
 * disconnection, and to retry failed removals. */
static inline void queue_sweep(struct queue *queue) {
  watches_sweep(&queue->directory.watches);
}
/* Reads the polled nodes again (watches_poll). */
static inline void queue_poll(struct queue *queue) {
  watches_poll(&queue->directory.watches);
}
void queue_closed(struct queue *queue);

/* Looks at the queues that wait for quota. Wakes the first whose next contender
 * can now get quota. That queue admits contenders at the end of the batch of
 * calls. Returns false if there is no such queue. */
bool queue_wake_for_quota(struct contenders *all);

/* Returns this session's holder, or NULL if no contender is HELD. */
const struct contender *queue_holder(const struct queue *queue);
/* Returns the contender whose node has this name. */
struct contender *queue_find(const struct queue *queue, const char *name);
/* Returns the contender that holds the write lock that `c` downgrades; NULL:
 * none. */
struct contender *queue_writer(const struct contender *c);

/* These functions add or remove an observer, which receives the queue's
 * lists. */
void queue_add_observer(struct queue *queue, struct list_observer *observer);
void queue_remove_observer(struct queue *queue, struct list_observer *observer);

/* The queues of a session (queues.c), found by path. A queue is created when it
 * is first needed and freed when it is idle. */

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
