/* The events of a session, as values for Lua. */
#ifndef ZKLOCK_LUA_EVENTS_H
#define ZKLOCK_LUA_EVENTS_H

#include "lua_binding.h"

#pragma GCC visibility push(hidden)

/* What has been taken from the core and is not yet noted by Lua. */
struct events {
  struct message *pending;
  enum session_state states[16]; /* that the session went through of late */
  int state_count, state_next;
  bool ended; /* EVENT_CLOSED has been noted */

  /* An event is pushed in many steps, and any of them may run a finalizer that
   * notes it, takes the next ones, or leaves the session.  Until the outermost
   * call is done nothing of which it may speak is given back. */
  int telling;           /* calls that push an event, each inside the other */
  unsigned noted;        /* how many events have been */
  struct message *spent; /* what is to be given back then ... */
  struct core *left;     /* ... and at last the core, if this is not NULL */
};

/* Pushes the next event, the same one until it is noted; how many values: none
 * if there is no event.  `*core`: NULL as soon as the session is left.
 * `host_read`: the loop has emptied the pipe. */
int binding_push_event(lua_State *L, struct core *const *core,
                       struct events *events, bool host_read);

/* The event that was pushed is over. */
void binding_note_event(struct core *core, struct events *events);

/* The Lua thread's last use of the core.  Nobody will ask for the rest. */
void binding_leave_events(struct core *core, struct events *events);

#pragma GCC visibility pop

#endif
