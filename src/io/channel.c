#include "channel.h"

#include <assert.h>
#include <stddef.h>

bool channel_open(struct channel *channel) {
  channel->commands.first = channel->events.first = NULL;
  channel->commands.end = &channel->commands.first;
  channel->events.end = &channel->events.first;
  channel->signalled = channel->redirected = false;
  channel->asleep = false;
  if (!wakeup_open(&channel->io)) return false;
  if (!wakeup_open(&channel->lua)) {
    wakeup_close(&channel->io);
    return false;
  }
  pthread_mutex_init(&channel->lock, NULL);
  return true;
}

static void discard(struct message_queue *queue) {
  while (queue->first) {
    struct message *message = queue->first;
    queue->first = message->next;
    message_drop(message);
  }
}

void channel_close(struct channel *channel) {
  discard(&channel->commands);
  discard(&channel->events);
  wakeup_close(&channel->io);
  wakeup_close(&channel->lua);
  pthread_mutex_destroy(&channel->lock);
}

/* Appends the message to the queue. Returns false if the message is in a queue
 * already. The caller must hold the channel's lock. */
static bool append(struct message_queue *queue, struct message *message,
                   int kind) {
  if (message->queued) return false;
  message->queued = true;
  message->kind = (uint8_t)kind;
  if (message_holds(message)) subject_keep(message_subject(message));
  message->next = NULL;
  *queue->end = message;
  queue->end = &message->next;
  return true;
}

/* The functions below release the channel's lock before they write a wake-up.
 * The woken thread takes this lock at once, and must not have to wait for
 * it. */

/* Appends the command, and only then checks whether the I/O thread sleeps. The
 * I/O thread does the reverse: it marks itself asleep, and only then checks for
 * commands. So either this function sees that the I/O thread sleeps and wakes
 * it, or the I/O thread sees the command. */
bool channel_command(struct channel *channel, struct message *message,
                     int kind) {
  pthread_mutex_lock(&channel->lock);
  bool fresh = append(&channel->commands, message, kind);
  pthread_mutex_unlock(&channel->lock);
  if (fresh && atomic_exchange(&channel->asleep, false))
    wakeup_signal(&channel->io);
  return fresh;
}

/* Returns whether the caller must write a byte to wake Lua's loop. If so,
 * records that the byte is being written. The caller must hold the channel's
 * lock. */
static bool announce(struct channel *channel) {
  if (!channel->events.first || channel->signalled) return false;
  return channel->signalled = true;
}

static bool post_event(struct channel *channel, struct message *message,
                       int kind, bool now) {
  pthread_mutex_lock(&channel->lock);
  bool fresh = append(&channel->events, message, kind);
  bool signal = now && announce(channel);
  pthread_mutex_unlock(&channel->lock);
  if (signal) wakeup_signal(&channel->lua);
  return fresh;
}

bool channel_event(struct channel *channel, struct message *message, int kind) {
  return post_event(channel, message, kind, true);
}

bool channel_event_later(struct channel *channel, struct message *message,
                         int kind) {
  return post_event(channel, message, kind, false);
}

void channel_wake(struct channel *channel) {
  atomic_store(&channel->asleep, false);
}

bool channel_sleep(struct channel *channel) {
  atomic_store(&channel->asleep, true);
  pthread_mutex_lock(&channel->lock);
  bool idle = !channel->commands.first;
  bool signal = announce(channel);
  pthread_mutex_unlock(&channel->lock);
  if (signal) wakeup_signal(&channel->lua);
  if (!idle) channel_wake(channel);
  return idle;
}

/* Empties the queue and returns its first message, or NULL. The caller must
 * hold the channel's lock. */
static struct message *take(struct message_queue *queue) {
  struct message *first = queue->first;
  queue->first = NULL;
  queue->end = &queue->first;
  return first;
}

struct message *channel_take_commands(struct channel *channel) {
  pthread_mutex_lock(&channel->lock);
  struct message *first = take(&channel->commands);
  pthread_mutex_unlock(&channel->lock);
  return first;
}

/* Takes the queued events, and reads the byte that announces them. So Lua's
 * loop finds a byte only while announced events are queued, and never wakes
 * without an event. If the byte is announced but not yet in the pipe, returns
 * no events: a later call returns them. Exception: hosts that read the bytes
 * themselves may have read the byte already, so they always get the events. */
struct message *channel_take_events(struct channel *channel, bool host_read) {
  struct message *first = NULL;
  pthread_mutex_lock(&channel->lock);
  bool awaits = channel->signalled && !host_read && !channel->redirected;
  if (awaits) {
    pthread_mutex_unlock(&channel->lock);
    bool came = wakeup_clear(&channel->lua);
    pthread_mutex_lock(&channel->lock);
    awaits = !came;
  }
  if (!awaits) {
    first = take(&channel->events);
    channel->signalled = false;
  }
  pthread_mutex_unlock(&channel->lock);
  return first;
}

bool channel_redirect(struct channel *channel, int fd) {
  pthread_mutex_lock(&channel->lock);
  bool ok = wakeup_redirect(&channel->lua, fd);
  bool signal = ok && channel->signalled;
  channel->redirected |= ok;
  pthread_mutex_unlock(&channel->lock);
  /* Announces the queued events again. Their byte went to the old pipe, which
   * no loop reads any more. */
  if (signal) wakeup_signal(&channel->lua);
  return ok;
}

void channel_done(struct channel *channel, struct message *message) {
  pthread_mutex_lock(&channel->lock);
  message->queued = false;
  pthread_mutex_unlock(&channel->lock);
}

void subject_init(struct subject *subject, void (*destroy)(void *subject)) {
  subject->destroy = destroy;
  subject->references = 1;
}

void subject_keep(struct subject *subject) { subject->references++; }

void subject_drop(struct subject *subject) {
  int left = --subject->references;
  assert(left >= 0);
  if (left == 0) subject->destroy(subject);
}

void message_init(struct message *message, struct subject *subject) {
  ptrdiff_t place = (char *)message - (char *)subject;
  assert(place > 0 && place <= UINT16_MAX);
  *message = (struct message){.place = (uint16_t)place};
}

void *message_subject(struct message *message) {
  return (char *)message - message->place;
}

void message_drop(struct message *message) {
  if (message_holds(message)) subject_drop(message_subject(message));
}
