/* What is awaited that is no lock, as a userdata. */
#ifndef ZKLOCK_LUA_AWAIT_H
#define ZKLOCK_LUA_AWAIT_H

#include "lua_compat.h"

#pragma GCC visibility push(hidden)

/* awaiting() → an empty one, to be filled by session:await or session:depart */
int binding_new_await(lua_State *L);
void binding_register_await(lua_State *L);

#pragma GCC visibility pop

#endif
