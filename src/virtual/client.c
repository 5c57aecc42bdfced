/* The handles of the client library: connecting, pings, arrivals, and
 * closing. */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arena.h"
#include "client_inside.h"
#include "schedule.h"
#include "trace.h"

#define MILLISECOND INT64_C(1000000)

/* ---- The end of a connection --------------------------------------------- */

static bool is_beyond_help(const zhandle_t *zh) {
  return zh->state == ZOO_EXPIRED_SESSION_STATE ||
         zh->state == ZOO_AUTH_FAILED_STATE;
}

/* Called when the connection has failed. Closes it, calls the watcher, and
 * completes all outstanding requests with the error `rc`. Returns `rc`, and
 * sets errno to `problem`. */
static int fail(zhandle_t *zh, int rc, int problem) {
  bool was_connected = client_is_connected(zh);
  trace(schedule_now(), "client %d gives its connection up: %d", zh->number,
        rc);
  if (zh->line) line_close(zh->line);
  zh->line = NULL;
  if (is_beyond_help(zh))
    client_tell_state(zh, zh->state);
  else if (was_connected)
    client_tell_state(zh, ZOO_CONNECTING_STATE);
  client_answer_all(zh, rc);
  if (!is_beyond_help(zh)) zh->state = ZOO_NOTCONNECTED_STATE;
  errno = problem;
  return rc;
}

/* ---- Time ---------------------------------------------------------------- */

static int connect_now(zhandle_t *zh) {
  struct zk_hello hello = {.session = zh->id.client_id,
                           .timeout_ms = zh->recv_timeout,
                           .client = schedule_self()->number};
  memcpy(hello.password, zh->id.passwd, sizeof hello.password);
  zh->last_sent = zh->last_received = schedule_now();
  zh->line = line_open(zh->address, &hello);
  trace(schedule_now(), "client %d connects to %s%s", zh->number, zh->address,
        zh->line ? "" : ": refused");
  if (zh->line) {
    zh->state = ZOO_CONNECTING_STATE;
    return ZOK;
  }
  int problem = errno;
  return fail(zh, problem == ECONNREFUSED ? ZCONNECTIONLOSS : ZSYSTEMERROR,
              problem);
}

static int64_t since(int64_t moment) {
  return (schedule_now() - moment) / MILLISECOND;
}

static struct timeval time_of(int64_t milliseconds) {
  if (milliseconds < 0) milliseconds = 0;
  return (struct timeval){.tv_sec = milliseconds / 1000,
                          .tv_usec = milliseconds % 1000 * 1000};
}

/* Connects the handle if it has no connection. If no message has arrived for
 * two thirds of the session timeout, closes the connection. Sends a ping if all
 * requests are answered and the handle has sent nothing for a third of the
 * timeout. */
int zookeeper_interest(zhandle_t *zh, int *fd, int *interest,
                       struct timeval *tv) {
  *fd = -1;
  *interest = 0;
  *tv = time_of(0);
  if (is_beyond_help(zh)) return ZINVALIDSTATE;
  int rc = zh->line ? ZOK : connect_now(zh);
  if (rc != ZOK) return rc;
  if (line_greet(zh->line)) zh->state = ZOO_ASSOCIATING_STATE;
  int64_t left = (int64_t)zh->recv_timeout * 2 / 3 - since(zh->last_received);
  int64_t third = zh->recv_timeout / 3;
  if (left <= 0) return fail(zh, ZOPERATIONTIMEOUT, ETIMEDOUT);
  if (client_is_connected(zh)) {
    int64_t quiet = third - since(zh->last_sent);
    if (quiet <= 0 && !zh->first)
      client_send(zh, &(struct zk_request){.xid = XID_PING, .op = ZK_PING});
    if (quiet <= 0) quiet = third;
    if (quiet < left) left = quiet;
  }
  *fd = zh->line->client_fd;
  *interest = ZOOKEEPER_READ;
  *tv = time_of(left);
  return ZOK;
}

/* ---- Arrivals ------------------------------------------------------------ */

const struct zk_reply *(*client_lie)(const struct outstanding *asked,
                                     const struct zk_reply *reply,
                                     struct arena *arena);

static int greet(zhandle_t *zh, const struct zk_session *session) {
  if (zh->id.client_id != 0 && session->id != zh->id.client_id) {
    zh->state = ZOO_EXPIRED_SESSION_STATE;
    return fail(zh, ZSESSIONEXPIRED, ESTALE);
  }
  zh->id.client_id = session->id;
  memcpy(zh->id.passwd, session->password, sizeof zh->id.passwd);
  zh->recv_timeout = session->timeout_ms;
  zh->state = ZOO_CONNECTED_STATE;
  for (struct auth *auth = zh->auths; auth; auth = auth->next)
    client_send_auth(zh, auth);
  client_tell_state(zh, zh->state);
  return ZOK;
}

/* Calls the completion (callback) of the request that `reply` answers. A
 * credential (ZK_AUTH) has no completion. If a server refuses the credential,
 * the handle's state becomes ZOO_AUTH_FAILED_STATE. */
static void tell(zhandle_t *zh, const struct zk_reply *reply) {
  if (reply->op != ZK_AUTH)
    client_answer(zh, reply);
  else if (reply->rc != ZOK)
    zh->state = ZOO_AUTH_FAILED_STATE;
}

static int take_reply(zhandle_t *zh, const struct zk_reply *reply) {
  trace(schedule_now(), "client %d has answer %d: %d", zh->number,
        (int)reply->xid, reply->rc);
  if (reply->xid == XID_PING) return ZOK;
  struct outstanding auth = {.op = ZK_AUTH}, *asked = zh->first;
  if (reply->xid == XID_AUTH)
    asked = &auth;
  else if (!asked || asked->xid != reply->xid)
    return fail(zh, ZRUNTIMEINCONSISTENCY, EPROTO);
  struct arena *arena = arena_new();
  struct zk_reply told = client_lie ? *client_lie(asked, reply, arena) : *reply;
  told.op = asked->op;
  tell(zh, &told);
  arena_free(arena);
  return ZOK;
}

static int take_event(zhandle_t *zh, const struct zk_event *event) {
  trace(schedule_now(), "client %d has event %d: %s", zh->number,
        (int)event->type, event->path);
  client_hear(zh, event);
  return ZOK;
}

static int take(zhandle_t *zh, const struct arrival *arrival) {
  zh->last_received = schedule_now();
  switch (arrival->kind) {
    case ARRIVAL_ACCEPTED:
      zh->state = ZOO_ASSOCIATING_STATE;
      return ZOK;
    case ARRIVAL_CONNECTED:
      return greet(zh, &arrival->session);
    case ARRIVAL_REPLY:
      return take_reply(zh, arrival->reply);
    case ARRIVAL_EVENT:
      return take_event(zh, &arrival->event);
    case ARRIVAL_END:
      return fail(zh, ZCONNECTIONLOSS,
                  arrival->end == ZK_REFUSED  ? ECONNREFUSED
                  : arrival->end == ZK_CLOSED ? EHOSTDOWN
                                              : ECONNRESET);
  }
  return ZOK;
}

int zookeeper_process(zhandle_t *zh, int events) {
  if (is_beyond_help(zh) || !zh->line) return ZINVALIDSTATE;
  if (!(events & ZOOKEEPER_READ)) return ZOK;
  struct arrival *arrival = line_read(zh->line);
  if (!arrival)
    return errno == EAGAIN ? ZNOTHING : fail(zh, ZCONNECTIONLOSS, errno);
  int rc = take(zh, arrival);
  int problem = errno;
  arrival_free(arrival);
  errno = problem;
  return rc;
}

/* ---- Opening and closing ------------------------------------------------- */

zhandle_t *zookeeper_init2(const char *host, watcher_fn watcher,
                           int recv_timeout, const clientid_t *id,
                           void *context, int flags, log_callback_fn log) {
  static int numbers;
  (void)flags;
  (void)log;
  if (!host || !strchr(host, ':')) {
    errno = EINVAL;
    return NULL;
  }
  zhandle_t *zh = fresh(sizeof *zh);
  zh->number = ++numbers;
  snprintf(zh->address, sizeof zh->address, "%.*s", (int)strcspn(host, ","),
           host);
  zh->watcher = watcher;
  zh->context = context;
  if (id) zh->id = *id;
  zh->recv_timeout = recv_timeout;
  zh->state = ZOO_NOTCONNECTED_STATE;
  zh->end = &zh->first;
  return zh;
}

int zookeeper_close(zhandle_t *zh) {
  if (client_is_connected(zh) && !line_is_shut(zh->line))
    client_send(zh, &(struct zk_request){.op = ZK_CLOSE_SESSION});
  if (zh->line) line_close(zh->line);
  zh->line = NULL;
  client_answer_all(zh, ZCLOSING);
  watched_clear(&zh->watches);
  while (zh->auths) {
    struct auth *auth = zh->auths;
    zh->auths = auth->next;
    free(auth->scheme);
    free(auth->secret);
    free(auth);
  }
  trace(schedule_now(), "client %d is closed", zh->number);
  free(zh);
  return ZOK;
}

/* ---- Queries ------------------------------------------------------------- */

int zoo_state(zhandle_t *zh) { return zh->state; }

int zoo_recv_timeout(zhandle_t *zh) { return zh->recv_timeout; }

const clientid_t *zoo_client_id(zhandle_t *zh) { return &zh->id; }

struct sockaddr *zookeeper_get_connected_host(zhandle_t *zh,
                                              struct sockaddr *addr,
                                              socklen_t *size) {
  char ip[sizeof zh->address];
  const char *colon = strrchr(zh->address, ':');
  struct sockaddr_in four = {.sin_family = AF_INET};
  struct sockaddr_in6 six = {.sin6_family = AF_INET6};
  if (!zh->line || !colon) return NULL;
  snprintf(ip, sizeof ip, "%.*s", (int)(colon - zh->address), zh->address);
  four.sin_port = six.sin6_port = htons((uint16_t)atoi(colon + 1));
  bool is_four = inet_pton(AF_INET, ip, &four.sin_addr) == 1;
  if (!is_four && inet_pton(AF_INET6, ip, &six.sin6_addr) != 1) return NULL;
  socklen_t needed = is_four ? sizeof four : sizeof six;
  if (*size < needed) return NULL;
  if (is_four)
    memcpy(addr, &four, sizeof four);
  else
    memcpy(addr, &six, sizeof six);
  *size = needed;
  return addr;
}

int zoo_set_servers_resolution_delay(zhandle_t *zh, int delay) {
  (void)zh;
  (void)delay;
  return ZOK;
}

void zoo_deterministic_conn_order(int yes) { (void)yes; }
