/* What tests do to the ensembles of this process and see of them, for Lua. */
#ifndef ZKLOCK_VIRTUAL_LUA_OPERATOR_H
#define ZKLOCK_VIRTUAL_LUA_OPERATOR_H

#include <lua.h>

#pragma GCC visibility push(hidden)

/* Adds its functions to the table on top of the stack. */
void lua_operator_register(lua_State *L);

#pragma GCC visibility pop

#endif
