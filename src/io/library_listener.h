/* What is told of a handle of the client library, and to whom. */
#ifndef ZKLOCK_LIBRARY_LISTENER_H
#define ZKLOCK_LIBRARY_LISTENER_H

#include "protocol/op.h"

/* What a server asks for before it lets a client go on with a session. */
struct identity {
  int64_t session; /* 0: none yet */
  char password[16];
};

/* How a handle has ended.  Whatever it was, its ZooKeeper session may live. */
enum library_end {
  LIBRARY_LOST,    /* the connection, or the attempt to get one */
  LIBRARY_EXPIRED, /* a server does not know the session any more */
  LIBRARY_REFUSED, /* the ensemble does not accept our credentials, ... */
  LIBRARY_UNKNOWN, /* ... or wants others, or some */
};

/* In order: `connected`, `accepted` if there are credentials, `reply` and
 * `event`, and `over`, after which another handle may be opened. */
struct library_listener {
  void *self;
  void (*connected)(void *self, const struct identity *identity,
                    int64_t timeout);
  void (*accepted)(void *self); /* all our credentials */
  void (*reply)(void *self, uint64_t serial, const struct reply *reply);
  void (*event)(void *self, enum watch_event event, const char *path);
  void (*over)(void *self, enum library_end end);
  /* Why there is no connection to `server`. */
  void (*error)(void *self, const char *server, const char *text);
};

#endif
