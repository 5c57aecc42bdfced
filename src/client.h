/* The ZooKeeper client library as the protocol's transport.  client.c is the
 * only file that includes <zookeeper.h>; all of it runs on the I/O thread. */
#ifndef ZKLOCK_CLIENT_H
#define ZKLOCK_CLIENT_H

#include "session.h"
#include "settings.h"
#include "wakeup.h"

#pragma GCC visibility push(hidden)

struct client;

/* Troubles that only a new session of the user's can mend. */
enum client_failure {
  CLIENT_FINE,
  CLIENT_REFUSED_AUTH, /* the ensemble did not accept our credentials */
  CLIENT_NO_ADDRESS,   /* no host name has an address */
};

struct client_listener {
  void *self;
  void (*failed)(void *self, enum client_failure failure);
  void (*error)(void *self, const char *text); /* the last error */
  void (*log)(void *self, const char *level, const char *text);
};

/* `wakeup` gets the I/O thread out of its poll; NULL: no memory. */
struct client *client_new(const struct settings *settings,
                          struct session *session,
                          const struct client_listener *listener,
                          const struct wakeup *wakeup);
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

const char *client_reason(int rc); /* ZooKeeper's words for a reply code */
const char *client_version(void);

#pragma GCC visibility pop

#endif
