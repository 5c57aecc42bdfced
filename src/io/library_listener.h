/* What is told of a handle of the library, and to whom. */
#ifndef ZKLOCK_LIBRARY_LISTENER_H
#define ZKLOCK_LIBRARY_LISTENER_H

#include "protocol/op.h"

/* What a server asks for before it lets somebody go on with a session. */
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

/* In order: `failed` for an attempt of a handle that tries all addresses by
 * itself, `connected`, `accepted` if there are credentials, `reply` and
 * `event`, `lost`, and `over`, after which another handle may be opened.  In
 * between it may be connected again: the library has been quicker than we.
 * All on the I/O thread, but `error`. */
struct library_listener {
  void *self;
  /* `address` is NULL if it is not known. */
  void (*connected)(void *self, const struct identity *identity,
                    int64_t timeout, const char *address);
  void (*accepted)(void *self); /* all our credentials */
  void (*reply)(void *self, uint64_t serial, const struct reply *reply);
  void (*event)(void *self, enum watch_event event, const char *path);
  void (*failed)(void *self);
  void (*lost)(void *self);
  void (*over)(void *self, enum library_end end);
  /* Why there is no connection to `server` (NULL: it is not known which).
   * `mt`: on the library's own thread. */
  void (*error)(void *self, const char *server, const char *text);
};

#endif
