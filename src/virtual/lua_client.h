/* A client of an ensemble, for Lua: it sends any request, and what comes is kept
 * until Lua takes it.  (The ensemble may run on another thread than Lua.) */
#ifndef ZKLOCK_VIRTUAL_LUA_CLIENT_H
#define ZKLOCK_VIRTUAL_LUA_CLIENT_H

#include <lauxlib.h>
#include <lua.h>

#include "ensemble.h"

#pragma GCC visibility push(hidden)

/* An ensemble as its clients know it. */
struct lua_box {
  struct ensemble *ensemble;
  int64_t (*now)(
      void); /* NULL: it has a time of its own, and is the object's */
  int64_t time;
};

static inline int64_t lua_box_now(const struct lua_box *box) {
  return box->now ? box->now() : box->time;
}

/* Pushes a client that connects to an address, as the table at `options` says:
 * { timeout = ms, session =, password =, seen = }.  `owner`: the object of the
 * box, which is kept as long as the client. */
void lua_push_client(lua_State *L, struct lua_box *box, int owner,
                     const char *address, int options);
/* Pushes the metatable of this name, which is made of these. */
void lua_push_metatable(lua_State *L, const char *name, const luaL_Reg *methods,
                        lua_CFunction collect);

#pragma GCC visibility pop

#endif
