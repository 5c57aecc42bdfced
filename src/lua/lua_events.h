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
};

/* Pushes the next event, the same one until it is noted; how many values: none
 * if there is no event.  `host_read`: the loop has emptied the pipe. */
int binding_push_event(lua_State *L, struct core *core, struct events *events,
                       bool host_read);

/* The event that was pushed is over. */
void binding_note_event(struct core *core, struct events *events);

/* Nobody will ask for the rest. */
void binding_drop_events(struct core *core, struct events *events);

#pragma GCC visibility pop

#endif
