/* The record of an nginx request, for one session. When the request ends, for
 * any reason, the session's waits and holds that belong to it end, too. nginx
 * reports the end of the request: it calls a cleanup handler in the Lua thread.
 * The handler posts an event for the Lua layer. */
#ifndef ZKLOCK_NGINX_REQUEST_H
#define ZKLOCK_NGINX_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

#include "core.h"

#pragma GCC visibility push(hidden)

struct nginx_request {
  struct subject subject; /* the handler and the userdata have references */
  /* Access: (c) constant after nginx_request_new, (l) the Lua thread only */
  struct core *core; /* (c) the session; the request has a reference */
  uint64_t number;   /* (c) identifies the request in events */
  bool ended;        /* (l) nginx has ended the request */
  struct message message;
};

/* Creates the record. The caller gets one reference, and passes it to nginx's
 * cleanup handler. Returns NULL if there is no memory. */
struct nginx_request *nginx_request_new(struct core *core);
/* nginx calls this cleanup handler when the request ends. Records the end, and
 * posts EVENT_ENDED. Drops the handler's reference. */
void nginx_request_end(void *request);

#pragma GCC visibility pop

#endif
