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

void stream_secure(struct stream *s, const struct tls_module *module,
                   struct tls_link *link) {
  secure_end(&s->secure);
  if (link) secure_begin(&s->secure, module, link);
}

bool stream_is_in_handshake(const struct stream *s) {
  return s->secure.link && !s->secure.is_established;
}

enum tls_state stream_handshake(struct stream *s) {
  return secure_handshake(&s->secure, s->fd);
}

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

/* Returns whether there is output to send when the socket becomes writable.
 * With TLS, buffered output cannot be sent before the handshake is done. */
bool stream_wants_write(const struct stream *s) {
  if (!s->secure.link) return s->out_end > 0;
  return secure_wants_write(&s->secure) ||
         (s->out_end > 0 && s->secure.is_established);
}

/* Drops the first `size` bytes of the output, because they were sent or will
 * never be sent. Wipes the freed part of the buffer, because it can contain
 * credentials. */
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

static ssize_t send_now(struct stream *s, const void *data, size_t size,
                        int flags) {
  return s->secure.link ? secure_send(&s->secure, s->fd, data, size)
                        : send(s->fd, data, size, flags | MSG_DONTWAIT);
}

static void push(struct stream *s, int more) {
  size_t at = 0;
  if (stream_is_in_handshake(s)) return;
  if (s->secure.link && secure_wants_write(&s->secure) &&
      !secure_flush(&s->secure, s->fd))
    fail(s, errno);
  while (at < s->out_end) {
    ssize_t n = send_now(s, s->out + at, s->out_end - at, MSG_NOSIGNAL | more);
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

void stream_flush(struct stream *s) {
  if (stream_wants_write(s)) push(s, 0);
}

/* Copies to the output buffer as much of the data as fits. Returns the number
 * of copied bytes. The client library later sends the rest by another call. */
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
  if (size > STREAM_SIZE && s->out_end == 0 && !stream_is_in_handshake(s))
    return send_now(s, data, size, flags);
  return gather(s, data, size);
}

/* Receiving. */

size_t stream_unread(const struct stream *s) { return s->in_end - s->in_at; }

bool stream_has_input(const struct stream *s) {
  bool is_decryptable =
      s->secure.link && s->secure.is_established && !s->secure.is_drained;
  return s->in_at < s->in_end || s->problem || is_decryptable;
}

void stream_allow_reads(struct stream *s) { s->is_empty = false; }

static size_t take(struct stream *s, char *data, size_t size) {
  size_t unread = s->in_end - s->in_at;
  if (size > unread) size = unread;
  memcpy(data, s->in + s->in_at, size);
  s->in_at += size;
  return size;
}

static ssize_t recv_now(struct stream *s, char *data, size_t size) {
  if (s->secure.link) {
    ssize_t n = secure_recv(&s->secure, s->fd, data, size);
    s->is_empty = s->secure.is_drained;
    return n;
  }
  ssize_t n = recv(s->fd, data, size, 0);
  s->is_empty = n > 0 ? (size_t)n < size : n < 0;
  return n;
}

static ssize_t read_ahead(struct stream *s) {
  ssize_t n = recv_now(s, s->in, STREAM_SIZE);
  if (n > 0) {
    s->in_at = 0;
    s->in_end = (size_t)n;
  }
  return n;
}

/* Works like recv. If `size` is smaller than the stream's buffer, first reads
 * as many bytes as are available into that buffer. Then copies up to `size` of
 * them to `data`. */
static ssize_t read_more(struct stream *s, char *data, size_t size) {
  if (size >= STREAM_SIZE) return recv_now(s, data, size);
  ssize_t n = read_ahead(s);
  return n > 0 ? (ssize_t)take(s, data, size) : n;
}

/* Works like recv. If a send has failed, returns received data before it
 * reports the failure. The server can have sent these data before it closed the
 * connection. */
static ssize_t receive(struct stream *s, char *data, size_t size) {
  size_t got = take(s, data, size);
  if (got == size) return (ssize_t)got;
  errno = EAGAIN;
  ssize_t n = s->is_empty ? -1 : read_more(s, data + got, size - got);
  if (n > 0) return (ssize_t)got + n;
  if (n < 0 && errno != EAGAIN && errno != EWOULDBLOCK) fail(s, errno);
  if (got > 0) return (ssize_t)got;
  if (!s->problem) return n;
  errno = s->problem;
  return -1;
}

static ssize_t not_zookeeper(void) {
  errno = EPROTO;
  return -1;
}

/* Works like recv, for the first bytes from a server: checks that they are
 * ZooKeeper's before it returns them. */
static ssize_t receive_first(struct stream *s, char *data, size_t size) {
  if (stream_unread(s) == 0 && (s->is_empty || read_ahead(s) <= 0))
    return receive(s, data, size);
  int most = handshake_check(s->in + s->in_at, stream_unread(s));
  if (most < 0) return not_zookeeper();
  return receive(s, data,
                 most > 0 && size > (size_t)most ? (size_t)most : size);
}

ssize_t stream_recv(int fd, void *data, size_t size, int flags) {
  struct stream *s = stream_of(fd);
  if (s && s->secure.link)
    return handshake_is_expected(fd) ? receive_first(s, data, size)
                                     : receive(s, data, size);
  int most = handshake_peek(fd);
  if (most < 0) return not_zookeeper();
  if (most > 0) /* these bytes are not in the buffer */
    return recv(fd, data, size < (size_t)most ? size : (size_t)most, flags);
  return s && !flags ? receive(s, data, size) : recv(fd, data, size, flags);
}

/* Polling. */

/* Returns which of `events` can be reported without polling the socket. */
static short ready(const struct stream *s, short events) {
  return (short)((stream_has_input(s) ? events & POLLIN : 0) |
                 (stream_wants_write(s) ? 0 : events & POLLOUT));
}

/* Works like poll. Meanwhile also sends buffered output, even if the library
 * waits only for input. */
static int poll_stream(struct stream *s, struct pollfd *asked, int timeout) {
  int64_t deadline =
      timeout < 0 ? INT64_MAX : clock_now() + timeout * INT64_C(1000000);
  stream_flush(s);
  for (;;) {
    asked->revents = ready(s, asked->events);
    if (asked->revents) return 1;
    struct pollfd p = *asked;
    if (stream_wants_write(s)) p.events |= POLLOUT;
    fork_asleep();
    int n = clock_poll(NULL, &p, 1, deadline);
    fork_awake();
    if (n <= 0) return n;
    stream_allow_reads(s);
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

static void send_last(struct stream *s) {
  stream_flush(s);
  if (s->secure.link) secure_send_closure(&s->secure, s->fd);
}

void stream_end(struct stream *s) {
  send_last(s);
  fail(s, EPIPE);
}

/* Keeps errno, because the library calls close after an error and then reports
 * errno as the reason. */
int stream_close(int fd) {
  int problem = errno;
  struct stream *s = stream_of(fd);
  if (s) {
    send_last(s);
    stream_reset(s);
  }
  errno = problem;
  return close(fd);
}
