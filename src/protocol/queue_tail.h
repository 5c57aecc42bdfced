/* The tail of a queue: the last nodes that the last list showed. The next node
 * will be just behind them. So a contender that has held the lock and requeues
 * can watch them. It needs no list until they are deleted.
 *
 * The tail is only a hint: a contender that follows the tail has seen no list.
 * zklock grants the lock only after a list. The number of the contender's node
 * shows how many nodes were created between the tail and that node. */
#ifndef ZKLOCK_QUEUE_TAIL_H
#define ZKLOCK_QUEUE_TAIL_H

#include "rule.h"

#pragma GCC visibility push(hidden)

struct queue_tail {
  unsigned seen_in; /* the connection of the list; 0: the tail is unknown */
  enum kind kind;   /* the kind of contender that can wait for the tail */
  enum role role;   /* the role of that contender's node */
  int32_t number;   /* the greatest known sequence number */
  int length;       /* the number of nodes that block a new node */
  char last[NAME_MAX_USUAL];   /* the name of the last blocking node */
  char before[NAME_MAX_USUAL]; /* the blocking node before `last`; "": none */
};

/* Stores the nodes behind `own` as the tail. The contender of `own` holds the
 * lock, or is about to hold it. When it requeues, the stored nodes will be
 * ahead of its next node. If no node is behind `own`, the tail becomes
 * unknown. */
void queue_tail_store(struct queue_tail **tail, unsigned connection,
                      enum kind kind, const struct listing *listing,
                      const struct entry *own);
/* Makes the tail unknown. `tail` can be NULL. */
void queue_tail_forget(struct queue_tail *tail);
/* Returns `tail` if it was stored in this connection, for this kind and role;
 * otherwise NULL. */
const struct queue_tail *queue_tail_valid_for(const struct queue_tail *tail,
                                              unsigned connection,
                                              enum kind kind, enum role role);
/* Returns how many nodes were created between the tail and the new node `name`.
 * -1: unknown. */
int queue_tail_gap(const struct queue_tail *tail, const char *name);
/* Adds the new node `name` to the tail, if no other node was created between
 * them. */
void queue_tail_append(struct queue_tail *tail, const char *name);

#pragma GCC visibility pop

#endif
