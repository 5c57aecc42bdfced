/* Declares the reports of a handle of the client library, and the callbacks
 * that receive them. */
#ifndef ZKLOCK_LIBRARY_LISTENER_H
#define ZKLOCK_LIBRARY_LISTENER_H

#include "protocol/op.h"

/* The id and the password of a ZooKeeper session. A client needs both to resume
 * the session. */
struct identity {
  int64_t session; /* 0: no server has granted a session yet */
  char password[16];
};

/* How a handle has ended. In each of these cases, the ZooKeeper session can
 * still exist. */
enum library_end {
  LIBRARY_LOST,          /* the connection was lost, or the attempt failed */
  LIBRARY_EXPIRED,       /* a server does not know the session */
  LIBRARY_REFUSED,       /* the servers reject this client's credentials */
  LIBRARY_AUTH_REQUIRED, /* the servers require other credentials */
  LIBRARY_CERTIFICATE_REFUSED, /* one side refused the other's */
};

/* The callbacks of a handle, in the order of the calls: `connected`; then
 * `accepted`, only with credentials; then `reply` and `event`, any number of
 * times; last `over`. After `over`, another handle can be opened. `error` and
 * `warning` can be called at any time before `over`. They are also called if
 * library_open fails. */
struct library_listener {
  void *self;
  void (*connected)(void *self, const struct identity *identity,
                    int64_t timeout);
  void (*accepted)(void *self); /* the server has accepted all credentials */
  void (*reply)(void *self, uint64_t serial, const struct reply *reply);
  void (*event)(void *self, enum watch_event event, const char *path);
  void (*over)(void *self, enum library_end end);
  /* Called when an attempt or a connection to `server` has failed. `text` is
   * the reason. */
  void (*error)(void *self, const char *server, const char *text);
  void (*warning)(void *self, const char *text);
};

#endif
