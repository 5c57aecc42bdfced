/* Errors that pass through us, and what must happen all the same. */
#ifndef ZKLOCK_LUA_PROTECT_H
#define ZKLOCK_LUA_PROTECT_H

#include "lua_binding.h"

#pragma GCC visibility push(hidden)

/* Adds its functions to the module's table, which is on top. */
void binding_register_protect(lua_State *L);

#pragma GCC visibility pop

#endif
