/* The session's userdata. */
#ifndef ZKLOCK_LUA_SESSION_H
#define ZKLOCK_LUA_SESSION_H

#include "lua_binding.h"

#pragma GCC visibility push(hidden)

extern const struct object_type session_type;

/* Returns the core of the open session at index 1. It is valid until the next
 * allocation. */
struct core *binding_check_session(lua_State *L);
/* Does the same, but raises an error if the session has begun to close. Until
 * then the core answers each request. */
struct core *binding_check_open(lua_State *L);

/* session() → a closed session, for open() */
int binding_new_session(lua_State *L);
int binding_open_session(lua_State *L);

void binding_register_session(lua_State *L);

#pragma GCC visibility pop

#endif
