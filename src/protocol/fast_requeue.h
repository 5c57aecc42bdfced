/* Fast requeue: a contender that has released the lock joins the queue again.
 * It watches the queue's last known node, and requests a list only after that
 * node is deleted. */
#ifndef ZKLOCK_FAST_REQUEUE_H
#define ZKLOCK_FAST_REQUEUE_H

#include "contender.h"

#pragma GCC visibility push(hidden)

/* The tail of a queue: the last nodes that the last list showed. The next node
 * will be just behind them. So a contender that has held the lock and requeues
 * can watch them. It needs no list until they are deleted.
 *
 * The tail is only a hint: a contender that follows the tail has seen no list.
 * zklock grants the lock only after a list. The number of the contender's node
 * shows how many nodes were created between the tail and that node. */
struct queue_tail {
  unsigned seen_in; /* the connection of the list; 0: the tail is unknown */
  enum kind kind;   /* the kind of contender that can wait for the tail */
  enum role role;   /* the role of that contender's node */
  int32_t number;   /* the greatest known sequence number */
  int length;       /* the number of nodes that block a new node */
  char last[NAME_MAX_USUAL];   /* the name of the last blocking node */
  char before[NAME_MAX_USUAL]; /* the blocking node before `last`; "": none */
};

/* Both functions make a contender that requeues watch the queue's last known
 * node. fast_requeue_begin is called after the create was sent.
 * fast_requeue_created is called after the reply, which contains the number of
 * the created node. Each returns false if `c` must request a list instead. */
bool fast_requeue_begin(struct contender *c);
bool fast_requeue_created(struct contender *c);
/* Makes `c` request a list, because the node that it watches was deleted.
 * Called between fast_requeue_begin and fast_requeue_created. */
void fast_requeue_give_up(struct contender *c);

/* Stores the last nodes of `listing` as the tail. `own` is the entry of the
 * contender's node in `listing`. */
void fast_requeue_store_tail(const struct contender *c,
                             const struct listing *listing,
                             const struct entry *own);
/* Makes the tail of the queue unknown. */
void fast_requeue_forget_tail(struct queue *queue);
/* Returns whether the last list showed a node behind the holder's node. */
bool fast_requeue_knows_tail(const struct contender *c);
/* Returns whether the delete or create of `c` can share a transaction with a
 * request of another contender. The reply to such a create does not name the
 * node's owner. */
bool fast_requeue_joins(const struct contender *c);

#pragma GCC visibility pop

#endif
