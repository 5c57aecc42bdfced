/* A lane: messages on their way from a sender to a receiver, in order.  A lane
 * that is held keeps them. */
#ifndef ZKLOCK_VIRTUAL_LANE_H
#define ZKLOCK_VIRTUAL_LANE_H

#include <stdbool.h>
#include <stdint.h>

#include "agenda.h"
#include "arena.h"

#pragma GCC visibility push(hidden)

struct message {
  struct message *next;
  int64_t at;
  int kind; /* the sender and the receiver know what it means */
  int trap; /* the kind of request that it is, or answers */
  int64_t number, other;
  bool silent;         /* its answer reaches no client */
  void *content;       /* in the arena */
  struct arena *arena; /* NULL: it has none */
  void *shared;        /* kept for this message ... */
  void (*drop)(void *shared);
};

/* Why a lane is held. */
enum { HELD_BY_LINK = 1, HELD_BY_SERVER = 2, HELD_BY_RECEIVER = 4 };

struct lane {
  struct agenda *agenda;
  struct message *first, *last;
  int64_t until; /* no message arrives before the one ahead of it */
  unsigned held;
  struct alarm alarm;
  /* The message is the lane's again when this returns. */
  void (*deliver)(void *self, struct message *message, int64_t now);
  void *self;
};

void lane_init(struct lane *lane, struct agenda *agenda,
               void (*deliver)(void *, struct message *, int64_t), void *self);
struct message *message_new(int kind);
void message_free(struct message *message);
void lane_send(struct lane *lane, struct message *message, int64_t at);
/* Ahead of all others, at once. */
void lane_send_first(struct lane *lane, struct message *message, int64_t now);
void lane_hold(struct lane *lane, unsigned why);
void lane_release(struct lane *lane, unsigned why, int64_t now);
void lane_clear(struct lane *lane); /* forgets all messages */

#pragma GCC visibility pop

#endif
