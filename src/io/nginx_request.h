/* A request of nginx, as one session sees it. Waits and holds of the request
 * end when it ends, for whatever reason. nginx reports the end by calling a
 * cleanup handler in the Lua thread. An event then tells the Lua layer. */
#ifndef ZKLOCK_NGINX_REQUEST_H
#define ZKLOCK_NGINX_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

#include "core.h"

#pragma GCC visibility push(hidden)

struct nginx_request {
  struct subject subject;
  /* (c) constant after nginx_request_new  (l) the Lua thread  (a) atomic */
  _Atomic int references; /* (a) the cleanup, the userdata, the message */
  struct core *core;      /* (c) keeps its memory */
  uint64_t number;        /* (c) identifies it in the event */
  bool wanted;            /* (l) a wait or hold ends with it */
  bool ended;             /* (l) */
  struct message message;
};

/* Returns NULL if there is no memory. The reference belongs to the cleanup
 * handler. */
struct nginx_request *nginx_request_new(struct core *core);
/* The cleanup handler. */
void nginx_request_end(void *request);
void nginx_request_drop(struct nginx_request *request);

#pragma GCC visibility pop

#endif
