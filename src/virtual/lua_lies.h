/* Answers that a test changes on their way to the library. */
#ifndef ZKLOCK_VIRTUAL_LUA_LIES_H
#define ZKLOCK_VIRTUAL_LUA_LIES_H

#include <lua.h>

#pragma GCC visibility push(hidden)

/* Adds its function to the module's table, at the top. */
void lua_lies_register(lua_State *L);

#pragma GCC visibility pop

#endif
