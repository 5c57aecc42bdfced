#include "lua_binding.h"

#include <unistd.h>

void binding_check_process(lua_State *L, const struct core *core) {
  if (core->owner != getpid())
    luaL_error(L, "zklock: this session belongs to process %d",
               (int)core->owner);
}

void binding_new_class(lua_State *L, const char *name, const luaL_Reg *methods,
                       lua_CFunction gc) {
  luaL_newmetatable(L, name);
  compat_setfuncs(L, methods);
  lua_pushvalue(L, -1);
  lua_setfield(L, -2, "__index");
  lua_pushcfunction(L, gc);
  lua_setfield(L, -2, "__gc");
  lua_pushliteral(L, "zklock");
  lua_setfield(L, -2, "__metatable");
  lua_pop(L, 1);
}

void binding_add_methods(lua_State *L, const char *name,
                         const luaL_Reg *methods) {
  luaL_getmetatable(L, name);
  compat_setfuncs(L, methods);
  lua_pop(L, 1);
}

int64_t binding_opt_duration(lua_State *L, int index) {
  if (lua_isnoneornil(L, index)) return NEVER;
  lua_Number seconds = luaL_checknumber(L, index);
  return seconds >= 1e9 ? NEVER : (int64_t)(seconds * NANOSECONDS);
}
