/* An ensemble as a Lua object. It has clients that send any request, and
 * functions that act on servers and sessions as an operator does. */
#ifndef ZKLOCK_VIRTUAL_LUA_ENSEMBLE_H
#define ZKLOCK_VIRTUAL_LUA_ENSEMBLE_H

#include <lauxlib.h>
#include <lua.h>

#include "ensemble.h"

#pragma GCC visibility push(hidden)

/* The metatable of these objects. */
#define LUA_ENSEMBLE "zklock.virtual.ensemble"

/* Pushes an object for an ensemble that outlives the Lua state. `now` returns
 * the time of the ensemble. */
void lua_push_ensemble(lua_State *L, struct ensemble *ensemble,
                       int64_t (*now)(void));
/* new(settings, seed): returns an ensemble with its own time, which `step` and
 * `advance` move. */
int lua_ensemble_new(lua_State *L);

#pragma GCC visibility pop

int luaopen_zklock_ensemble(lua_State *L);

#endif
