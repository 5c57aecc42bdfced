/* Requests, and what comes back: callbacks that fill the inbox. */
#ifndef ZKLOCK_LIBRARY_REQUESTS_H
#define ZKLOCK_LIBRARY_REQUESTS_H

#include "library_handle.h"

#pragma GCC visibility push(hidden)

/* False: nothing was sent. */
bool requests_submit(struct library *library, const struct op *op,
                     const struct op *before);
/* One function and one context, the library, for every watch and for what
 * becomes of the connection. */
void requests_on_event(zhandle_t *handle, int type, int state, const char *path,
                       void *context);

#pragma GCC visibility pop

#endif
