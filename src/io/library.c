/* Opens and closes handles of the client library, runs the current handle, and
 * passes its reports to the listener. A handle has one address and makes one
 * attempt to connect. When the handle's socket is closed, zklock does not use
 * the handle any more. */
#include "library.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "clock.h"
#include "fork.h"
#include "handshake.h"
#include "imports.h"
#include "library_codes.h"
#include "library_handle.h"

/* The longest wait until a server has received the request to close the
 * session. */
#define END_TIMEOUT (1500 * MILLISECOND)
/* The library counts as stuck after more than IDLE_MAX idle passes in a row. A
 * pass is idle if the library has read none of the bytes that have arrived.
 * Even bytes that arrive one by one cause fewer idle passes in a row. */
#define IDLE_MAX 100

/* The shortest session timeout that zklock accepts. A server that grants a
 * shorter one counts as broken. */
#define SHORTEST (10 * MILLISECOND)

/* Returns whether zklock's calls are bound to the library whose zookeeper_init2
 * is at the address `own`. Returns true if `own` is NULL. Kept out of
 * library_bind: there, the compiler could load the address of zookeeper_init2
 * before imports_replace has changed it. */
__attribute__((noinline)) static bool is_bound(const void *own) {
  return !own || own == (const void *)(uintptr_t)zookeeper_init2;
}

bool library_bind(void *module) {
  static const char any[] = "zookeeper_init2";
  imports_replace(module, any);
  return is_bound(dlsym(module, any));
}

struct library *library_new(const struct settings *settings,
                            const struct library_listener *listener,
                            void *self) {
  struct library *l = handle_new(settings);
  if (!l) return NULL;
  l->listener = listener;
  l->self = self;
  return l;
}

void library_free(struct library *l) { handle_free(l); }

/* Reports `text` as the reason why there is no connection to the handle's
 * server. */
static void report_error(struct library *l, const char *text) {
  l->listener->error(l->self, l->server, text);
}

/* The end of a handle. */

/* Returns whether `l->fd` is still the handle's socket. The client library can
 * close the socket at any time. Then another file of the process can get the
 * same number. */
static bool has_socket(const struct library *l) {
  int state = zoo_state(l->handle);
  return state == ZOO_CONNECTING_STATE || state == ZOO_ASSOCIATING_STATE ||
         state == ZOO_CONNECTED_STATE;
}

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

static void close_handle(struct library *l) {
  if (l->handle) zookeeper_close(l->handle);
  l->handle = NULL;
  stream_use(NULL);
  handle_reset(l);
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
void library_disconnect(struct library *l) {
  enum library_end how = how_it_ended(l);
  if (zoo_state(l->handle) == ZOO_CONNECTED_STATE) {
    stream_end(&l->stream);
    shutdown(l->fd, SHUT_RDWR);
  }
  close_handle(l);
  l->listener->over(l->self, how);
}

/* Ends the handle if its connection has ended. The check is needed because the
 * library does not report every end. It reports neither a failed attempt, nor a
 * connection that it finds broken when it sends a request. */
static void check_end(struct library *l) {
  if (l->must_end || l->auth_required || !has_socket(l)) {
    library_disconnect(l);
    return;
  }
  if (l->answered && l->connected) l->listener->accepted(l->self);
  l->answered = false;
}

/* Closes the handle and waits until the server has received the request to
 * close the session. If a socket is closed while it has unread replies, the
 * system resets the connection. A reset discards bytes that the server has not
 * read yet. If the request to close the session were among them, the session
 * would live until its timeout. So a duplicate descriptor keeps the socket open
 * until the server closes the connection. The server closes it after it has
 * received the request. */
void library_close(struct library *l) {
  char rest[4096];
  int64_t deadline = clock_now() + END_TIMEOUT;
  struct pollfd p = {.fd = -1, .events = POLLIN};
  library_current = l;
  if (l->handle && zoo_state(l->handle) == ZOO_CONNECTED_STATE)
    p.fd = fcntl(l->fd, F_DUPFD_CLOEXEC, 0);
  close_handle(l);
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

/* The beginning of a handle. */

static void report_failure(struct library *l, int rc) {
  if (code_is_error(rc))
    report_error(l, code_failure_text(errno, rc, l->connected,
                                      l->stream.secure.link));
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

static void warn_old_certificates(struct library *l, const char *problem) {
  char text[TLS_TEXT + 60];
  snprintf(text, sizeof text, "%s: TLS goes on with what was read before",
           problem);
  l->listener->warning(l->self, text);
}

static bool secure(struct library *l, const char *names) {
  char problem[TLS_TEXT];
  const struct tls_module *module = l->settings->tls.module;
  if (!module) return true;
  struct tls_link *link = certificates_link(&l->certificates, names, problem);
  if (!link)
    report_error(l, problem);
  else if (*problem)
    warn_old_certificates(l, problem);
  stream_secure(&l->stream, module, link);
  return link;
}

/* Drops the messages of the client library's log, because they are for the
 * library's developers. zklock reports errors itself. */
static void on_log(const char *message) { (void)message; }

/* Switches off the client library's random order of servers. To choose that
 * order, the library would seed random(), which belongs to the whole
 * process. */
static void prepare(void) { zoo_deterministic_conn_order(1); }

static zhandle_t *make_handle(struct library *l,
                              const struct identity *identity) {
  clientid_t id = {.client_id = identity->session};
  _Static_assert(sizeof id.passwd == sizeof identity->password, "as it has");
  memcpy(id.passwd, identity->password, sizeof id.passwd);
  return zookeeper_init2(l->server, requests_on_event,
                         l->settings->session_timeout_ms,
                         identity->session ? &id : NULL, l,
                         ZOO_NO_LOG_CLIENTENV, on_log);
}

/* Adds the credentials to the handle. The library sends them at the start of
 * each connection, before any request. So the reply to a later request proves
 * that the server has accepted all of them. The callbacks of zoo_add_auth would
 * prove nothing, because the first reply, or a failed attempt, calls all of
 * them. */
static bool authenticate(struct library *l) {
  const struct settings *settings = l->settings;
  for (int i = 0; i < settings->credential_count; i++) {
    const struct credential *c = &settings->credentials[i];
    if (zoo_add_auth(l->handle, c->scheme, c->secret, (int)c->size, NULL,
                     NULL) != ZOK)
      return false;
  }
  return true;
}

bool library_open(struct library *l, const char *address, const char *names,
                  const struct identity *identity) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  short events;
  pthread_once(&once, prepare);
  library_current = l;
  snprintf(l->server, sizeof l->server, "%s", address);
  if (!secure(l, names)) return false;
  errno = 0;
  l->handle = make_handle(l, identity);
  if (!l->handle || !authenticate(l)) {
    report_error(l, strerror(errno ? errno : ENOMEM));
    close_handle(l);
    return false;
  }
  /* Stops the library from resolving the server's address again in each call. A
   * lookup that fails would stop the library's pings (ZOOKEEPER-1998). */
  zoo_set_servers_resolution_delay(l->handle, -1);
  stream_use(&l->stream);
  run_library(l, &events);
  return true;
}

bool library_is_in_handshake(const struct library *l) {
  return stream_is_in_handshake(&l->stream);
}

bool library_is_open(const struct library *l) { return l->handle; }

/* Reports to the listener. */

static void report_false_reply(struct library *l, const char *fault) {
  char text[200];
  snprintf(text, sizeof text, "it has sent an answer that cannot be true: %s",
           fault);
  report_error(l, text);
}

static void on_answer(int rc, const struct Stat *stat, const void *data) {
  struct library *l = (struct library *)data;
  (void)stat;
  l->answered = code_is_answer(rc);
  l->auth_required |= rc == REPLY_AUTH_REQUIRED;
}

/* If there are credentials, sends a first request, whose reply shows that the
 * server has accepted them. Called when a server has accepted the
 * connection. */
static void greet(struct library *l) {
  if (l->settings->credential_count > 0)
    zoo_aexists(l->handle, "/", 0, on_answer, l);
}

static void report_connected(struct library *l) {
  const clientid_t *id = zoo_client_id(l->handle);
  struct identity identity = {.session = id->client_id};
  int64_t timeout = zoo_recv_timeout(l->handle) * MILLISECOND;
  memcpy(identity.password, id->passwd, sizeof identity.password);
  if (identity.session == 0 ||
      timeout < SHORTEST) { /* the client library accepts any timeout */
    report_error(l, "it grants no session");
    library_disconnect(l);
    return;
  }
  l->connected = true;
  answers_begin(&l->answers, identity.session);
  greet(l);
  l->listener->connected(l->self, &identity, timeout);
}

static void report_reply(struct library *l, const struct incident *incident) {
  const char *fault = answers_check(&l->answers, incident);
  if (!l->connected) return;
  if (fault) report_false_reply(l, fault);
  if (fault || code_is_unknown(incident->code) ||
      code_ends_connection(incident->code)) {
    library_disconnect(l);
    return;
  }
  l->listener->reply(l->self, incident->serial, &incident->reply);
  if (incident->code != REPLY_AUTH_REQUIRED || !l->connected) return;
  l->auth_required = true;
  library_disconnect(l);
}

/* Handles a state change that the client library reports. The first change is
 * the start of the connection, the second its end. A second start can only come
 * from a server that forged a session event. So this function then reports a
 * false reply and ends the connection. */
static void report_state(struct library *l, int state) {
  if (state == ZOO_CONNECTED_STATE && l->connected)
    report_false_reply(
        l, "a session event that only the client library may report");
  if (l->connected)
    library_disconnect(l);
  else if (state == ZOO_CONNECTED_STATE)
    report_connected(l);
}

static void report(struct library *l, const struct incident *incident) {
  int code = incident->code;
  if (!l->handle) return; /* the handle was closed in the meantime */
  switch (incident->kind) {
    case INCIDENT_REPLY:
      report_reply(l, incident);
      break;
    case INCIDENT_WATCH:
      if (!l->connected) return;
      l->listener->event(l->self,
                         code == ZOO_DELETED_EVENT ? WATCH_DELETED
                         : code == ZOO_CHILD_EVENT ? WATCH_CHILDREN
                                                   : WATCH_CHANGED,
                         incident->text);
      break;
    case INCIDENT_STATE:
      report_state(l, code);
  }
}

/* Takes all incidents (reports of the client library) out of the inbox, then
 * passes each to the listener. A callback of the listener can close the handle,
 * and then the later incidents are skipped. If incidents were dropped for lack
 * of memory, ends the connection, because zklock does not know what it has
 * missed. The protocol reads all state again in the next connection. */
void library_deliver(struct library *l) {
  bool overflow;
  struct incident *incident = inbox_take(l, &overflow);
  while (incident) {
    struct incident *next = incident->next;
    report(l, incident);
    incident_free(incident);
    incident = next;
  }
  transactions_free(l, false);
  if (overflow && l->handle) library_disconnect(l);
  if (l->handle) check_end(l);
}

/* Running a handle. */

int64_t library_prepare(struct library *l, int *fd, short *events) {
  library_current = l;
  *fd = -1;
  *events = 0;
  if (!l->handle) return INT64_MAX;
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
  report_error(l, handshake_error());
  l->must_end = true;
}

void library_process(struct library *l, short events) {
  if (!l->handle) return;
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
    report_error(l, "it has sent a malformed packet");
    l->must_end = true;
  }
  /* Repeats the call, because each call reads at most one packet. */
  for (int i = 0; rc == ZOK && (what & ZOOKEEPER_READ) && i < 256; i++)
    rc = zookeeper_process(l->handle, ZOOKEEPER_READ);
  report_failure(l, rc);
}
