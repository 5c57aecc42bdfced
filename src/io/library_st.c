/* `st`: our thread turns the library, and its state is always known.  A handle
 * is given one address and makes one attempt: it connects in library_open,
 * and when its socket has gone it is not turned any more.  What the library
 * does meanwhile may hold locks of the C library's: for the sake of a fork's
 * child it passes the gate (fork.h). */
#include "library_backend.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "clock.h"
#include "library_codes.h"
#include "stream.h"

/* So many turns without anything read, though there is something: more than
 * bytes that come one by one make. */
#define IDLE_MAX 100

/* (i) the I/O thread, as all that is here */
struct backend {
  int fd;        /* (i) the socket; the library's, so ask for its state first */
  int64_t due;   /* (i) when it wants to be turned */
  bool answered; /* (i) a request that was sent behind the credentials */
  int unread;    /* (i) bytes, after the last turn that read nothing */
  int idle;      /* (i) such turns in a row, with never fewer of them */
  struct stream stream; /* (i) of `fd`, where there are streams */
};

const char *backend_name(void) { return "st"; }
bool backend_tries_all(void) { return false; }
bool backend_has_threads(void) { return false; }

static void reset(struct backend *b) {
  b->fd = -1;
  b->due = INT64_MAX;
  b->answered = false;
  b->unread = b->idle = 0;
  stream_reset(&b->stream);
}

struct backend *backend_new(void) {
  struct backend *b = malloc(sizeof *b);
  if (b) reset(b);
  return b;
}

/* (What the library says is for its authors; what matters we know ourselves.)
 */
static void on_log(const char *message) { (void)message; }

log_callback_fn backend_log(struct library *l, const char *addresses) {
  (void)l;
  (void)addresses;
  return on_log;
}

/* Has it the socket that `fd` is?  The library closes it whenever it likes,
 * and then the number may be anybody's. */
static bool has_socket(const struct library *l) {
  int state = zoo_state(l->handle);
  return state == ZOO_CONNECTING_STATE || state == ZOO_ASSOCIATING_STATE ||
         state == ZOO_CONNECTED_STATE;
}

/* An attempt begins where there is no socket. */
static void turn(struct library *l, short *events) {
  struct backend *b = l->backend;
  int interest = 0;
  struct timeval tv = {0, 0};
  int64_t now = clock_now();
  bool is_new = b->fd < 0;
  errno = 0;
  int rc = zookeeper_interest(l->handle, &b->fd, &interest, &tv);
  if (rc != ZOK) {
    if (code_is_error(rc))
      handle_tell_error(l, l->server,
                        code_failure_words(errno, rc, l->connected));
    return;
  }
  if (is_new && b->fd >= 0) fcntl(b->fd, F_SETFD, FD_CLOEXEC);
  *events = (short)((interest & ZOOKEEPER_READ ? POLLIN : 0) |
                    (interest & ZOOKEEPER_WRITE ? POLLOUT : 0));
  stream_flush(&b->stream); /* (it may have sent a ping) */
  if (stream_is_waiting(&b->stream)) *events |= POLLOUT;
  b->due = now + (int64_t)tv.tv_sec * 1000 * MILLISECOND +
           (int64_t)tv.tv_usec * 1000;
}

void backend_opened(struct library *l) {
  short events;
  stream_use(&l->backend->stream);
  turn(l, &events);
}

void backend_close(struct library *l) {
  handle_close(l);
  stream_use(NULL);
  reset(l->backend);
}

static void end(struct library *l, enum library_end how) {
  how = handle_end(l, how);
  handle_tell_lost(l);
  backend_close(l);
  l->listener.over(l->listener.self, how);
}

void backend_greeted(struct library *l, const clientid_t *id) {
  struct identity *identity = &l->inbox.greeting.identity;
  identity->session = id->client_id;
  memcpy(identity->password, id->passwd, sizeof identity->password);
}

static void on_answer(int rc, const struct Stat *stat, const void *data) {
  struct library *l = (struct library *)data;
  (void)stat;
  l->backend->answered = code_is_answer(rc);
  l->stranger |= code_wants_auth(rc);
}

void backend_connected(struct library *l) {
  if (l->settings->credential_count > 0)
    zoo_aexists(l->handle, "/", 0, on_answer, l);
}

/* A request that finds the connection broken makes the library close it and
 * tell nobody; and an attempt that fails is told to nobody, either. */
void backend_look(struct library *l) {
  int state = zoo_state(l->handle);
  if (state == ZOO_EXPIRED_SESSION_STATE)
    end(l, LIBRARY_EXPIRED);
  else if (state == ZOO_AUTH_FAILED_STATE)
    end(l, LIBRARY_REFUSED);
  else if (l->parting || l->stranger || !has_socket(l))
    backend_part(l);
  else if (l->backend->answered)
    handle_tell_accepted(l);
  l->backend->answered = false;
}

/* A server that is told nothing but that the connection has gone keeps the
 * session; the library would end it. */
void backend_abandon(struct library *l) {
  if (zoo_state(l->handle) == ZOO_CONNECTED_STATE) {
    stream_end(&l->backend->stream);
    shutdown(l->backend->fd, SHUT_RDWR);
  }
  end(l, LIBRARY_LOST);
}

void backend_part(struct library *l) { backend_abandon(l); }

/* A socket that is closed with replies unread is reset, and a reset discards
 * what the server has not yet read: our farewell, too, and the session lives
 * on until its timeout.  A duplicate keeps the socket open until the server
 * closes it, which is its answer to the farewell. */
void backend_farewell(struct library *l) {
  char rest[4096];
  int64_t deadline = clock_now() + FAREWELL;
  struct pollfd p = {.fd = -1, .events = POLLIN};
  if (zoo_state(l->handle) == ZOO_CONNECTED_STATE)
    p.fd = fcntl(l->backend->fd, F_DUPFD_CLOEXEC, 0);
  backend_close(l);
  while (p.fd >= 0) {
    if (clock_poll(NULL, &p, 1, deadline) <= 0) break;
    ssize_t n = read(p.fd, rest, sizeof rest);
    if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) break;
  }
  if (p.fd >= 0) close(p.fd);
}

int64_t backend_prepare(struct library *l, int *fd, short *events) {
  if (has_socket(l)) turn(l, events);
  /* What has been reported must be told before we sleep.  (Only this thread
   * fills the inbox.) */
  if (l->inbox.first || l->inbox.overflow || !has_socket(l)) return 0;
  *fd = l->backend->fd;
  return stream_has_news(&l->backend->stream) ? 0 : l->backend->due;
}

/* For a frame of a length below zero the library never reads a byte, and would
 * keep us turning until it misses the server's answers. */
static bool is_stuck(struct backend *b) {
  int unread = 0;
  if (ioctl(b->fd, FIONREAD, &unread) != 0) unread = 0;
  unread += (int)stream_unread(&b->stream);
  b->idle = unread > 0 && unread >= b->unread ? b->idle + 1 : 0;
  b->unread = unread;
  return b->idle > IDLE_MAX;
}

void backend_process(struct library *l, short events) {
  struct stream *stream = &l->backend->stream;
  if (stream_has_news(stream)) events |= POLLIN;
  if (!events || !has_socket(l)) return;
  if (events & POLLOUT) stream_flush(stream);
  stream_look_again(stream);
  int what = (events & (POLLIN | POLLHUP | POLLERR) ? ZOOKEEPER_READ : 0) |
             (events & (POLLOUT | POLLHUP | POLLERR) ? ZOOKEEPER_WRITE : 0);
  errno = 0;
  int rc = zookeeper_process(l->handle, what);
  if (rc == ZNOTHING && (what & ZOOKEEPER_READ) && is_stuck(l->backend)) {
    handle_tell_error(l, l->server, "it has sent what cannot be read");
    l->parting = true; /* as soon as what has come is told */
  }
  /* One call reads one packet: go on while there are any. */
  for (int i = 0; rc == ZOK && (what & ZOOKEEPER_READ) && i < 256; i++)
    rc = zookeeper_process(l->handle, ZOOKEEPER_READ);
  if (code_is_error(rc))
    handle_tell_error(l, l->server,
                      code_failure_words(errno, rc, l->connected));
}
