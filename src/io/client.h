/* The client: the protocol's transport.  It finds the servers, gets
 * connections to them and decides what becomes of each; what is said on them
 * it hands on.  client.c opens with its states. */
#ifndef ZKLOCK_CLIENT_H
#define ZKLOCK_CLIENT_H

#include "protocol/session.h"
#include "settings.h"
#include "wakeup.h"

#pragma GCC visibility push(hidden)

struct client;

/* Why `connect` may give up before its time. */
enum client_failure {
  CLIENT_FINE,
  CLIENT_REFUSED_AUTH, /* the ensemble did not accept our credentials, ... */
  CLIENT_WANTS_AUTH,   /* ... or wants others, or some */
  CLIENT_NO_ADDRESS,   /* no host name has an address */
};

struct client_listener {
  void *self;
  void (*failed)(void *self, enum client_failure failure);
  /* An attempt to connect begins: the session has been told, and whoever
   * reads the lease must know it before a server does. */
  void (*attempting)(void *self);
  /* Why there is no connection to `server`; NULL: it is not known which, or
   * none of them is.  Any thread. */
  void (*error)(void *self, const char *server, const char *text);
};

/* `wakeup` gets the I/O thread out of its poll; `seed`: of the order in which
 * servers are tried.  NULL: no memory. */
struct client *client_new(const struct settings *settings,
                          struct session *session,
                          const struct client_listener *listener,
                          const struct wakeup *wakeup, uint64_t seed);
struct transport client_transport(struct client *client);
/* Ends the ZooKeeper session; may take the library three seconds. */
void client_close(struct client *client);
void client_free(struct client *client);

/* One turn of the I/O thread's loop: client_prepare, poll(2) until the time
 * it gave (`*fd` < 0: nothing to poll), client_process, client_deliver. */
int64_t client_prepare(struct client *client, int *fd, short *events);
void client_process(struct client *client, short events);
/* Hands to the session what the library has reported. */
void client_deliver(struct client *client);

#pragma GCC visibility pop

#endif
