/* Replaces functions that Lua 5.1 and LuaJIT lack. One binary serves both, so
 * this file never uses functions that only LuaJIT exports. */
#ifndef ZKLOCK_LUA_COMPAT_H
#define ZKLOCK_LUA_COMPAT_H

#include <lauxlib.h>
#include <lua.h>

#if LUA_VERSION_NUM < 502
#undef luaL_newlib
#define luaL_newlib(L, functions) \
  (lua_newtable(L), compat_setfuncs(L, functions))

static inline void compat_setfuncs(lua_State *L, const luaL_Reg *functions) {
  for (; functions->name; functions++) {
    lua_pushcfunction(L, functions->func);
    lua_setfield(L, -2, functions->name);
  }
}
#define lua_rawlen(L, index) lua_objlen(L, index)
#define compat_checkversion(L) ((void)(L))
#else
#define compat_setfuncs(L, functions) luaL_setfuncs(L, functions, 0)
/* Raises an error if the module was built for another version of Lua. Must be
 * called first: the other functions use LUA_REGISTRYINDEX, whose value differs
 * between Lua 5.4 and 5.5. */
#define compat_checkversion(L) luaL_checkversion(L)
#endif

/* Creates a userdata without a user value. In Lua 5.4, lua_newuserdata would
 * reserve space for one. */
#if LUA_VERSION_NUM >= 504
#define compat_newuserdata(L, size) lua_newuserdatauv(L, size, 0)
#else
#define compat_newuserdata(L, size) lua_newuserdata(L, size)
#endif

#endif
