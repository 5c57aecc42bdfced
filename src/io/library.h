/* The ZooKeeper client library, tamed: one handle at a time, which has one
 * connection at most.  What becomes of a connection, the client decides
 * (client.c); here is what the library must be spared, and nothing else.
 *
 *   library            makes handles, and tells what has become of them
 *   library_requests   sends requests; callbacks put what comes back into ...
 *   library_inbox      ... the inbox, which is told from the I/O thread's loop
 *   library_answers    what cannot be true: nobody is told but the log
 *   library_backend    who turns it.  Two backends, one behaviour: library_st.c
 *                      (libzookeeper_st is turned by our thread), library_mt.c
 *                      (libzookeeper_mt has threads of its own)
 *   library_handle     the record of a handle that they share
 *   library_codes      its numbers, and their words
 *
 * Only library*.[ch] include <zookeeper.h>, and this is the only one of them
 * that others include (but for library_codes.h and library_listener.h).  All
 * functions are called on the I/O thread, but for library_backend and
 * library_new (and library_free, where that thread does not start), which the
 * Lua thread calls. */
#ifndef ZKLOCK_LIBRARY_H
#define ZKLOCK_LIBRARY_H

#include "library_listener.h"
#include "settings.h"
#include "wakeup.h"

#pragma GCC visibility push(hidden)

struct library;

/* `wakeup` gets the I/O thread out of its poll; NULL: no memory. */
struct library *library_new(const struct settings *settings,
                            const struct library_listener *listener,
                            const struct wakeup *wakeup);
void library_free(struct library *library); /* after library_close */

const char *library_backend(void); /* "st" or "mt" */
/* Does a handle try all addresses that it is given, by itself? */
bool library_tries_all(void);
/* Makes a handle, which begins to connect to one of `addresses`.  False: it
 * could not be made; the error has been told. */
bool library_open(struct library *library, const char *addresses,
                  const struct identity *identity);
bool library_is_open(const struct library *library);
/* No attempt that may still succeed has begun before this. */
int64_t library_began(const struct library *library);
/* As a transport does it (op.h). */
bool library_submit(struct library *library, const struct op *op,
                    const struct op *before);
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

#pragma GCC visibility pop

#endif
