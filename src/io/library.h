/* Wraps libzookeeper_st, ZooKeeper's single-threaded client library. The I/O
 * thread runs it. At most one handle of the library is open at a time. A handle
 * has one address, makes one attempt, and has at most one connection. client.c
 * decides what follows the loss of a connection. These files work around the
 * client library's defects.
 *
 *   library               creates handles, and reports their results
 *   library_connection    the socket of a handle: connects, polls, closes
 *   library_requests      sends requests; callbacks put replies into the inbox
 *   library_transactions  sends requests of several parts
 *   library_answers       rejects replies that cannot be true
 *   library_codes         the client library's codes, and their texts
 *   library_handle        the record of a handle, and its inbox
 *   library_listener.h    the callbacks for reports
 *
 * Only library*.[ch] include <zookeeper.h>. The I/O thread calls all functions
 * except library_bind and library_new. It also calls library_free, unless the
 * thread could not be started. */
#ifndef ZKLOCK_LIBRARY_H
#define ZKLOCK_LIBRARY_H

#include "library_listener.h"
#include "settings.h"

#pragma GCC visibility push(hidden)

struct library;

/* Binds zklock's calls of libzookeeper_st, and that library's calls of its own
 * functions, to one libzookeeper_st. It is the one that `module`, a dlopen
 * handle, is linked to. Without this, the calls can reach another library of
 * the process that exports functions of the same names. Returns false if they
 * still do. Must be called before the other functions. */
bool library_bind(void *module);

/* Creates the wrapper, without a handle. Returns NULL if there is no memory. */
struct library *library_new(const struct settings *settings,
                            const struct library_listener *listener);
void library_free(struct library *library); /* must follow library_close */

/* Creates a handle, which begins to connect to `address`, an `ip:port`. `names`
 * are that host's names, for the check of its TLS certificate. `identity` is
 * the session to resume. On failure, reports the error and returns false. */
bool library_open(struct library *library, const char *address,
                  const char *names, const struct identity *identity);
/* Returns whether the current attempt is in its TLS handshake. */
bool library_is_in_handshake(const struct library *library);
bool library_is_open(const struct library *library);
/* Returns the time at which the current connection attempt began. Each earlier
 * attempt belongs to a handle that is closed. */
int64_t library_began(const struct library *library);
/* Sends a request. See `submit` in op.h for the parameters and the result. */
bool library_submit(struct library *library, const struct op *op,
                    const struct op *before);
/* Closes the handle, and calls the listener's `over`. The ZooKeeper session
 * continues. */
void library_disconnect(struct library *library);
/* Closes the handle and its ZooKeeper session. If there is a connection, first
 * sends the server a request to close the session. `wait`: waits until the
 * server has received the request, for at most 1.5 s. */
void library_close(struct library *library, bool wait);

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
