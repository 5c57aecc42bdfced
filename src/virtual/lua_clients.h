/* Lua functions that disturb the connections to an address: those of one
 * client, or of all clients. */
#ifndef ZKLOCK_VIRTUAL_LUA_CLIENTS_H
#define ZKLOCK_VIRTUAL_LUA_CLIENTS_H

#include <lua.h>

#pragma GCC visibility push(hidden)

/* Adds the functions of this file to the table on top of the stack. */
void lua_clients_register(lua_State *L);

#pragma GCC visibility pop

#endif
