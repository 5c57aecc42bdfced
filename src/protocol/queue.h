/* A queue: this session's contenders on one path.  Who of them may have a node
 * now, and what their directory tells them all. */
#ifndef ZKLOCK_QUEUE_H
#define ZKLOCK_QUEUE_H

#include "life.h"

#pragma GCC visibility push(hidden)

/* `flush`: at the end of the batch; calls queue_flush. */
struct queue *queue_new(struct contenders *all, const char *path,
                        void (*flush)(struct chore *chore));
bool queue_is_idle(const struct queue *queue); /* nothing left */
void queue_free(struct queue *queue);

/* Lets parked contenders in as far as they may be, and sends what is wanted. */
void queue_flush(struct queue *queue);
/* The same for this one, now. */
void queue_admit(struct contender *c);
/* All that are parked are to be looked at again. */
void queue_rewind(struct queue *queue);
/* All but those are driven. */
void queue_drive(struct queue *queue);
void queue_connected(struct queue *queue);
/* From now on this holder is told whether anybody else stands in its queue. */
void queue_look_around(struct contender *c);
void queue_children_changed(struct queue *queue);
void queue_disconnected(struct queue *queue);
/* The watches that nobody wants go, after a disconnection. */
static inline void queue_sweep(struct queue *queue) {
  watches_sweep(&queue->directory.watches);
}
/* Nodes that may not be read are polled. */
static inline void queue_look_again(struct queue *queue) {
  watches_look_again(&queue->directory.watches);
}
void queue_closed(struct queue *queue);

/* Whoever waits for the quota may try again; false: nobody does. */
bool queue_wake_crowded(struct contenders *all);

/* The one that holds; NULL: nobody of ours. */
const struct contender *queue_holder(const struct queue *queue);
/* The one whose node has this name. */
struct contender *queue_find(const struct queue *queue, const char *name);
/* The one whom this one downgrades, while that is there; NULL: none. */
struct contender *queue_writer(const struct contender *c);

/* Whoever wants to hear of its lists. */
void queue_join_onlooker(struct queue *queue, struct onlooker *onlooker);
void queue_leave_onlooker(struct queue *queue, struct onlooker *onlooker);

#pragma GCC visibility pop

#endif
