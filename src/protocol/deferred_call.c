#include "deferred_call.h"

#include <stddef.h>

void deferred_calls_init(struct deferred_calls *deferred_calls) {
  deferred_calls->first = NULL;
  deferred_calls->end = &deferred_calls->first;
}

void deferred_call_add(struct deferred_calls *deferred_calls,
                       struct deferred_call *deferred_call) {
  if (deferred_call_waits(deferred_call)) return;
  deferred_call->next = deferred_call;
  *deferred_calls->end = deferred_call;
  deferred_calls->end = &deferred_call->next;
}

void deferred_calls_do(struct deferred_calls *deferred_calls) {
  while (deferred_calls->first) {
    struct deferred_call *deferred_call = deferred_calls->first;
    bool last = deferred_call->next == deferred_call;
    deferred_calls->first = last ? NULL : deferred_call->next;
    if (last) deferred_calls->end = &deferred_calls->first;
    deferred_call->next = NULL;
    deferred_call->run(deferred_call);
  }
}
