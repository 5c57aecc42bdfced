/* Requests about nodes, as methods of the session's userdata. */
#ifndef ZKLOCK_LUA_ASK_H
#define ZKLOCK_LUA_ASK_H

#include "lua_compat.h"

#pragma GCC visibility push(hidden)

void binding_register_ask(lua_State *L);

#pragma GCC visibility pop

#endif
