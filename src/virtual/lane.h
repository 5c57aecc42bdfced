/* A lane delivers messages from a sender to a receiver, in order, each at its
 * time. While a lane is held, it delivers no message. */
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
  int kind; /* the meaning of `kind` depends on the lane */
  int trap; /* the kind of this request, or of the answered one */
  int64_t number, other;
  bool silent;         /* the client does not receive the answer */
  void *content;       /* memory of the arena */
  struct arena *arena; /* `arena` can be NULL */
  void *shared;        /* dropped by `drop` with the message */
  void (*drop)(void *shared);
};

/* The reasons for which a lane is held, as bits of `held`. */
enum { HELD_BY_LINK = 1, HELD_BY_SERVER = 2, HELD_BY_RECEIVER = 4 };

struct lane {
  struct agenda *agenda;
  struct message *first, *last;
  int64_t until; /* the next message does not arrive before */
  unsigned held;
  struct alarm alarm;
  /* Called when a message arrives. The lane frees the message afterwards. */
  void (*deliver)(void *self, struct message *message, int64_t now);
  void *self;
};

void lane_init(struct lane *lane, struct agenda *agenda,
               void (*deliver)(void *, struct message *, int64_t), void *self);
struct message *message_new(int kind);
void message_free(struct message *message);
void lane_send(struct lane *lane, struct message *message, int64_t at);
/* Sends a message without delay. It arrives before all messages that are
 * already in the lane. */
void lane_send_first(struct lane *lane, struct message *message, int64_t now);
void lane_hold(struct lane *lane, unsigned why);
void lane_release(struct lane *lane, unsigned why, int64_t now);
void lane_clear(struct lane *lane); /* frees all messages */

#pragma GCC visibility pop

#endif
