/* The client is the protocol's transport: it sends requests, and passes replies
 * and events on to the session. It finds the servers, connects to them, and
 * decides when and where to connect again after a loss. client.c begins with
 * its states. */
#ifndef ZKLOCK_CLIENT_H
#define ZKLOCK_CLIENT_H

#include "protocol/session.h"
#include "settings.h"
#include "wakeup.h"

#pragma GCC visibility push(hidden)

struct client;

/* Why `connect` can fail before its timeout. */
enum client_failure {
  CLIENT_NO_FAILURE,
  CLIENT_REFUSED_AUTH,  /* the servers rejected this client's credentials */
  CLIENT_AUTH_REQUIRED, /* the servers require other credentials */
  CLIENT_NO_ADDRESS,    /* no address was found for any host name */
  /* Each server has refused this client's certificate, or this client the
   * server's. */
  CLIENT_REFUSED_TLS,
};

struct client_listener {
  void *self;
  void (*failed)(void *self, enum client_failure failure);
  /* Called when an attempt to connect begins, to publish the session's lease,
   * which the attempt shortens. The Lua thread must see the shorter lease
   * before a server receives the attempt. */
  void (*attempting)(void *self);
  /* Called with the reason why there is no connection to `server`. If `server`
   * is NULL, the reason concerns all servers or an unknown one. Any thread. */
  void (*error)(void *self, const char *server, const char *text);
  /* Called after `error` if the reason was the refusal of a certificate. */
  void (*refused)(void *self);
  void (*warning)(void *self, const char *text);
};

/* Creates a client. The client signals `wakeup` to wake the I/O thread's poll.
 * `seed` determines the order in which servers are tried. Returns NULL if there
 * is no memory. */
struct client *client_new(const struct settings *settings,
                          struct session *session,
                          const struct client_listener *listener,
                          const struct wakeup *wakeup, uint64_t seed);
struct transport client_transport(struct client *client);
/* Ends the ZooKeeper session. The client library can need three seconds for
 * this. */
void client_close(struct client *client);
void client_free(struct client *client);

/* The parts of one pass of the I/O thread's loop, in this order. client_prepare
 * starts due actions. Then comes poll(2), until the time that client_prepare
 * returned. client_process sends and receives. client_deliver passes the
 * results on to the session. If `*fd` < 0, there is no descriptor to poll. */
int64_t client_prepare(struct client *client, int *fd, short *events);
void client_process(struct client *client, short events);
void client_deliver(struct client *client);

#pragma GCC visibility pop

#endif
