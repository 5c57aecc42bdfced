/* Who turns the library: library_st.c or library_mt.c, as the build chooses.
 * Called on the I/O thread, but for backend_greeted, backend_name, backend_new
 * and backend_has_threads. */
#ifndef ZKLOCK_LIBRARY_BACKEND_H
#define ZKLOCK_LIBRARY_BACKEND_H

#include "library_handle.h"

#pragma GCC visibility push(hidden)

const char *backend_name(void);
/* Does a handle try all addresses that it is given, by itself? */
bool backend_tries_all(void);
struct backend *backend_new(void); /* NULL: no memory */
/* Does it call back on threads that have to wake ours? */
bool backend_has_threads(void);

/* Around zookeeper_init2: whom a handle with these addresses logs to. */
log_callback_fn backend_log(struct library *library, const char *addresses);
void backend_opened(struct library *library);
/* Closes the handle, if there is one. */
void backend_close(struct library *library);

/* A server has accepted the connection, as `id`.  On whatever thread the
 * library calls back, and with the inbox's lock. */
void backend_greeted(struct library *library, const clientid_t *id);
/* The same on ours, before it is told. */
void backend_connected(struct library *library);

/* See library_part. */
void backend_part(struct library *library);
/* Gives up a handle that has no session to lose. */
void backend_abandon(struct library *library);
/* Has the server hear of the end of the session, which backend_close brings:
 * so that nothing keeps it from hearing. */
void backend_farewell(struct library *library);

/* See library_prepare. */
int64_t backend_prepare(struct library *library, int *fd, short *events);
void backend_process(struct library *library, short events);
/* After everything that has come was told: is it over? */
void backend_look(struct library *library);

#pragma GCC visibility pop

#endif
