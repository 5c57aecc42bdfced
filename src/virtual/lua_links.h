/* Lua functions for the links between clients and servers, and for their
 * faults. */
#ifndef ZKLOCK_VIRTUAL_LUA_LINKS_H
#define ZKLOCK_VIRTUAL_LUA_LINKS_H

#include <lua.h>

#pragma GCC visibility push(hidden)

/* Adds the functions of this file to the table on top of the stack. */
void lua_links_register(lua_State *L);

#pragma GCC visibility pop

#endif
