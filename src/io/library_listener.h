/* The reports of a handle of the client library, and the callbacks that receive
 * them. */
#ifndef ZKLOCK_LIBRARY_LISTENER_H
#define ZKLOCK_LIBRARY_LISTENER_H

#include "protocol/op.h"

/* What a server requires to let a client resume a session. */
struct identity {
  int64_t session; /* 0: none yet */
  char password[16];
};

/* How a handle has ended. In each case the ZooKeeper session may still
 * exist. */
enum library_end {
  LIBRARY_LOST,      /* the connection broke, or the attempt failed */
  LIBRARY_EXPIRED,   /* a server does not know the session any more */
  LIBRARY_REFUSED,   /* the ensemble rejects our credentials */
  LIBRARY_UNKNOWN,   /* the ensemble requires other credentials */
  LIBRARY_UNTRUSTED, /* a certificate was refused, the server's or ours */
};

/* In this order: `connected`; `accepted` if there are credentials; `reply` and
 * `event`; `over`. After that, another handle may be opened. */
struct library_listener {
  void *self;
  void (*connected)(void *self, const struct identity *identity,
                    int64_t timeout);
  void (*accepted)(void *self); /* all credentials were accepted */
  void (*reply)(void *self, uint64_t serial, const struct reply *reply);
  void (*event)(void *self, enum watch_event event, const char *path);
  void (*over)(void *self, enum library_end end);
  /* Reports why there is no connection to `server`. */
  void (*error)(void *self, const char *server, const char *text);
  void (*warning)(void *self, const char *text);
};

#endif
