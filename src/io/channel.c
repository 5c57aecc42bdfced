#include "channel.h"

#include <stddef.h>

bool channel_open(struct channel *channel) {
  channel->commands.first = channel->events.first = NULL;
  channel->commands.end = &channel->commands.first;
  channel->events.end = &channel->events.first;
  if (!wakeup_open(&channel->io)) return false;
  if (!wakeup_open(&channel->lua)) {
    wakeup_close(&channel->io);
    return false;
  }
  pthread_mutex_init(&channel->lock, NULL);
  return true;
}

void channel_close(struct channel *channel) {
  wakeup_close(&channel->io);
  wakeup_close(&channel->lua);
  pthread_mutex_destroy(&channel->lock);
}

static bool post(struct channel *channel, struct message_queue *queue,
                 const struct wakeup *wakeup, struct message *message,
                 int kind) {
  pthread_mutex_lock(&channel->lock);
  bool fresh = !message->queued;
  bool was_empty = !queue->first;
  if (fresh) {
    message->queued = true;
    message->kind = kind;
    message->next = NULL;
    *queue->end = message;
    queue->end = &message->next;
    /* Under the lock, as the clearing is: for Lua's loop there is a byte to
     * read exactly while there are events, so it never turns for nothing. */
    if (was_empty) wakeup_signal(wakeup);
  }
  pthread_mutex_unlock(&channel->lock);
  return fresh;
}

bool channel_command(struct channel *channel, struct message *message,
                     int kind) {
  return post(channel, &channel->commands, &channel->io, message, kind);
}

bool channel_event(struct channel *channel, struct message *message, int kind) {
  return post(channel, &channel->events, &channel->lua, message, kind);
}

static struct message *take(struct channel *channel,
                            struct message_queue *queue,
                            const struct wakeup *clear) {
  pthread_mutex_lock(&channel->lock);
  struct message *first = queue->first;
  if (first) {
    queue->first = NULL;
    queue->end = &queue->first;
    if (clear) wakeup_clear(clear);
  }
  pthread_mutex_unlock(&channel->lock);
  return first;
}

struct message *channel_take_commands(struct channel *channel) {
  return take(channel, &channel->commands, NULL);
}

struct message *channel_take_events(struct channel *channel, bool host_read) {
  return take(channel, &channel->events, host_read ? NULL : &channel->lua);
}

bool channel_redirect(struct channel *channel, int fd) {
  pthread_mutex_lock(&channel->lock);
  bool ok = wakeup_redirect(&channel->lua, fd);
  /* What is there was signalled where nobody reads any more. */
  if (ok && channel->events.first) wakeup_signal(&channel->lua);
  pthread_mutex_unlock(&channel->lock);
  return ok;
}

void channel_done(struct channel *channel, struct message *message) {
  pthread_mutex_lock(&channel->lock);
  message->queued = false;
  pthread_mutex_unlock(&channel->lock);
}

void message_drop(const struct message *message) {
  if (message->drop) message->drop(message->subject);
}
