/* A request of nginx, as far as one session cares: what waits and holds in its
 * name ends with it, in whatever way it ends.  nginx tells its end by calling
 * a cleanup, in the Lua thread; an event then tells the Lua layer. */
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
  struct core *core;      /* (c) its memory is kept */
  uint64_t number;        /* (c) what the event calls it */
  bool wanted;            /* (l) something ends with it */
  bool ended;             /* (l) */
  struct message message;
};

/* NULL: no memory.  The reference is the cleanup's. */
struct nginx_request *nginx_request_new(struct core *core);
/* The cleanup. */
void nginx_request_end(void *request);
void nginx_request_drop(struct nginx_request *request);

#pragma GCC visibility pop

#endif
