/* The client is the protocol's transport. It finds the servers, connects to
 * them, and decides what follows the loss of a connection. It passes replies
 * and events on to the session. client.c begins with its states. */
#ifndef ZKLOCK_CLIENT_H
#define ZKLOCK_CLIENT_H

#include "protocol/session.h"
#include "settings.h"
#include "wakeup.h"

#pragma GCC visibility push(hidden)

struct client;

/* Why `connect` may fail before its timeout. */
enum client_failure {
  CLIENT_FINE,
  CLIENT_REFUSED_AUTH, /* the ensemble rejected our credentials */
  CLIENT_WANTS_AUTH,   /* the ensemble requires other credentials */
  CLIENT_NO_ADDRESS,   /* no host name has an address */
  CLIENT_REFUSED_TLS,  /* each server or this client has refused a
                        * certificate */
};

struct client_listener {
  void *self;
  void (*failed)(void *self, enum client_failure failure);
  /* An attempt to connect begins. The session knows already, but the Lua thread
   * must also see the shorter lease before a server receives the attempt. */
  void (*attempting)(void *self);
  /* Reports why there is no connection to `server`. NULL: to all servers, or to
   * an unknown one. Any thread. */
  void (*error)(void *self, const char *server, const char *text);
  /* The last error was the refusal of a certificate. */
  void (*refused)(void *self);
  void (*warning)(void *self, const char *text);
};

/* Creates a client. `wakeup` wakes the I/O thread's poll. `seed` determines the
 * order in which servers are tried. Returns NULL if there is no memory. */
struct client *client_new(const struct settings *settings,
                          struct session *session,
                          const struct client_listener *listener,
                          const struct wakeup *wakeup, uint64_t seed);
struct transport client_transport(struct client *client);
/* Ends the ZooKeeper session. The library may take three seconds. */
void client_close(struct client *client);
void client_free(struct client *client);

/* One turn of the I/O thread's loop: client_prepare, poll(2) until the time
 * that it returned, client_process, client_deliver. `*fd` < 0: there is nothing
 * to poll. */
int64_t client_prepare(struct client *client, int *fd, short *events);
void client_process(struct client *client, short events);
/* Passes on to the session what the library has reported. */
void client_deliver(struct client *client);

#pragma GCC visibility pop

#endif
