#include "attach.h"

#include <stdlib.h>

struct watch {
  uv_poll_t poll;
  redisAsyncContext *context; /* NULL: it is gone */
  int events;
};

static void on_poll(uv_poll_t *poll, int status, int events) {
  struct watch *watch = poll->data;
  /* Of an error, reading or writing will tell. */
  if (status < 0) events = watch->events;
  if (watch->context && (events & UV_READABLE)) {
    redisAsyncHandleRead(watch->context);
  }
  if (watch->context && (events & UV_WRITABLE)) {
    redisAsyncHandleWrite(watch->context);
  }
}

static void listen_to(struct watch *watch, int events) {
  watch->events = events;
  if (events) {
    uv_poll_start(&watch->poll, events, on_poll);
  } else {
    uv_poll_stop(&watch->poll);
  }
}

static void add_read(void *data) {
  struct watch *watch = data;
  listen_to(watch, watch->events | UV_READABLE);
}

static void del_read(void *data) {
  struct watch *watch = data;
  listen_to(watch, watch->events & ~UV_READABLE);
}

static void add_write(void *data) {
  struct watch *watch = data;
  listen_to(watch, watch->events | UV_WRITABLE);
}

static void del_write(void *data) {
  struct watch *watch = data;
  listen_to(watch, watch->events & ~UV_WRITABLE);
}

static void on_close(uv_handle_t *poll) { free(poll->data); }

static void cleanup(void *data) {
  struct watch *watch = data;
  watch->context = NULL;
  uv_close((uv_handle_t *)&watch->poll, on_close);
}

bool attach(redisAsyncContext *context, uv_loop_t *loop) {
  struct watch *watch = calloc(1, sizeof *watch);
  if (!watch) return false;
  if (uv_poll_init(loop, &watch->poll, context->c.fd) != 0) {
    free(watch);
    return false;
  }
  watch->poll.data = watch;
  watch->context = context;
  context->ev.data = watch;
  context->ev.addRead = add_read;
  context->ev.delRead = del_read;
  context->ev.addWrite = add_write;
  context->ev.delWrite = del_write;
  context->ev.cleanup = cleanup;
  return true;
}
