#ifndef BENCH_REDIS_ATTACH_H
#define BENCH_REDIS_ATTACH_H

#include <hiredis/async.h>
#include <stdbool.h>
#include <uv.h>

/* Lets the loop serve the connection. hiredis has an adapter of its own, which
 * passes over errors (as of 0.14): a connection that breaks or is refused is
 * never heard of again. False if it cannot be done. */
bool attach(redisAsyncContext *context, uv_loop_t *loop);

#endif
