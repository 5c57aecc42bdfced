#include "secure.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "handshake.h"

#ifndef MSG_NOSIGNAL
#define MSG_NOSIGNAL 0
#endif

/* One call of secure_recv reads at most PIECES pieces of PIECE bytes from the
 * socket. Otherwise a server that sends without a pause could keep the thread
 * busy. */
enum { PIECE = TLS_RECORD, PIECES = 64 };
/* By KeyUpdate messages of TLS, a server can request replies that it never
 * reads. UNSENT_MAX limits the memory for such unread replies. */
enum { UNSENT_MAX = 4 * TLS_RECORD };

void secure_begin(struct secure *s, const struct tls_module *module,
                  struct tls_link *link) {
  *s = (struct secure){.module = module, .link = link, .is_drained = true};
}

void secure_end(struct secure *s) {
  if (s->link) s->module->close(s->link);
  *s = (struct secure){0};
}

bool secure_is_refused(const struct secure *s) {
  bool refused = false;
  if (s->link && s->problem == EPROTO) s->module->failure(s->link, &refused);
  return refused;
}

/* The functions below record a failure. Only the first failure is recorded. */

static void fail(struct secure *s, int problem) {
  if (!s->problem) s->problem = problem;
  s->is_drained = false; /* the next read must report the failure */
}

static void fail_tls(struct secure *s) {
  bool refused;
  if (!s->problem) handshake_set_error(s->module->failure(s->link, &refused));
  fail(s, EPROTO);
}

static bool is_temporary(int error) {
  return error == EAGAIN || error == EWOULDBLOCK;
}

/* The socket. */

bool secure_wants_write(const struct secure *s) {
  size_t size = 0;
  if (s->link && s->is_begun) s->module->pending(s->link, &size);
  return size > 0 || (s->link && !s->is_begun);
}

bool secure_flush(struct secure *s, int fd) {
  size_t size;
  for (;;) {
    const char *data = s->module->pending(s->link, &size);
    if (size == 0) return true;
    ssize_t n = send(fd, data, size, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n >= 0)
      s->module->sent(s->link, (size_t)n);
    else if (errno != EINTR)
      return is_temporary(errno);
  }
}

/* Reads the next piece of input from the socket, and passes it to the link.
 * Returns false if there is no input now, or on failure. */
static bool pull(struct secure *s, int fd) {
  char piece[PIECE];
  size_t unsent;
  ssize_t n;
  s->module->pending(s->link, &unsent);
  if (unsent > UNSENT_MAX) {
    handshake_set_error("the server asks for replies of TLS and reads none");
    fail(s, EPROTO);
    return false;
  }
  do n = recv(fd, piece, sizeof piece, MSG_DONTWAIT);
  while (n < 0 && errno == EINTR);
  if (n == 0) s->is_over = true;
  if (n == 0 || (n < 0 && is_temporary(errno))) return false;
  if (n < 0) {
    fail(s, errno);
    return false;
  }
  if (!s->has_received && !handshake_is_tls(piece, (size_t)n)) {
    handshake_set_plain_error(piece, (size_t)n);
    fail(s, EPROTO);
    return false;
  }
  s->has_received = true;
  if (s->module->feed(s->link, piece, (size_t)n)) return true;
  fail(s, ENOMEM);
  return false;
}

/* Records that a send has failed. First reads the server's unread bytes,
 * because an alert among them can say why the server has closed the
 * connection. */
static void find_reason(struct secure *s, int fd) {
  int error = errno;
  for (int i = 0; i < PIECES && pull(s, fd); i++) continue;
  if (s->has_received && s->module->look(s->link) == TLS_FAILED) fail_tls(s);
  fail(s, error);
  errno = s->problem;
}

/* The handshake. */

static void say_closed(struct secure *s) {
  handshake_set_error(
      s->has_received
          ? "the server closed the connection during the TLS handshake"
          : "the server closed the connection at the beginning of the TLS "
            "handshake: it is starting, or has maxClientCnxns connections from "
            "this address, or speaks no TLS on this port");
  fail(s, EPROTO);
}

static enum tls_state shake(struct secure *s, int fd) {
  for (int i = 0; i < PIECES; i++) {
    enum tls_state state = s->module->handshake(s->link);
    if (state == TLS_FAILED) fail_tls(s);
    if (!secure_flush(s, fd)) find_reason(s, fd); /* this also sends alerts */
    if (s->problem) return TLS_FAILED;
    if (state == TLS_DONE) return state;
    if (pull(s, fd)) continue;
    if (s->is_over) say_closed(s);
    if (!s->problem) return TLS_WAITS;
  }
  return s->problem ? TLS_FAILED : TLS_WAITS;
}

enum tls_state secure_handshake(struct secure *s, int fd) {
  s->is_begun = true;
  enum tls_state state = shake(s, fd);
  s->is_established = state == TLS_DONE;
  if (state == TLS_FAILED && s->problem != EPROTO)
    handshake_set_error(strerror(s->problem));
  return state;
}

/* Data. */

static ssize_t failed(const struct secure *s) {
  errno = s->problem;
  return -1;
}

ssize_t secure_send(struct secure *s, int fd, const void *data, size_t size) {
  if (s->problem) return failed(s);
  if (!secure_flush(s, fd)) {
    find_reason(s, fd);
    return failed(s);
  }
  if (secure_wants_write(s)) {
    errno = EAGAIN;
    return -1;
  }
  if (size > TLS_RECORD) size = TLS_RECORD;
  if (s->module->send(s->link, data, size) != TLS_DONE) {
    fail_tls(s);
    return failed(s);
  }
  if (secure_flush(s, fd)) return (ssize_t)size;
  find_reason(s, fd);
  return failed(s);
}

/* Receives and decrypts data. A connection that ends without a closure alert
 * counts as closed, not as failed. That is safe, because each packet of
 * ZooKeeper begins with its length. So the library does not take a truncated
 * packet for a whole one. */
ssize_t secure_recv(struct secure *s, int fd, void *data, size_t size) {
  size_t got = 0;
  bool dry = false;
  for (int i = 0; got < size && i < PIECES && !dry && !s->problem;) {
    size_t n = 0;
    enum tls_state state =
        s->module->receive(s->link, (char *)data + got, size - got, &n);
    got += n;
    if (state == TLS_FAILED) fail_tls(s);
    if (state == TLS_ENDED) s->is_over = true;
    if (state == TLS_ENDED) break;
    if (state == TLS_WAITS && !s->is_over && pull(s, fd))
      i++;
    else if (state == TLS_WAITS)
      dry = true;
  }
  s->is_drained = dry && !s->is_over && !s->problem;
  secure_flush(s, fd); /* sends TLS's own replies, if there are any */
  if (got > 0) return (ssize_t)got;
  if (s->problem) return failed(s);
  if (s->is_over) return 0;
  errno = EAGAIN;
  return -1;
}

void secure_send_closure(struct secure *s, int fd) {
  if (!s->is_established || s->problem) return;
  s->module->closure(s->link);
  secure_flush(s, fd);
}
