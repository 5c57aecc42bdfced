/* Opens and closes the connection of a handle, and runs the handle. A handle
 * has one address and makes one attempt to connect, which begins in
 * library_open. When the handle's socket is closed, zklock does not use the
 * handle any more. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "clock.h"
#include "fork.h"
#include "handshake.h"
#include "library_codes.h"
#include "library_handle.h"

/* The longest wait until a server has received the request to close the
 * session. */
#define END_TIMEOUT (1500 * MILLISECOND)
/* The library counts as stuck after more than IDLE_MAX idle passes in a row. A
 * pass is idle if the library has read none of the bytes that have arrived.
 * Even bytes that arrive one by one cause fewer idle passes in a row. */
#define IDLE_MAX 100

void connection_init(struct library *l) {
  l->connected = l->must_end = l->auth_required = l->answered = false;
  l->fd = -1;
  l->due = INT64_MAX;
  l->unread = l->idle = 0;
  stream_reset(&l->stream);
  stream_secure(&l->stream, NULL, NULL);
}

/* Returns whether `l->fd` is still the handle's socket. The client library can
 * close the socket at any time. Then another file of the process can get the
 * same number. */
static bool has_socket(const struct library *l) {
  int state = zoo_state(l->handle);
  return state == ZOO_CONNECTING_STATE || state == ZOO_ASSOCIATING_STATE ||
         state == ZOO_CONNECTED_STATE;
}

static void report_failure(struct library *l, int rc) {
  if (code_is_error(rc))
    handle_report_error(l, code_failure_text(errno, rc, l->connected,
                                             l->stream.secure.link));
}

static void warn_old_certificates(struct library *l, const char *problem) {
  char text[TLS_TEXT + 60];
  snprintf(text, sizeof text, "%s: TLS goes on with what was read before",
           problem);
  l->listener.warning(l->listener.self, text);
}

/* Runs the library's actions that need no input. The library connects if it has
 * no socket yet, and sends pings. Sets `*events` to the events to poll for, and
 * `l->due` to the time of the next call. */
static void run_library(struct library *l, short *events) {
  int interest = 0;
  struct timeval tv = {0, 0};
  int64_t now = clock_now();
  bool is_new = l->fd < 0;
  errno = 0;
  int rc = zookeeper_interest(l->handle, &l->fd, &interest, &tv);
  if (rc != ZOK) {
    report_failure(l, rc);
    return;
  }
  if (is_new && l->fd >= 0) fcntl(l->fd, F_SETFD, FD_CLOEXEC);
  *events = (short)((interest & ZOOKEEPER_READ ? POLLIN : 0) |
                    (interest & ZOOKEEPER_WRITE ? POLLOUT : 0));
  stream_flush(&l->stream); /* sends a ping that the library has written */
  if (stream_is_in_handshake(&l->stream)) *events = POLLIN;
  if (stream_wants_write(&l->stream)) *events |= POLLOUT;
  l->due = now + (int64_t)tv.tv_sec * 1000 * MILLISECOND +
           (int64_t)tv.tv_usec * 1000;
}

bool connection_secure(struct library *l, const char *names) {
  char problem[TLS_TEXT];
  const struct tls_module *module = l->settings->tls.module;
  if (!module) return true;
  struct tls_link *link = certificates_link(&l->certificates, names, problem);
  if (!link)
    handle_report_error(l, problem);
  else if (*problem)
    warn_old_certificates(l, problem);
  stream_secure(&l->stream, module, link);
  return link;
}

void connection_begin(struct library *l) {
  short events;
  stream_use(&l->stream);
  run_library(l, &events);
}

static void on_answer(int rc, const struct Stat *stat, const void *data) {
  struct library *l = (struct library *)data;
  (void)stat;
  l->answered = code_is_answer(rc);
  l->auth_required |= code_requires_auth(rc);
}

void connection_greeted(struct library *l) {
  if (l->settings->credential_count > 0)
    zoo_aexists(l->handle, "/", 0, on_answer, l);
}

/* The end of a connection. */

/* Frees the reports in the inbox. Called after the handle was closed. */
static void discard_inbox(struct library *l) {
  bool overflow;
  struct incident *incident = inbox_take(l, &overflow);
  while (incident) {
    struct incident *next = incident->next;
    incident_free(incident);
    incident = next;
  }
}

void connection_close(struct library *l) {
  if (l->handle) zookeeper_close(l->handle);
  l->handle = NULL;
  stream_use(NULL);
  connection_init(l);
  transactions_free(l, true);
  answers_begin(&l->answers, 0);
  discard_inbox(l);
}

static enum library_end how_it_ended(const struct library *l) {
  int state = zoo_state(l->handle);
  if (state == ZOO_EXPIRED_SESSION_STATE) return LIBRARY_EXPIRED;
  if (state == ZOO_AUTH_FAILED_STATE) return LIBRARY_REFUSED;
  if (secure_is_refused(&l->stream.secure)) return LIBRARY_CERTIFICATE_REFUSED;
  return l->auth_required ? LIBRARY_AUTH_REQUIRED : LIBRARY_LOST;
}

/* Closes the handle and reports how it ended, but keeps the ZooKeeper session.
 * First shuts the socket down. Otherwise the library would end the ZooKeeper
 * session when it closes a connected handle. A server that only loses the
 * connection keeps the session. */
void connection_end(struct library *l) {
  enum library_end how = how_it_ended(l);
  if (zoo_state(l->handle) == ZOO_CONNECTED_STATE) {
    stream_end(&l->stream);
    shutdown(l->fd, SHUT_RDWR);
  }
  connection_close(l);
  l->listener.over(l->listener.self, how);
}

/* Ends the handle if its connection has ended. The check is needed because the
 * library does not report every end. It reports neither a failed attempt, nor a
 * connection that it finds broken when it sends a request. */
void connection_check_end(struct library *l) {
  if (l->must_end || l->auth_required || !has_socket(l)) {
    connection_end(l);
    return;
  }
  if (l->answered && l->connected) l->listener.accepted(l->listener.self);
  l->answered = false;
}

/* Closes the handle and waits until the server has received the request to
 * close the session. If a socket is closed while it has unread replies, the
 * system resets the connection. A reset discards bytes that the server has not
 * read yet. If the request to close the session were among them, the session
 * would live until its timeout. So a duplicate descriptor keeps the socket open
 * until the server closes the connection. The server closes it after it has
 * received the request. */
void connection_end_session(struct library *l) {
  char rest[4096];
  int64_t deadline = clock_now() + END_TIMEOUT;
  struct pollfd p = {.fd = -1, .events = POLLIN};
  if (zoo_state(l->handle) == ZOO_CONNECTED_STATE)
    p.fd = fcntl(l->fd, F_DUPFD_CLOEXEC, 0);
  connection_close(l);
  while (p.fd >= 0) {
    fork_asleep();
    int ready = clock_poll(NULL, &p, 1, deadline);
    fork_awake();
    if (ready <= 0) break;
    ssize_t n = read(p.fd, rest, sizeof rest);
    if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) break;
  }
  if (p.fd >= 0) close(p.fd);
}

/* Running a handle. */

int64_t connection_prepare(struct library *l, int *fd, short *events) {
  if (has_socket(l)) run_library(l, events);
  /* Returns 0, so that poll returns at once, if the inbox has reports. The
   * thread must deliver them before it sleeps. */
  if (l->first || l->overflow || !has_socket(l)) return 0;
  *fd = l->fd;
  return stream_has_input(&l->stream) ? 0 : l->due;
}

/* Returns whether the client library is stuck. After a packet with a negative
 * length, the library never reads again. The socket stays readable. So the I/O
 * thread would spin until the library notices that the server's replies are
 * missing. */
static bool is_stuck(struct library *l) {
  int unread = 0;
  if (ioctl(l->fd, FIONREAD, &unread) != 0) unread = 0;
  unread += (int)stream_unread(&l->stream);
  l->idle = unread > 0 && unread >= l->unread ? l->idle + 1 : 0;
  l->unread = unread;
  return l->idle > IDLE_MAX;
}

/* Continues the TLS handshake. The client library must not run before the
 * handshake is done: it would take the writable socket for an established
 * connection. */
static void continue_handshake(struct library *l) {
  if (stream_handshake(&l->stream) != TLS_FAILED) return;
  handle_report_error(l, handshake_error());
  l->must_end = true;
}

void connection_process(struct library *l, short events) {
  if (stream_has_input(&l->stream)) events |= POLLIN;
  if (!events || !has_socket(l)) return;
  if (stream_is_in_handshake(&l->stream)) {
    continue_handshake(l);
    return;
  }
  if (events & POLLOUT) stream_flush(&l->stream);
  stream_allow_reads(&l->stream);
  int what = (events & (POLLIN | POLLHUP | POLLERR) ? ZOOKEEPER_READ : 0) |
             (events & (POLLOUT | POLLHUP | POLLERR) ? ZOOKEEPER_WRITE : 0);
  errno = 0;
  int rc = zookeeper_process(l->handle, what);
  if (rc == ZNOTHING && (what & ZOOKEEPER_READ) && is_stuck(l)) {
    handle_report_error(l, "it has sent a malformed packet");
    l->must_end = true;
  }
  /* Repeats the call, because each call reads at most one packet. */
  for (int i = 0; rc == ZOK && (what & ZOOKEEPER_READ) && i < 256; i++)
    rc = zookeeper_process(l->handle, ZOOKEEPER_READ);
  report_failure(l, rc);
}
