/* Declares the userdata of a session. */
#ifndef ZKLOCK_LUA_SESSION_H
#define ZKLOCK_LUA_SESSION_H

#include "lua_binding.h"

#pragma GCC visibility push(hidden)

extern const struct object_type session_type;

/* Returns the core of the session at index 1. The core stays valid until the
 * next allocation in Lua. Raises an error if the session was left, or belongs
 * to another process. */
struct core *binding_check_session(lua_State *L);
/* Returns the core, as binding_check_session does. Also raises an error if the
 * session has begun to close, because the core would not answer a new
 * request. */
struct core *binding_check_open(lua_State *L);

/* Lua function session(): returns a session that is not open yet. The Lua
 * function open() opens it. */
int binding_new_session(lua_State *L);
int binding_open_session(lua_State *L);

void binding_register_session(lua_State *L);

#pragma GCC visibility pop

#endif
