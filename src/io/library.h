/* The ZooKeeper client library, tamed: one handle at a time, which has one
 * connection at most.  What becomes of a connection, the client decides
 * (client.c); here is what the library must be spared, and nothing else.
 *
 * Only library*.c include <zookeeper.h>.  Two backends, one behaviour: `st`
 * (libzookeeper_st) is turned by our thread; `mt` (libzookeeper_mt,
 * -DZKLOCK_MT) has threads of its own.  All functions are called on the I/O
 * thread. */
#ifndef ZKLOCK_LIBRARY_H
#define ZKLOCK_LIBRARY_H

#include "protocol/op.h"
#include "settings.h"
#include "wakeup.h"

#pragma GCC visibility push(hidden)

struct library;

/* What a server asks for before it lets somebody go on with a session. */
struct identity {
  int64_t session; /* 0: none yet */
  char password[16];
};

/* How a handle has ended.  Whatever it was, its ZooKeeper session may live. */
enum library_end {
  LIBRARY_LOST,    /* the connection, or the attempt to get one */
  LIBRARY_EXPIRED, /* a server does not know the session any more */
  LIBRARY_REFUSED, /* the ensemble does not accept our credentials */
};

/* Whom it tells.  In order: `failed` for an attempt of a handle that tries all
 * addresses by itself, `connected`, `accepted` if there are credentials,
 * `reply` and `event`, `lost`, and `over`, after which another handle may be
 * opened.  In between it may be connected again: the library has been quicker
 * than we. */
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

/* `wakeup` gets the I/O thread out of its poll; NULL: no memory. */
struct library *library_new(const struct settings *settings,
                            const struct library_listener *listener,
                            const struct wakeup *wakeup);
void library_free(struct library *library); /* after library_close */

/* Does a handle try all addresses that it is given, by itself? */
bool library_tries_all(void);
/* Makes a handle, which begins to connect to one of `addresses`.  False: it
 * could not be made; the error has been told. */
bool library_open(struct library *library, const char *addresses,
                  const struct identity *identity);
bool library_is_open(const struct library *library);
/* No attempt that may still succeed has begun before this. */
int64_t library_began(const struct library *library);
bool library_submit(struct library *library, const struct op *op);
/* Gives the handle up, but not its ZooKeeper session; `over` tells when it is
 * done: `st` at once, `mt` when a server or the library has given it up. */
void library_part(struct library *library);
/* Gives both up, at once: the server is told if there is one.  `wait`: until
 * it has heard it, 1.5 seconds at most. */
void library_close(struct library *library, bool wait);

/* One turn of the I/O thread's loop: library_prepare, poll(2) until the time
 * it gave (`*fd` < 0: nothing to poll), library_process, library_deliver. */
int64_t library_prepare(struct library *library, int *fd, short *events);
void library_process(struct library *library, short events);
void library_deliver(struct library *library);

const char *library_reason(int rc); /* its words for a reply code */

#pragma GCC visibility pop

#endif
