/* A client of a test's own, which may send any request, for Lua. */
#ifndef ZKLOCK_VIRTUAL_LUA_RAW_H
#define ZKLOCK_VIRTUAL_LUA_RAW_H

#include <lua.h>

#pragma GCC visibility push(hidden)

/* Adds its function to the table on top of the stack. */
void lua_raw_register(lua_State *L);

#pragma GCC visibility pop

#endif
