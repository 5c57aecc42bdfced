/* An ensemble as a Lua object. It creates clients, which can send any request.
 * It also has the functions of operator.h for servers and sessions. */
#ifndef ZKLOCK_VIRTUAL_LUA_ENSEMBLE_H
#define ZKLOCK_VIRTUAL_LUA_ENSEMBLE_H

#include <lauxlib.h>
#include <lua.h>

#include "ensemble.h"

#pragma GCC visibility push(hidden)

/* The metatable of these objects. */
#define LUA_ENSEMBLE "zklock.virtual.ensemble"

/* Pushes an object for an ensemble that the object does not own. When Lua
 * collects the object, the ensemble stays. `now`: a function that returns the
 * ensemble's time. */
void lua_push_ensemble(lua_State *L, struct ensemble *ensemble,
                       int64_t (*now)(void));
/* new(settings, seed): returns an ensemble with its own time. Its methods
 * `step` and `advance` move this time. */
int lua_ensemble_new(lua_State *L);

#pragma GCC visibility pop

int luaopen_zklock_ensemble(lua_State *L);

#endif
