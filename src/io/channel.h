/* Where the two threads of a session meet: commands go in to the I/O thread,
 * events come out to the Lua thread.  Nothing else is shared but some atomics
 * (claim.h, core.h, nginx_request.h), the last error (core.h) and the log
 * (log.h); and nothing here knows what a message means.
 *
 * A message is a slot inside what it speaks of, reserved when the command was
 * accepted: delivery cannot fail for want of memory.  A slot is in at most
 * one queue at a time.  The one lock is held for a few instructions and no
 * other is taken under it.  A wake-up is written only when a queue turns from
 * empty to not empty. */
#ifndef ZKLOCK_CHANNEL_H
#define ZKLOCK_CHANNEL_H

#include <pthread.h>
#include <stdbool.h>

#include "wakeup.h"

#pragma GCC visibility push(hidden)

/* (c) constant once sent for the first time  (m) guarded by the channel's lock,
 * or whoever has taken it from its queue */
struct message {
  void *subject; /* (c) what it speaks of */
  /* (c) Gives back what the message holds of its subject, when it has been
   * heard or never will be; NULL: nothing. */
  void (*drop)(void *subject);
  struct message *next; /* (m) */
  int kind;             /* (m) what it says; see whoever sends it */
  bool queued;          /* (m) under way */
};

struct message_queue {
  struct message *first, **end;
};

/* (c) constant while open  (m) guarded by lock */
struct channel {
  pthread_mutex_t lock;
  struct message_queue commands, events; /* (m) */
  struct wakeup io, lua;                 /* (c) but for channel_redirect */
};

bool channel_open(struct channel *channel); /* false: errno tells */
void channel_close(struct channel *channel);

/* False: this very slot is under way already. */
bool channel_command(struct channel *channel, struct message *message,
                     int kind);
bool channel_event(struct channel *channel, struct message *message, int kind);

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
void message_drop(const struct message *message);

#pragma GCC visibility pop

#endif
