/* Connects the two threads of a session: commands go to the I/O thread, events
 * to the Lua thread. Besides the channel, the threads share some atomics
 * (acquisition.h, core.h, nginx_request.h), the last error (core.h) and the log
 * (log.h). The channel does not know what a message means.
 *
 * The object that a message is about is its subject. The message is a slot, a
 * field inside the subject. So sending a message allocates nothing, and cannot
 * fail for lack of memory. A slot is in at most one queue at a time.
 *
 * Each function holds the channel's lock for a few instructions. Meanwhile it
 * takes no other lock and writes no wake-up. A command writes a wake-up only if
 * the I/O thread sleeps. An event writes one only if Lua's loop has no unread
 * wake-up. */
#ifndef ZKLOCK_CHANNEL_H
#define ZKLOCK_CHANNEL_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "wakeup.h"

#pragma GCC visibility push(hidden)

/* Each object that can be the subject of a message begins with this struct.
 * Access: (c) constant after subject_init, (a) atomic. */
struct subject {
  void (*destroy)(
      void *subject); /* (c) called at the end of the last reference */
  /* (a) The creator of the object has one reference. Each queued message about
   * the object has one until it is handled or discarded. */
  _Atomic int references;
};

void subject_init(struct subject *subject, void (*destroy)(void *subject));
void subject_keep(struct subject *subject); /* adds a reference */
void subject_drop(struct subject *subject); /* releases a reference */

/* A slot for one message. Access: (c) constant after the slot was sent for the
 * first time. (m) guarded by the channel's lock while the slot is queued;
 * afterwards only the thread that took the message uses the field. */
struct message {
  struct message *next; /* (m) */
  uint16_t place; /* (c) offset of this slot in the subject; 0: no subject */
  uint8_t kind;   /* (m) a command_kind or event_kind */
  bool queued;    /* (m) sent, and channel_done was not called since */
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

/* Access: (c) constant while the channel is open, (m) guarded by `lock`, (a)
 * atomic */
struct channel {
  pthread_mutex_t lock;
  struct message_queue commands, events; /* (m) */
  struct wakeup io, lua; /* (c) wake the I/O thread; wake the event loop */
  bool signalled;        /* (m) a byte announces the events, or soon will */
  bool redirected;       /* (m) `lua` writes to another descriptor */
  _Atomic bool asleep;   /* (a) a command must wake the I/O thread */
};

bool channel_open(struct channel *channel); /* on false, errno is set */
/* Drops the messages that are still queued, and closes the channel. After this
 * call, no thread is allowed to use the channel. */
void channel_close(struct channel *channel);

/* Queue a command for the I/O thread, or an event for the Lua thread. Wake that
 * thread's loop if needed. The message gets a reference to its subject. Both
 * functions return false if the slot is queued already. */
bool channel_command(struct channel *channel, struct message *message,
                     int kind);
bool channel_event(struct channel *channel, struct message *message, int kind);
/* Queues an event. Lua's loop is not woken before the I/O thread's next call of
 * channel_sleep. Only the I/O thread calls this function. */
bool channel_event_later(struct channel *channel, struct message *message,
                         int kind);

/* Tell the channel when the I/O thread sleeps. The thread calls channel_sleep
 * before it polls, and channel_wake afterwards. channel_sleep also wakes Lua's
 * loop if there are new events. It returns false if there are commands. Then
 * the thread must not sleep, because no wake-up was written for these
 * commands. */
bool channel_sleep(struct channel *channel);
void channel_wake(struct channel *channel);

/* Remove all queued messages, and return the first of the list, or NULL.
 * channel_take_events also clears Lua's wake-up, unless the host's event loop
 * has already read its bytes (`host_read`). channel_take_commands clears no
 * wake-up: the I/O thread clears its own after each poll, because client.c
 * signals it, too. */
struct message *channel_take_commands(struct channel *channel);
struct message *channel_take_events(struct channel *channel, bool host_read);
/* Makes the channel announce events on the descriptor `fd` from now on. Takes
 * ownership of `fd`. */
bool channel_redirect(struct channel *channel,
                      int fd); /* on false, errno is set */
/* Marks a message as unused, so that its slot can be sent again. The message
 * must have been taken from its queue. */
void channel_done(struct channel *channel, struct message *message);
/* Releases the message's reference to its subject. This can free the subject
 * and the message in it. */
void message_drop(struct message *message);

#pragma GCC visibility pop

#endif
