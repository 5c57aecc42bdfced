/* libzookeeper_st, ZooKeeper's single-threaded client, turned by the I/O thread:
 * one handle at a time, which has one address and makes one attempt.  client.c
 * decides what becomes of a connection; here is what the client library must be
 * spared, and nothing else.
 *
 *   library               makes handles, and tells what has become of them
 *   library_connection    turns the handle: its attempt, its socket, its end
 *   library_requests      sends requests; callbacks put replies into the inbox
 *   library_transactions  the same for requests of several parts
 *   library_answers       refuses answers that cannot be true
 *   library_codes         the client library's numbers, and their words
 *   library_handle        the record of a handle, and its inbox, which these share
 *   library_listener.h    what is told, and to whom
 *
 * Only library*.[ch] include <zookeeper.h>.  The I/O thread calls all functions
 * but library_bind, library_new, and library_free if that thread does not start. */
#ifndef ZKLOCK_LIBRARY_H
#define ZKLOCK_LIBRARY_H

#include "library_listener.h"
#include "settings.h"

#pragma GCC visibility push(hidden)

struct library;

/* Once, before all else: has our calls, and the client library's own, reach the
 * libzookeeper_st that our `module` (dlopen) is linked to, whatever libraries of the
 * process have functions of the same names.  False: they do not. */
bool library_bind(void *module);

/* NULL: no memory. */
struct library *library_new(const struct settings *settings,
                            const struct library_listener *listener);
void library_free(struct library *library); /* after library_close */

/* Makes a handle, which begins to connect to `address`.  False: it could not be
 * made; the error has been told. */
bool library_open(struct library *library, const char *address,
                  const struct identity *identity);
bool library_is_open(const struct library *library);
/* No attempt that may still succeed has begun before this. */
int64_t library_began(const struct library *library);
/* As a transport does it (op.h). */
bool library_submit(struct library *library, const struct op *op,
                    const struct op *before);
/* Gives the handle up, but not its ZooKeeper session; `over` is called. */
void library_part(struct library *library);
/* Gives both up: the server is told if there is one.  `wait`: until it has heard
 * it, 1.5 seconds at most. */
void library_close(struct library *library, bool wait);

/* One turn of the I/O thread's loop: library_prepare, poll(2) until the time
 * it gave (`*fd` < 0: nothing to poll), library_process, library_deliver. */
int64_t library_prepare(struct library *library, int *fd, short *events);
void library_process(struct library *library, short events);
void library_deliver(struct library *library);

#pragma GCC visibility pop

#endif
