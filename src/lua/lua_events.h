/* Converts the events of a session to Lua values. */
#ifndef ZKLOCK_LUA_EVENTS_H
#define ZKLOCK_LUA_EVENTS_H

#include "lua_binding.h"

#pragma GCC visibility push(hidden)

/* The events that were taken from the core, but are not finished. The Lua layer
 * finishes ("notes") an event when it has stored the event: see
 * session:noted. */
struct events {
  struct message *pending;
  enum session_state states[16]; /* the session's states to push */
  int state_count, state_next;
  bool ended; /* the event EVENT_CLOSED was finished */

  /* Pushing an event can run a finalizer, which can finish that event, take
   * later ones, or leave the session. So memory that the event refers to is
   * released only after the outermost call that pushes an event. */
  int pushing;           /* number of nested calls that push an event */
  unsigned finished;     /* number of events finished so far */
  struct message *spent; /* the messages to drop after these calls */
  struct core *left;     /* the core to release after these calls; or NULL */
};

/* Pushes the next event, and returns its number of values: 0 if there is no
 * event. Until binding_finish_event, the next call pushes the same event.
 * `*core` becomes NULL when the session is left. `host_read`: the host's loop
 * has read the wake-up's bytes. */
int binding_push_event(lua_State *L, struct core *const *core,
                       struct events *events, bool host_read);

/* Finishes the event that was pushed, so that the following event is the next
 * event. */
void binding_finish_event(struct core *core, struct events *events);

/* Ends the Lua thread's use of the core, and discards the remaining events. */
void binding_leave_events(struct core *core, struct events *events);

#pragma GCC visibility pop

#endif
