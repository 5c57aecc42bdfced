/* An ensemble as a Lua object: clients that send any request, and what an operator
 * does to servers and sessions. */
#ifndef ZKLOCK_VIRTUAL_LUA_ENSEMBLE_H
#define ZKLOCK_VIRTUAL_LUA_ENSEMBLE_H

#include <lauxlib.h>
#include <lua.h>

#include "ensemble.h"

#pragma GCC visibility push(hidden)

/* The metatable of these objects. */
#define LUA_ENSEMBLE "zklock.virtual.ensemble"

/* Pushes an object for an ensemble that lives longer than the Lua state, and
 * whose time is told by `now`. */
void lua_push_ensemble(lua_State *L, struct ensemble *ensemble,
                       int64_t (*now)(void));
/* new(settings, seed): an ensemble with a time of its own, which `step` moves. */
int lua_ensemble_new(lua_State *L);

#pragma GCC visibility pop

int luaopen_zklock_ensemble(lua_State *L);

#endif
