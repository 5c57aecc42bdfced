#include "lua_world.h"

#include <stdlib.h>

#include "arena.h"
#include "lua_client.h"
#include "lua_ensemble.h"
#include "operator.h"
#include "posix.h"
#include "schedule.h"
#include "world.h"

#define SECOND 1e9

enum { SERVERS = 9 };

static lua_Number number_of(lua_State *L, const char *field, lua_Number other) {
  lua_getfield(L, 1, field);
  lua_Number number = luaL_optnumber(L, -1, other);
  lua_pop(L, 1);
  return number;
}

struct ensemble *lua_check_ensemble(lua_State *L, int index) {
  const char *address = luaL_checkstring(L, index);
  struct ensemble *ensemble = world_find(address);
  if (!ensemble) luaL_error(L, "no server has the address %s", address);
  return ensemble;
}

static bool flag_of(lua_State *L, const char *field, bool other) {
  lua_getfield(L, 1, field);
  bool flag = lua_isnil(L, -1) ? other : (bool)lua_toboolean(L, -1);
  lua_pop(L, 1);
  return flag;
}

static void read_latency(lua_State *L, const char *field,
                         struct zk_latency *latency) {
  lua_getfield(L, 1, field);
  if (lua_istable(L, -1)) {
    lua_rawgeti(L, -1, 1);
    lua_rawgeti(L, -2, 2);
    latency->least = (int64_t)(luaL_checknumber(L, -2) * SECOND);
    latency->most = (int64_t)(luaL_checknumber(L, -1) * SECOND);
    lua_pop(L, 2);
  }
  lua_pop(L, 1);
}

static struct ensemble_settings read_settings(lua_State *L) {
  struct ensemble_settings s = ensemble_defaults();
#define NUMBER(field) s.field = (int32_t)number_of(L, #field, s.field)
#define FLAG(field) s.field = flag_of(L, #field, s.field)
  NUMBER(observers);
  NUMBER(tick_ms);
  NUMBER(min_timeout_ms);
  NUMBER(max_timeout_ms);
  NUMBER(sync_limit);
  NUMBER(max_buffer);
  NUMBER(max_connections);
  NUMBER(container_interval_ms);
  FLAG(hides_events);
  FLAG(hides_nodes);
  FLAG(multi_create2);
  FLAG(containers);
  FLAG(ttl);
  FLAG(enforces_quotas);
#undef NUMBER
#undef FLAG
  read_latency(L, "client", &s.client);
  read_latency(L, "server", &s.server);
  read_latency(L, "disk", &s.disk);
  read_latency(L, "election", &s.election);
  return s;
}

/* ensemble { addresses = { "127.0.0.1:2181", … }, … }: adds an ensemble with a
 * server for each address, and a link from the address to that server. The
 * other fields are those of struct ensemble_settings; a latency is { least,
 * most } in seconds. Returns the ensemble as an object. */
static int ensemble(lua_State *L) {
  const char *addresses[SERVERS];
  luaL_checktype(L, 1, LUA_TTABLE);
  struct ensemble_settings settings = read_settings(L);
  settings.servers = 0;
  lua_getfield(L, 1, "addresses");
  luaL_checktype(L, -1, LUA_TTABLE);
  while (settings.servers < SERVERS) {
    lua_rawgeti(L, -1, settings.servers + 1);
    const char *address = lua_tostring(L, -1);
    lua_pop(L, 1); /* the table keeps the string */
    if (!address) break;
    addresses[settings.servers++] = address;
  }
  struct ensemble *e = world_add(&settings, (uint64_t)number_of(L, "seed", 1));
  if (!e) return luaL_error(L, "too many ensembles");
  for (int i = 0; i < settings.servers; i++)
    if (!link_new(e, addresses[i], &i, 1))
      return luaL_error(L, "the address %s is taken", addresses[i]);
  lua_push_ensemble(L, e, schedule_now);
  return 1;
}

/* find(address): returns the ensemble that has this address. Raises an error if
 * there is none. */
static int find(lua_State *L) {
  lua_push_ensemble(L, lua_check_ensemble(L, 1), schedule_now);
  return 1;
}

/* remove(ensemble): frees the ensemble, and makes the object unusable. Returns
 * false if clients are connected to the ensemble. */
static int remove_ensemble(lua_State *L) {
  struct lua_box *box = luaL_checkudata(L, 1, LUA_ENSEMBLE);
  bool removed = world_remove(box->ensemble);
  if (removed) box->ensemble = NULL;
  lua_pushboolean(L, removed);
  return 1;
}

/* is_taken(address): returns true if a link has this address. */
static int is_taken(lua_State *L) {
  lua_pushboolean(L, world_find(luaL_checkstring(L, 1)) != NULL);
  return 1;
}

/* ---- Delayed actions ----------------------------------------------------- */

struct plan {
  struct ensemble *ensemble;
  int server;
  int64_t moment;
};

static void *resume(void *argument) {
  struct plan *plan = argument;
  posix_poll_until(NULL, 0, plan->moment);
  server_resume(plan->ensemble, schedule_now(), plan->server);
  free(plan);
  return NULL;
}

/* resume_in(address, server, seconds): makes another thread resume a paused
 * server after this time. Servers are numbered from 1. */
static int resume_in(lua_State *L) {
  pthread_t thread;
  struct ensemble *e = lua_check_ensemble(L, 1);
  int server = (int)luaL_checkinteger(L, 2) - 1;
  int64_t pause = (int64_t)(luaL_checknumber(L, 3) * SECOND);
  struct plan *plan = fresh(sizeof *plan);
  *plan = (struct plan){e, server, schedule_now() + pause};
  if (posix_create(&thread, NULL, resume, plan, "a server's pause") != 0) {
    free(plan);
    return luaL_error(L, "cannot start a thread");
  }
  posix_detach(thread);
  return 0;
}

/* Adds the functions of this file to the table on top of the stack. Also adds
 * the field `epoch`: the default time of day at time 0 of the clock, in seconds
 * since 1970. */
void lua_world_register(lua_State *L) {
  lua_pushnumber(L, (lua_Number)ensemble_defaults().epoch_ms / 1000);
  lua_setfield(L, -2, "epoch");
  lua_pushcfunction(L, ensemble);
  lua_setfield(L, -2, "ensemble");
  lua_pushcfunction(L, find);
  lua_setfield(L, -2, "find");
  lua_pushcfunction(L, remove_ensemble);
  lua_setfield(L, -2, "remove");
  lua_pushcfunction(L, is_taken);
  lua_setfield(L, -2, "is_taken");
  lua_pushcfunction(L, resume_in);
  lua_setfield(L, -2, "resume_in");
}
