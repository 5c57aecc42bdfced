#include "stream.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "clock.h"
#include "fork.h"
#include "handshake.h"
#include "wipe.h"

#ifndef MSG_MORE
#define MSG_MORE 0
#endif
#ifndef MSG_NOSIGNAL
#define MSG_NOSIGNAL 0
#endif

static _Thread_local struct stream *current;

void stream_use(struct stream *stream) { current = stream; }

void stream_reset(struct stream *s) {
  s->fd = -1;
  s->problem = 0;
  s->is_empty = false;
  s->in_at = s->in_end = s->out_end = 0;
  wipe(s->in, sizeof s->in);
  wipe(s->out, sizeof s->out);
}

static struct stream *stream_of(int fd) {
  return fd >= 0 && current && current->fd == fd ? current : NULL;
}

void stream_bind(int fd) {
  if (fd < 0 || !current || current->fd >= 0) return;
  stream_reset(current);
  current->fd = fd;
}

/* Sending. */

bool stream_is_waiting(const struct stream *s) { return s->out_end > 0; }

/* Drops the first `size` bytes of the output, because they were sent or never
 * will be. Wipes them: they may contain credentials. */
static void let_go(struct stream *s, size_t size) {
  size_t left = s->out_end - size;
  memmove(s->out, s->out + size, left);
  wipe(s->out + left, size);
  s->out_end = left;
}

static void fail(struct stream *s, int problem) {
  s->problem = problem;
  let_go(s, s->out_end);
}

static void push(struct stream *s, int more) {
  size_t at = 0;
  while (at < s->out_end) {
    ssize_t n = send(s->fd, s->out + at, s->out_end - at,
                     MSG_NOSIGNAL | MSG_DONTWAIT | more);
    if (n >= 0) {
      at += (size_t)n;
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      break;
    } else if (errno != EINTR) {
      fail(s, errno);
      return;
    }
  }
  let_go(s, at);
}

void stream_flush(struct stream *s) { push(s, 0); }

/* Buffers the data. The library sends the rest again. */
static ssize_t gather(struct stream *s, const void *data, size_t size) {
  size_t room = STREAM_SIZE - s->out_end;
  if (size > room) size = room;
  memcpy(s->out + s->out_end, data, size);
  s->out_end += size;
  if (size > 0) return (ssize_t)size;
  errno = EAGAIN;
  return -1;
}

ssize_t stream_send(int fd, const void *data, size_t size, int flags) {
  struct stream *s = stream_of(fd);
  if (!s) return send(fd, data, size, flags);
  if (size > STREAM_SIZE - s->out_end) push(s, MSG_MORE);
  if (s->problem) {
    errno = s->problem;
    return -1;
  }
  if (size > STREAM_SIZE && s->out_end == 0)
    return send(fd, data, size, flags | MSG_DONTWAIT);
  return gather(s, data, size);
}

/* Receiving. */

size_t stream_unread(const struct stream *s) { return s->in_end - s->in_at; }

bool stream_has_news(const struct stream *s) {
  return stream_unread(s) > 0 || s->problem;
}

void stream_look_again(struct stream *s) { s->is_empty = false; }

static size_t take(struct stream *s, char *data, size_t size) {
  size_t unread = stream_unread(s);
  if (size > unread) size = unread;
  memcpy(data, s->in + s->in_at, size);
  s->in_at += size;
  return size;
}

/* Works like recv. Reads ahead if the request is small. */
static ssize_t read_more(struct stream *s, char *data, size_t size) {
  bool ahead = size < STREAM_SIZE;
  size_t room = ahead ? STREAM_SIZE : size;
  ssize_t n = recv(s->fd, ahead ? s->in : data, room, 0);
  s->is_empty = n > 0 ? (size_t)n < room : n < 0;
  if (n <= 0 || !ahead) return n;
  s->in_at = 0;
  s->in_end = (size_t)n;
  return (ssize_t)take(s, data, size);
}

/* Returns received data before it reports a failed send: the server may have
 * closed the connection after it sent them. */
ssize_t stream_recv(int fd, void *data, size_t size, int flags) {
  struct stream *s = stream_of(fd);
  int most = handshake_look(fd);
  if (most < 0) {
    errno = EPROTO;
    return -1;
  }
  if (most > 0) /* nothing was read before */
    return recv(fd, data, size < (size_t)most ? size : (size_t)most, flags);
  if (!s || flags) return recv(fd, data, size, flags);
  size_t got = take(s, data, size);
  if (got == size) return (ssize_t)got;
  errno = EAGAIN;
  ssize_t n = s->is_empty ? -1 : read_more(s, (char *)data + got, size - got);
  if (n > 0) return (ssize_t)got + n;
  if (n < 0 && errno != EAGAIN && errno != EWOULDBLOCK) fail(s, errno);
  if (got > 0) return (ssize_t)got;
  if (!s->problem) return n;
  errno = s->problem;
  return -1;
}

/* Polling. */

/* Returns which of the events are ready without a wait. */
static short ready(const struct stream *s, short events) {
  return (short)((stream_has_news(s) ? events & POLLIN : 0) |
                 (stream_is_waiting(s) ? 0 : events & POLLOUT));
}

/* Polls. Whatever the library waits for, buffered output is sent meanwhile. */
static int poll_stream(struct stream *s, struct pollfd *asked, int timeout) {
  int64_t deadline =
      timeout < 0 ? INT64_MAX : clock_now() + timeout * INT64_C(1000000);
  stream_flush(s);
  for (;;) {
    asked->revents = ready(s, asked->events);
    if (asked->revents) return 1;
    struct pollfd p = *asked;
    if (stream_is_waiting(s)) p.events |= POLLOUT;
    fork_asleep();
    int n = clock_poll(NULL, &p, 1, deadline);
    fork_awake();
    if (n <= 0) return n;
    stream_look_again(s);
    stream_flush(s);
    int unasked = POLLOUT & ~asked->events;
    asked->revents = (short)(p.revents & ~unasked);
    if (asked->revents) return 1;
  }
}

int stream_poll(struct pollfd *fds, nfds_t count, int timeout) {
  struct stream *s = count == 1 ? stream_of(fds->fd) : NULL;
  return s ? poll_stream(s, fds, timeout) : poll(fds, count, timeout);
}

void stream_end(struct stream *s) {
  stream_flush(s);
  fail(s, EPIPE);
}

int stream_close(int fd) {
  struct stream *s = stream_of(fd);
  if (s) {
    stream_flush(s);
    stream_reset(s);
  }
  return close(fd);
}
