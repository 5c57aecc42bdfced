/* Converts the events of a session to Lua values. */
#ifndef ZKLOCK_LUA_EVENTS_H
#define ZKLOCK_LUA_EVENTS_H

#include "lua_binding.h"

#pragma GCC visibility push(hidden)

/* The events that were taken from the core and are not yet noted by Lua. */
struct events {
  struct message *pending;
  enum session_state states[16]; /* recent states of the session */
  int state_count, state_next;
  bool ended; /* EVENT_CLOSED was noted */

  /* Pushing an event may run a finalizer, which may note that event, take later
   * events, or leave the session. So nothing that the event refers to is
   * released before the outermost call has ended. */
  int telling;           /* nested calls that push an event */
  unsigned noted;        /* events noted so far */
  struct message *spent; /* messages to drop then ... */
  struct core *left;     /* ... and the core to release, unless NULL */
};

/* Pushes the next event and returns how many values it has: none if there is no
 * event. It stays the next event until it is noted. `*core` becomes NULL when
 * the session is left. `host_read`: the loop has emptied the pipe. */
int binding_push_event(lua_State *L, struct core *const *core,
                       struct events *events, bool host_read);

/* Finishes the event that was pushed. */
void binding_note_event(struct core *core, struct events *events);

/* Ends the Lua thread's use of the core. Discards the remaining events. */
void binding_leave_events(struct core *core, struct events *events);

#pragma GCC visibility pop

#endif
