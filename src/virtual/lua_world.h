/* Lua functions that add, find and remove the ensembles of this process. */
#ifndef ZKLOCK_VIRTUAL_LUA_WORLD_H
#define ZKLOCK_VIRTUAL_LUA_WORLD_H

#include <lauxlib.h>
#include <lua.h>

#include "ensemble.h"

#pragma GCC visibility push(hidden)

/* Adds the functions of this file to the table on top of the stack. */
void lua_world_register(lua_State *L);
/* Returns the ensemble that has a link with the address at this index. Raises
 * an error if there is none. */
struct ensemble *lua_check_ensemble(lua_State *L, int index);

#pragma GCC visibility pop

#endif
