/* Connects the two threads of a session: commands go to the I/O thread, events
 * to the Lua thread. Apart from the channel, the threads share some atomics
 * (acquisition.h, core.h, nginx_request.h), the last error (core.h) and the log
 * (log.h). The channel does not know what a message means.
 *
 * A message is a slot inside its subject. The slot is reserved when the command
 * is accepted, so delivery cannot fail for lack of memory. A slot is in at most
 * one queue at a time.
 *
 * The lock is held for a few instructions. Under it, no other lock is taken and
 * no wake-up is written. A wake-up is written only if the I/O thread sleeps, or
 * if Lua's loop does not yet know of an event. */
#ifndef ZKLOCK_CHANNEL_H
#define ZKLOCK_CHANNEL_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "wakeup.h"

#pragma GCC visibility push(hidden)

/* The first member of each object that messages are about. (c) constant once a
 * message was sent */
struct subject {
  /* (c) Releases the reference that a message holds, once the message was
   * handled or discarded. */
  void (*drop)(void *subject);
};

/* Access: (c) constant once sent for the first time, (m) guarded by the
 * channel's lock while queued, then owned by the thread that took it from its
 * queue. */
struct message {
  struct message *next; /* (m) */
  uint16_t place;       /* (c) offset inside its subject; 0: no reference */
  uint8_t kind;         /* (m) a command_kind or event_kind */
  bool queued;          /* (m) sent and not yet done */
};

/* Initializes a slot inside `subject`. */
void message_init(struct message *message, struct subject *subject);
void *message_subject(struct message *message);
static inline bool message_holds(const struct message *message) {
  return message->place > 0;
}

struct message_queue {
  struct message *first, **end;
};

/* (c) constant while open, (m) guarded by lock, (a) atomic */
struct channel {
  pthread_mutex_t lock;
  struct message_queue commands, events; /* (m) */
  struct wakeup io, lua;                 /* (c) except in channel_redirect */
  bool announced;      /* (m) a byte was or is being written for the events */
  bool redirected;     /* (m) `lua` writes to a descriptor of the host */
  _Atomic bool asleep; /* (a) a command has to wake the I/O thread */
};

bool channel_open(struct channel *channel); /* false: errno is set */
/* Requires that no thread uses the channel any more. Drops the messages left in
 * it. */
void channel_close(struct channel *channel);

/* Both return false if the slot is queued already. */
bool channel_command(struct channel *channel, struct message *message,
                     int kind);
bool channel_event(struct channel *channel, struct message *message, int kind);
/* Does the same on the I/O thread, but wakes Lua's loop only at the next
 * channel_rest. */
bool channel_event_later(struct channel *channel, struct message *message,
                         int kind);

/* The I/O thread calls channel_rest before it polls and channel_rise
 * afterwards. channel_rest returns false if there are commands: the thread must
 * not sleep, because no wake-up will come for them. */
bool channel_rest(struct channel *channel);
void channel_rise(struct channel *channel);

/* Both return all queued messages, in order. Taking events also clears their
 * wake-up, unless the loop has read the bytes itself (`host_read`). The I/O
 * thread clears the wake-up of commands after its poll, because the client
 * signals it, too. */
struct message *channel_take_commands(struct channel *channel);
struct message *channel_take_events(struct channel *channel, bool host_read);
/* Signals events on `fd` from now on, and takes ownership of `fd`. */
bool channel_redirect(struct channel *channel, int fd); /* false: see errno */
/* Marks a message that was taken as no longer queued, so that it can be sent
 * again. */
void channel_done(struct channel *channel, struct message *message);
/* Releases the reference that the message holds. This may free the message
 * itself. */
void message_drop(struct message *message);

#pragma GCC visibility pop

#endif
