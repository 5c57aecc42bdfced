/* Connects the two threads of a session: commands go to the I/O thread, events
 * to the Lua thread. Apart from the channel, the threads share some atomics
 * (acquisition.h, core.h, nginx_request.h), the last error (core.h) and the log
 * (log.h). The channel does not know what a message means.
 *
 * A message is a slot inside its subject, the object that it is about. So
 * sending allocates nothing and cannot fail for lack of memory. A slot is in at
 * most one queue at a time.
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
 * message about the object was sent. */
struct subject {
  /* (c) Releases a reference to the object. Each message has a reference, until
   * the message is handled or discarded. */
  void (*drop)(void *subject);
};

/* A slot for one message. Access: (c) constant once sent for the first time;
 * (m) guarded by the channel's lock while queued, and afterwards owned by the
 * thread that took the message. */
struct message {
  struct message *next; /* (m) */
  uint16_t place; /* (c) offset of this slot in the subject; 0: no subject */
  uint8_t kind;   /* (m) a command_kind or event_kind */
  bool queued;    /* (m) the message was sent, and channel_done not called */
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
  struct wakeup io, lua; /* (c) wake the I/O thread; wake the event loop */
  bool signalled;        /* (m) the byte for the events is or will be written */
  bool redirected;       /* (m) `lua` writes to another descriptor */
  _Atomic bool asleep;   /* (a) a command must wake the I/O thread */
};

bool channel_open(struct channel *channel); /* on false, errno is set */
/* Drops the messages that are still queued, and closes the channel. Afterwards
 * no thread is allowed to use the channel. */
void channel_close(struct channel *channel);

/* Queue a command for the I/O thread, or an event for the Lua thread, and wake
 * the thread's loop if needed. Both return false if the slot is queued
 * already. */
bool channel_command(struct channel *channel, struct message *message,
                     int kind);
bool channel_event(struct channel *channel, struct message *message, int kind);
/* Queues an event, but wakes Lua's loop only at the next channel_sleep. Only
 * the I/O thread calls this function. */
bool channel_event_later(struct channel *channel, struct message *message,
                         int kind);

/* Tell the channel when the I/O thread sleeps: it calls channel_sleep before it
 * polls and channel_wake afterwards. channel_sleep also wakes Lua's loop for
 * new events. It returns false if there are commands: then the thread must not
 * sleep, because no wake-up will come for them. */
bool channel_sleep(struct channel *channel);
void channel_wake(struct channel *channel);

/* Remove and return all queued messages, in order. channel_take_events also
 * clears the wake-up, unless the host's loop has read the bytes itself
 * (`host_read`). channel_take_commands does not: client.c signals the
 * same wake-up, so the I/O thread clears it after each poll. */
struct message *channel_take_commands(struct channel *channel);
struct message *channel_take_events(struct channel *channel, bool host_read);
/* Makes the channel signal events on `fd`, and takes ownership of `fd`. */
bool channel_redirect(struct channel *channel,
                      int fd); /* on false, errno is set */
/* Marks a message that was taken from its queue as unused, so that its slot can
 * be sent again. */
void channel_done(struct channel *channel, struct message *message);
/* Releases the message's reference to its subject. This can free the subject
 * and the message in it. */
void message_drop(struct message *message);

#pragma GCC visibility pop

#endif
