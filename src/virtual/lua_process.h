#ifndef ZKLOCK_VIRTUAL_LUA_PROCESS_H
#define ZKLOCK_VIRTUAL_LUA_PROCESS_H

#include <lua.h>

#pragma GCC visibility push(hidden)

/* Adds the function `attempt` to the table on the top of the stack. */
void lua_process_register(lua_State *L);

#pragma GCC visibility pop

#endif
