/* The Lua module zklock.virtual: what a test does to time and to the world. */
#ifndef ZKLOCK_VIRTUAL_LUA_VIRTUAL_H
#define ZKLOCK_VIRTUAL_LUA_VIRTUAL_H

#include <lauxlib.h>
#include <lua.h>

#include "ensemble.h"

#pragma GCC visibility push(hidden)

/* Each adds its functions to the table on top of the stack. */
void lua_links_register(lua_State *L);
void lua_operator_register(lua_State *L);

/* The ensemble that has a link of the address that this argument is; raises. */
struct ensemble *lua_check_ensemble(lua_State *L, int index);

#pragma GCC visibility pop

#endif
