/* Wraps libzookeeper_st, ZooKeeper's single-threaded client library. The I/O
 * thread runs it. One connection is open at a time, by one handle of the
 * library. A handle has one address and makes one attempt. client.c decides
 * what follows the loss of a connection. This module only works around the
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

/* Binds zklock's calls, and the client library's own, to the libzookeeper_st
 * that `module` (from dlopen) is linked to. Other libraries of the process can
 * export functions of the same names. Returns false if calls are still bound to
 * such a library. Must be called before the other functions. */
bool library_bind(void *module);

/* Creates the wrapper, without a handle. Returns NULL if there is no memory. */
struct library *library_new(const struct settings *settings,
                            const struct library_listener *listener);
void library_free(struct library *library); /* must follow library_close */

/* Creates a handle, which begins to connect to `address`, ip:port. `names`: the
 * names of that host, for TLS. Returns false on failure, after a report of the
 * error. */
bool library_open(struct library *library, const char *address,
                  const char *names, const struct identity *identity);
/* Returns whether the attempt is in its TLS handshake. */
bool library_is_in_handshake(const struct library *library);
bool library_is_open(const struct library *library);
/* Returns the time at which the current connection attempt began. All earlier
 * attempts have failed for good. */
int64_t library_began(const struct library *library);
/* Sends a request, as described for `submit` in op.h. */
bool library_submit(struct library *library, const struct op *op,
                    const struct op *before);
/* Closes the handle, and calls `over`. The ZooKeeper session lives on. */
void library_disconnect(struct library *library);
/* Closes the handle and its ZooKeeper session. If there is a connection, sends
 * the server a request to close the session. `wait`: waits until the server has
 * received the request, for 1.5 s at most. */
void library_close(struct library *library, bool wait);

/* The parts of one pass of the I/O thread's loop, in this order.
 * library_prepare returns a time, and poll(2) waits until then. library_process
 * and library_deliver follow. If `*fd` < 0, there is no descriptor to poll. */
int64_t library_prepare(struct library *library, int *fd, short *events);
void library_process(struct library *library, short events);
void library_deliver(struct library *library);

#pragma GCC visibility pop

#endif
