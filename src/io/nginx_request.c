#include "nginx_request.h"

#include <stdlib.h>

#include "messages.h"

static void free_request(void *self) {
  struct nginx_request *request = self;
  core_drop(request->core);
  free(request);
}

struct nginx_request *nginx_request_new(struct core *core) {
  struct nginx_request *request = calloc(1, sizeof *request);
  if (!request) return NULL;
  subject_init(&request->subject, free_request);
  request->core = core;
  request->number = ++core->numbers;
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
  if (!core->left)
    channel_event(&core->channel, &request->message, EVENT_ENDED);
  subject_drop(&request->subject);
}
