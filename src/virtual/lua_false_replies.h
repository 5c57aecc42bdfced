/* Lets a test change answers before the client library receives them. */
#ifndef ZKLOCK_VIRTUAL_LUA_LIES_H
#define ZKLOCK_VIRTUAL_LUA_LIES_H

#include <lua.h>

#pragma GCC visibility push(hidden)

/* Adds the function `lie` to the table on top of the stack. */
void lua_false_replies_register(lua_State *L);

#pragma GCC visibility pop

#endif
