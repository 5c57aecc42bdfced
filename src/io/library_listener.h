/* The reports of a handle of the client library, and the callbacks that receive
 * them. */
#ifndef ZKLOCK_LIBRARY_LISTENER_H
#define ZKLOCK_LIBRARY_LISTENER_H

#include "protocol/op.h"

/* The session's id and password, with which a client can resume the session. */
struct identity {
  int64_t session; /* 0: no server has granted a session yet */
  char password[16];
};

/* How a handle has ended. After each of these ends, the ZooKeeper session can
 * still exist. */
enum library_end {
  LIBRARY_LOST,          /* the connection was lost, or the attempt failed */
  LIBRARY_EXPIRED,       /* a server does not know the session */
  LIBRARY_REFUSED,       /* the servers reject this client's credentials */
  LIBRARY_AUTH_REQUIRED, /* the servers require other credentials */
  LIBRARY_CERTIFICATE_REFUSED, /* the server's, or this client's */
};

/* The callbacks of a handle. They are called in this order: `connected`;
 * `accepted` if there are credentials; `reply` and `event`, any number of
 * times; `over`. After that, another handle can be opened. */
struct library_listener {
  void *self;
  void (*connected)(void *self, const struct identity *identity,
                    int64_t timeout);
  void (*accepted)(void *self); /* the server has accepted all credentials */
  void (*reply)(void *self, uint64_t serial, const struct reply *reply);
  void (*event)(void *self, enum watch_event event, const char *path);
  void (*over)(void *self, enum library_end end);
  /* Called with the reason why there is no connection to `server`. */
  void (*error)(void *self, const char *server, const char *text);
  void (*warning)(void *self, const char *text);
};

#endif
