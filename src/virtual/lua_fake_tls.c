#include "lua_fake_tls.h"

#include <lauxlib.h>
#include <stdio.h>

#include "fake_tls.h"
#include "lua_world.h"
#include "operator.h"

/* check(files): replaces the function `check` of zklock.tls. Returns true
 * without reading the files. */
static int check(lua_State *L) {
  lua_pushboolean(L, 1);
  return 1;
}

/* tls(): returns a substitute for the Lua module zklock.tls, which uses the
 * fake TLS. */
static int tls(lua_State *L) {
  lua_newtable(L);
  lua_pushcfunction(L, check);
  lua_setfield(L, -2, "check");
  const struct tls_module **module =
      /* NOLINTNEXTLINE(bugprone-sizeof-expression): the size of a pointer */
      lua_newuserdata(L, sizeof *module);
  *module = &fake_tls;
  luaL_newmetatable(L, TLS_MODULE_TYPE);
  lua_setmetatable(L, -2);
  lua_setfield(L, -2, "module");
  return 1;
}

static lua_Number number(lua_State *L, const char *field) {
  lua_getfield(L, 2, field);
  lua_Number value = luaL_optnumber(L, -1, 0);
  lua_pop(L, 1);
  return value;
}

/* link_secure(address, { delay =, split =, stops_at =, fails_at =, text =,
 * is_refusal = }): sets the TLS behaviour of a link's servers (struct zk_tls).
 * Times are in seconds. */
static int behave(lua_State *L) {
  struct ensemble *ensemble = lua_check_ensemble(L, 1);
  luaL_checktype(L, 2, LUA_TTABLE);
  struct zk_tls behaviour = {.delay = (int64_t)(number(L, "delay") * 1e9),
                             .split = (int64_t)(number(L, "split") * 1e9),
                             .stops_at = (int)number(L, "stops_at"),
                             .fails_at = (int)number(L, "fails_at")};
  lua_getfield(L, 2, "is_refusal");
  behaviour.is_refusal = lua_toboolean(L, -1);
  lua_getfield(L, 2, "text");
  snprintf(behaviour.text, sizeof behaviour.text, "%s",
           luaL_optstring(L, -1, "the server fails"));
  link_secure(link_find(ensemble, lua_tostring(L, 1)), &behaviour);
  return 0;
}

void lua_fake_tls_register(lua_State *L) {
  lua_pushcfunction(L, tls);
  lua_setfield(L, -2, "tls");
  lua_pushcfunction(L, behave);
  lua_setfield(L, -2, "link_secure");
}
