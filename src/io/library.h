/* Wraps libzookeeper_st, ZooKeeper's single-threaded client, which the I/O
 * thread runs. There is one handle at a time. It has one address and makes one
 * attempt. client.c decides what follows the loss of a connection. This module
 * only works around the client library's defects.
 *
 *   library               creates handles, and reports their results
 *   library_connection    runs a handle: its attempt, its socket, its end
 *   library_requests      sends requests; callbacks put replies into the inbox
 *   library_transactions  does the same for requests of several parts
 *   library_answers       rejects replies that cannot be true
 *   library_codes         the client library's codes, and their texts
 *   library_handle        the record of a handle, and its inbox
 *   library_listener.h    the callbacks for reports
 *
 * Only library*.[ch] include <zookeeper.h>. The I/O thread calls all functions
 * except library_bind and library_new. It also calls library_free, unless it
 * does not start. */
#ifndef ZKLOCK_LIBRARY_H
#define ZKLOCK_LIBRARY_H

#include "library_listener.h"
#include "settings.h"

#pragma GCC visibility push(hidden)

struct library;

/* Must be called first. Binds our calls, and the client library's own, to the
 * libzookeeper_st that `module` (from dlopen) is linked to. Other libraries of
 * the process may export functions of the same names. Returns false if the
 * calls are still bound to one of them. */
bool library_bind(void *module);

/* Returns NULL if there is no memory. */
struct library *library_new(const struct settings *settings,
                            const struct library_listener *listener);
void library_free(struct library *library); /* after library_close */

/* Creates a handle that begins to connect to `address`, ip:port. `names`: the
 * names of that host, for TLS. Returns false if that fails; the error was
 * reported. */
bool library_open(struct library *library, const char *address,
                  const char *names, const struct identity *identity);
/* Returns whether the attempt waits for the server's part of the TLS
 * handshake. */
bool library_is_shaking(const struct library *library);
bool library_is_open(const struct library *library);
/* Returns when the current attempt began. No older attempt can still
 * succeed. */
int64_t library_began(const struct library *library);
/* Sends a request, as a transport does (op.h). */
bool library_submit(struct library *library, const struct op *op,
                    const struct op *before);
/* Closes the handle but keeps its ZooKeeper session; calls `over`. */
void library_part(struct library *library);
/* Closes the handle and its ZooKeeper session, and tells the server if there is
 * a connection. `wait`: waits until the server has received that, for 1.5 s at
 * most. */
void library_close(struct library *library, bool wait);

/* One turn of the I/O thread's loop: library_prepare, poll(2) until the time
 * that it returned, library_process, library_deliver. `*fd` < 0: there is
 * nothing to poll. */
int64_t library_prepare(struct library *library, int *fd, short *events);
void library_process(struct library *library, short events);
void library_deliver(struct library *library);

#pragma GCC visibility pop

#endif
