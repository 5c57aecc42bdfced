/* Converts the events of a session to Lua values. */
#ifndef ZKLOCK_LUA_EVENTS_H
#define ZKLOCK_LUA_EVENTS_H

#include "lua_binding.h"

#pragma GCC visibility push(hidden)

/* The events that the binding has taken from the core, but not finished. When
 * the Lua layer has stored an event, it calls session:noted, which finishes the
 * event. */
struct events {
  struct message *pending;
  enum session_state states[16]; /* states of the session to push */
  int state_count, state_next;
  bool ended; /* EVENT_CLOSED was finished */

  /* A call that pushes an event can run a finalizer. The finalizer can finish
   * that event, take later ones, or leave the session. So the memory of
   * finished events is released only when the outermost such call ends. */
  int pushing;           /* number of such calls in progress */
  unsigned finished;     /* number of events finished so far */
  struct message *spent; /* messages to drop after these calls */
  struct core *left;     /* the core to drop after them; or NULL */
};

/* Pushes the next event, and returns the number of values; 0: there is no
 * event. Pushes the same event again until binding_finish_event is called. A
 * finalizer can leave the session during the push; then `*core` is NULL.
 * `host_read`: the host's event loop has already read the bytes that woke
 * it. */
int binding_push_event(lua_State *L, struct core *const *core,
                       struct events *events, bool host_read);

/* Finishes the event that binding_push_event has pushed. The next call of
 * binding_push_event pushes the event after it. */
void binding_finish_event(struct core *core, struct events *events);

/* Makes the Lua thread stop using the core, and drops the remaining events. */
void binding_leave_events(struct core *core, struct events *events);

#pragma GCC visibility pop

#endif
