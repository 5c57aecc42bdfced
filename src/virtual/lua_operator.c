#include "lua_operator.h"

#include "lua_ensemble.h"
#include "lua_world.h"
#include "operator.h"
#include "schedule.h"

/* operator(address): the object of the ensemble that has this address */
static int object(lua_State *L) {
  struct ensemble *ensemble = lua_check_ensemble(L, 1);
  lua_settop(L, 0);
  lua_push_ensemble(L, ensemble, schedule_now);
  return 1;
}

/* watches(address, prefix): how many there are on such paths */
static int watches(lua_State *L) {
  const struct ensemble *ensemble = lua_check_ensemble(L, 1);
  lua_pushinteger(L, ensemble_watches(ensemble, luaL_checkstring(L, 2)));
  return 1;
}

void lua_operator_register(lua_State *L) {
  static const luaL_Reg functions[] = {{"operator", object},
                                       {"watches", watches},
                                       {"detached", lua_ensemble_new},
                                       {NULL, NULL}};
  for (const luaL_Reg *f = functions; f->name; f++) {
    lua_pushcfunction(L, f->func);
    lua_setfield(L, -2, f->name);
  }
}
