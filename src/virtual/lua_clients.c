/* A test identifies a client by a number: the number of the thread that uses
 * the client's handles. The client keeps its number when a connection is lost
 * or a session expires. */
#include "lua_clients.h"

#include "lua_messages.h"
#include "lua_world.h"
#include "operator.h"
#include "schedule.h"

/* client_of(address, session): returns the number of the client that is
 * connected with this session, or nil. */
static int client_of(lua_State *L) {
  int client = ensemble_client(lua_check_ensemble(L, 1), lua_to_id(L, 2));
  if (client == 0) return 0;
  lua_pushinteger(L, client);
  return 1;
}

/* server_of(address, client): returns the number of the server to which the
 * client is connected, or nil. Numbers begin with 1. */
static int server_of(lua_State *L) {
  int server = ensemble_server_of(lua_check_ensemble(L, 1),
                                  (int)luaL_checkinteger(L, 2));
  if (server < 0) return 0;
  lua_pushinteger(L, server + 1);
  return 1;
}

/* client_fault(address, "cut" | "refuse" | "freeze" | "heal", client | nil):
 * applies a fault to the connections of this client, or of all clients. */
static int client_fault(lua_State *L) {
  static const char *const words[] = {"cut", "refuse", "freeze", "heal", NULL};
  static void (*const faults[])(struct zk_link *,
                                int64_t) = {link_cut, link_refuse, link_freeze,
                                            link_heal};
  struct ensemble *ensemble = lua_check_ensemble(L, 1);
  const char *address = lua_tostring(L, 1);
  int what = luaL_checkoption(L, 2, NULL, words);
  int client = (int)luaL_optinteger(L, 3, 0);
  if (client == 0)
    link_each(ensemble, address, schedule_now(), faults[what]);
  else
    faults[what](link_apart(link_find(ensemble, address), client),
                 schedule_now());
  return 0;
}

void lua_clients_register(lua_State *L) {
  static const luaL_Reg functions[] = {{"client_of", client_of},
                                       {"server_of", server_of},
                                       {"client_fault", client_fault},
                                       {NULL, NULL}};
  for (const luaL_Reg *f = functions; f->name; f++) {
    lua_pushcfunction(L, f->func);
    lua_setfield(L, -2, f->name);
  }
}
