/* The client connects the protocol to the servers. It sends the protocol's
 * requests, and passes replies and events on to the session. It looks up the
 * servers, connects to them, and decides when and where to connect again after
 * a loss. client.c begins with a diagram of its states. */
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
  /* Each server has refused this client's certificate, or this client has
   * refused the server's certificate. */
  CLIENT_REFUSED_TLS,
};

struct client_listener {
  void (*failed)(void *self, enum client_failure failure);
  /* Called when an attempt to connect begins. The attempt shortens the
   * session's lease, so this callback publishes the new lease. Thus the Lua
   * thread sees the shorter lease before a server receives the attempt. */
  void (*attempting)(void *self);
  /* Called when a connection to `server` fails or is lost. `text` is the
   * reason. `server` is NULL if the reason concerns all servers or the server
   * is unknown. Can be called on any thread. */
  void (*error)(void *self, const char *server, const char *text);
  /* Called after `error` if that error was a refused certificate. */
  void (*refused)(void *self);
  void (*warning)(void *self, const char *text);
};

/* Creates a client. `self` is the first argument of the listener's callbacks.
 * The client signals `wakeup` to end the poll of the I/O
 * thread. `seed` determines the random order in which the client tries the
 * servers. Returns NULL if there is no memory. */
struct client *client_new(const struct settings *settings,
                          struct session *session,
                          const struct client_listener *listener, void *self,
                          const struct wakeup *wakeup, uint64_t seed);
struct transport client_transport(struct client *client);
/* Ends the ZooKeeper session. The client library can take three seconds for
 * this. */
void client_close(struct client *client);
void client_free(struct client *client);

/* The I/O thread's loop calls these functions in this order in each pass.
 * client_prepare starts due actions, and returns the time at which poll(2) must
 * end. It sets `*fd` and `*events` for that poll; if `*fd` < 0, there is no
 * descriptor to poll. After the poll, client_process sends and receives.
 * client_deliver passes the results on to the session. */
int64_t client_prepare(struct client *client, int *fd, short *events);
void client_process(struct client *client, short events);
void client_deliver(struct client *client);

#pragma GCC visibility pop

#endif
