#include "nginx_request.h"

#include <stdlib.h>

#include "messages.h"

static void drop(void *request) { nginx_request_drop(request); }

struct nginx_request *nginx_request_new(struct core *core) {
  struct nginx_request *request = calloc(1, sizeof *request);
  if (!request) return NULL;
  request->references = 1;
  request->core = core;
  request->number = ++core->numbers;
  request->subject.drop = drop;
  message_init(&request->message, &request->subject);
  core_keep(core);
  core->requests++;
  return request;
}

void nginx_request_end(void *self) {
  struct nginx_request *request = self;
  struct core *core = request->core;
  request->ended = true;
  core->requests--;
  if (!core->left) {
    request->references++;
    channel_event(&core->channel, &request->message, EVENT_ENDED);
  }
  nginx_request_drop(request);
}

void nginx_request_drop(struct nginx_request *request) {
  if (--request->references > 0) return;
  core_drop(request->core);
  free(request);
}
