/* session:acquire: a lock, and how it is asked for. */
#ifndef ZKLOCK_LUA_ACQUIRE_H
#define ZKLOCK_LUA_ACQUIRE_H

#include "lua_binding.h"

#pragma GCC visibility push(hidden)

/* way(lock) → what a lock asks for, read once */
int binding_new_way(lua_State *L);
/* Adds the method to the class of sessions. */
void binding_register_acquire(lua_State *L);

#pragma GCC visibility pop

#endif
