/* Where the two threads of a session meet: commands go in to the I/O thread,
 * events come out to the Lua thread.  Nothing else is shared but some atomics
 * (claim.h, core.h, nginx_request.h), the last error (core.h) and the log
 * (log.h); and nothing here knows what a message means.
 *
 * A message is a slot inside what it speaks of, reserved when the command was
 * accepted: delivery cannot fail for want of memory.  A slot is in at most
 * one queue at a time.  The one lock is held for a few instructions, and no
 * other is taken and no wake-up written under it: one is written only when the
 * I/O thread sleeps, or for events of which Lua's loop does not know. */
#ifndef ZKLOCK_CHANNEL_H
#define ZKLOCK_CHANNEL_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "wakeup.h"

#pragma GCC visibility push(hidden)

/* What messages speak of begins with this.  (c) constant once one was sent */
struct subject {
  /* (c) Gives back what a message holds of it, when that has been heard or never
   * will be. */
  void (*drop)(void *subject);
};

/* (c) constant once sent for the first time  (m) guarded by the channel's lock,
 * or whoever has taken it from its queue */
struct message {
  struct message *next; /* (m) */
  uint16_t place; /* (c) how far inside its subject; 0: it holds nothing */
  uint8_t kind;   /* (m) what it says; see whoever sends it */
  bool queued;    /* (m) under way */
};

/* A slot inside `subject`, of which it speaks. */
void message_init(struct message *message, struct subject *subject);
void *message_subject(struct message *message);
static inline bool message_holds(const struct message *message) {
  return message->place > 0;
}

struct message_queue {
  struct message *first, **end;
};

/* (c) constant while open  (m) guarded by lock  (a) atomic */
struct channel {
  pthread_mutex_t lock;
  struct message_queue commands, events; /* (m) */
  struct wakeup io, lua;                 /* (c) but for channel_redirect */
  bool announced;      /* (m) a byte was or is being written for the events */
  bool redirected;     /* (m) not to our pipe */
  _Atomic bool asleep; /* (a) a command has to wake the I/O thread */
};

bool channel_open(struct channel *channel); /* false: errno tells */
/* Nobody uses it any more: drops what nobody has heard. */
void channel_close(struct channel *channel);

/* False: this very slot is under way already. */
bool channel_command(struct channel *channel, struct message *message,
                     int kind);
bool channel_event(struct channel *channel, struct message *message, int kind);
/* The same on the I/O thread: Lua's loop hears of it at the next rest. */
bool channel_event_later(struct channel *channel, struct message *message,
                         int kind);

/* The I/O thread, before it polls and when it has.  False: there are commands,
 * for which nobody will wake it. */
bool channel_rest(struct channel *channel);
void channel_rise(struct channel *channel);

/* Take all there is, in order.  The wake-up of the events is cleared with
 * them, unless the loop has read its bytes itself (`host_read`); that of the
 * commands, which the client signals as well, by the I/O thread's poll. */
struct message *channel_take_commands(struct channel *channel);
struct message *channel_take_events(struct channel *channel, bool host_read);
/* From now on events are signalled on `fd`, which is taken over. */
bool channel_redirect(struct channel *channel, int fd); /* false: errno tells */
/* Ends the slot's stay in the queue: it may be sent again. */
void channel_done(struct channel *channel, struct message *message);
/* Gives back what the message holds; then its memory may be gone. */
void message_drop(struct message *message);

#pragma GCC visibility pop

#endif
