/* Where the two threads of a session meet: commands go in to the I/O thread,
 * events come out to the Lua thread.  Nothing else is shared but the atomics
 * of claim.h, and nothing here knows what a message means.
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

struct message {
  struct message *next; /* guarded by the channel's lock while queued */
  void *subject;
  int kind;    /* likewise */
  bool queued; /* likewise */
};

struct message_queue {
  struct message *first, **end;
};

struct channel {
  pthread_mutex_t lock;
  struct message_queue commands, events; /* guarded by lock */
  struct wakeup io, lua; /* constant while open, see channel_redirect */
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

#pragma GCC visibility pop

#endif
