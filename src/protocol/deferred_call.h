/* Deferred calls: work that must not run in the middle of another function.
 *
 * A function of the protocol never frees its arguments. An object that has
 * ended adds a deferred call instead, which frees it later. There are two lists
 * of deferred calls.
 *
 * The step list runs at the end of each step; a step is one call of session.h,
 * or a part of session_run. Its calls end contenders and watches, and handle
 * changes of semaphore gates. So a semaphore learns that it has lost its gate
 * before the next reply can grant a permit.
 *
 * The batch list runs at the end of a batch of calls. Its calls send the
 * requests of each queue, so that one list request serves all contenders of the
 * batch.
 *
 * A deferred call is a field of the object that it serves, and carries no
 * event. When it runs, the object checks its own state. So adding the call
 * twice is harmless. */
#ifndef ZKLOCK_DEFERRED_CALL_H
#define ZKLOCK_DEFERRED_CALL_H

#include <stdbool.h>

#pragma GCC visibility push(hidden)

struct deferred_call {
  struct deferred_call
      *next; /* the call itself: last in the list; NULL: in no list */
  void (*run)(struct deferred_call
                  *deferred_call); /* may free the deferred call itself */
};

struct deferred_calls {
  struct deferred_call *first, **end;
};

void deferred_calls_init(struct deferred_calls *deferred_calls);
void deferred_call_add(struct deferred_calls *deferred_calls,
                       struct deferred_call *deferred_call);
/* Runs deferred calls until the list is empty, including those that a call
 * adds. */
void deferred_calls_do(struct deferred_calls *deferred_calls);

/* Returns whether the deferred call is in a list. */
static inline bool deferred_call_waits(
    const struct deferred_call *deferred_call) {
  return deferred_call->next;
}

static inline void deferred_calls_run(struct deferred_calls *deferred_calls) {
  if (deferred_calls->first) deferred_calls_do(deferred_calls);
}

#pragma GCC visibility pop

#endif
