/* Wraps libzookeeper_st, ZooKeeper's single-threaded client library. The I/O
 * thread runs it. At most one handle of the library is open at a time. A handle
 * has one address, makes one attempt, and has at most one connection. client.c
 * decides what follows the loss of a connection. These files work around the
 * client library's defects.
 *
 *   library               opens, runs and closes handles; reports their results
 *   library_requests      sends requests; callbacks put replies into the inbox
 *   library_transactions  sends requests of several parts
 *   library_answers       rejects replies that cannot be true
 *   library_codes         the client library's codes, and their texts
 *   library_handle        the record of a handle, and its inbox
 *
 * Only library*.[ch] include <zookeeper.h>. The I/O thread calls all functions
 * except library_bind and library_new. It also calls library_free, unless the
 * thread could not be started. */
#ifndef ZKLOCK_LIBRARY_H
#define ZKLOCK_LIBRARY_H

#include "protocol/op.h"
#include "settings.h"

#pragma GCC visibility push(hidden)

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

struct library;

/* Binds zklock's calls of libzookeeper_st, and that library's calls of its own
 * functions, to one libzookeeper_st. It is the one that `module`, a dlopen
 * handle, is linked to. Without this, the calls can reach another library of
 * the process that exports functions of the same names. Returns false if they
 * still do. Must be called before the other functions. */
bool library_bind(void *module);

/* Creates the wrapper, without a handle. `self` is the first argument of the
 * listener's callbacks. Returns NULL if there is no memory. */
struct library *library_new(const struct settings *settings,
                            const struct library_listener *listener,
                            void *self);
void library_free(struct library *library); /* must follow library_close */

/* Creates a handle, which begins to connect to `address`, an `ip:port`. `names`
 * are that host's names, for the check of its TLS certificate. `identity` is
 * the session to resume. On failure, reports the error and returns false. */
bool library_open(struct library *library, const char *address,
                  const char *names, const struct identity *identity);
/* Returns whether the current attempt is in its TLS handshake. */
bool library_is_in_handshake(const struct library *library);
bool library_is_open(const struct library *library);
/* Sends a request. See `submit` in op.h for the parameters and the result. */
bool library_submit(struct library *library, const struct op *op,
                    const struct op *before);
/* Closes the handle, and calls the listener's `over`. The ZooKeeper session
 * continues. */
void library_disconnect(struct library *library);
/* Closes the handle and its ZooKeeper session. If there is a connection, sends
 * the server a request to close the session, and waits until the server has
 * received the request, for at most 1.5 s. */
void library_close(struct library *library);

/* The I/O thread's loop calls these functions in this order in each pass.
 * library_prepare returns the time at which poll(2) must end, and sets `*fd`
 * and `*events` for it. If `*fd` < 0, there is no descriptor to poll. After the
 * poll, library_process lets the client library read and write. library_deliver
 * then calls the listener. */
int64_t library_prepare(struct library *library, int *fd, short *events);
void library_process(struct library *library, short events);
void library_deliver(struct library *library);

#pragma GCC visibility pop

#endif
