/* A client of an ensemble, as a Lua object. It can send any request. The client
 * keeps each arrival until Lua takes it, because the ensemble can run on a
 * different thread than Lua. */
#ifndef ZKLOCK_VIRTUAL_LUA_CLIENT_H
#define ZKLOCK_VIRTUAL_LUA_CLIENT_H

#include <lauxlib.h>
#include <lua.h>

#include "ensemble.h"

#pragma GCC visibility push(hidden)

/* An ensemble in a Lua object, and the source of the ensemble's time. */
struct lua_box {
  struct ensemble *ensemble;
  /* Returns the ensemble's time. If `now` is NULL, the Lua object owns the
   * ensemble, and the field `time` is the ensemble's time. */
  int64_t (*now)(void);
  int64_t time;
};

static inline int64_t lua_box_now(const struct lua_box *box) {
  return box->now ? box->now() : box->time;
}

/* Pushes a client that connects to an address. The table at `options` is
 * { timeout = ms, session =, password =, seen = }.
 * The client keeps a reference to `owner`, the Lua object that contains the
 * box. */
void lua_push_client(lua_State *L, struct lua_box *box, int owner,
                     const char *address, int options);
/* Pushes the metatable with this name. If it does not exist, creates it with
 * these methods and the finalizer `collect`. */
void lua_push_metatable(lua_State *L, const char *name, const luaL_Reg *methods,
                        lua_CFunction collect);

#pragma GCC visibility pop

#endif
