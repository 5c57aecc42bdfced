#include "lua_ensemble.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lua_client.h"
#include "lua_messages.h"
#include "operator.h"

static struct lua_box *box_at(lua_State *L, int index) {
  return luaL_checkudata(L, index, LUA_ENSEMBLE);
}

/* ensemble:open(address, options): returns a new client that connects to this
 * address (lua_client.h). */
static int open_client(lua_State *L) {
  struct lua_box *box = box_at(L, 1);
  const char *address = luaL_checkstring(L, 2);
  lua_settop(L, 3);
  lua_push_client(L, box, 1, address, 3);
  return 1;
}

/* ---- Time ---------------------------------------------------------------- */

static int own_now(lua_State *L) {
  lua_pushnumber(L, (lua_Number)lua_box_now(box_at(L, 1)) / 1e9);
  return 1;
}

/* ensemble:next(): returns the time of the ensemble's next action, in
 * seconds. */
static int own_next(lua_State *L) {
  lua_pushnumber(L, (lua_Number)ensemble_next(box_at(L, 1)->ensemble) / 1e9);
  return 1;
}

/* ensemble:step(seconds): if an action is due within `seconds`, advances the
 * time to it, performs it and returns true. Otherwise advances the time by
 * `seconds` and returns false. */
static int own_step(lua_State *L) {
  struct lua_box *box = box_at(L, 1);
  luaL_argcheck(L, !box->now, 1, "its time is not its own");
  lua_Number seconds = luaL_optnumber(L, 2, 3600);
  int64_t next = ensemble_next(box->ensemble);
  int64_t until = box->time + (int64_t)(seconds * 1e9);
  bool due = next <= until;
  box->time = due ? (next > box->time ? next : box->time) : until;
  ensemble_run(box->ensemble, box->time);
  lua_pushboolean(L, due);
  return 1;
}

/* ensemble:advance(seconds): advances the time by `seconds`, and performs all
 * actions that become due. */
static int own_advance(lua_State *L) {
  struct lua_box *box = box_at(L, 1);
  luaL_argcheck(L, !box->now, 1, "its time is not its own");
  int64_t until = box->time + (int64_t)(luaL_checknumber(L, 2) * 1e9);
  for (int64_t next; (next = ensemble_next(box->ensemble)) <= until;) {
    box->time = next > box->time ? next : box->time;
    ensemble_run(box->ensemble, box->time);
  }
  box->time = until;
  ensemble_run(box->ensemble, until);
  return 0;
}

/* ---- Servers and sessions ------------------------------------------------ */

static int with_server(lua_State *L,
                       void (*function)(struct ensemble *, int64_t, int)) {
  struct lua_box *box = box_at(L, 1);
  function(box->ensemble, lua_box_now(box), (int)luaL_checkinteger(L, 2) - 1);
  return 0;
}

static int own_stop(lua_State *L) { return with_server(L, server_stop); }
static int own_start(lua_State *L) { return with_server(L, server_start); }
static int own_pause(lua_State *L) { return with_server(L, server_pause); }
static int own_resume(lua_State *L) { return with_server(L, server_resume); }

static int own_group(lua_State *L) {
  struct lua_box *box = box_at(L, 1);
  server_group(box->ensemble, lua_box_now(box),
               (int)luaL_checkinteger(L, 2) - 1, (int)luaL_checkinteger(L, 3));
  return 0;
}

static int own_lag(lua_State *L) {
  struct lua_box *box = box_at(L, 1);
  server_lag(box->ensemble, lua_box_now(box), (int)luaL_checkinteger(L, 2) - 1,
             (int64_t)(luaL_checknumber(L, 3) * 1e9));
  return 0;
}

static int own_elect(lua_State *L) {
  struct lua_box *box = box_at(L, 1);
  lua_pushboolean(L, server_elect(box->ensemble, lua_box_now(box),
                                  (int)luaL_checkinteger(L, 2) - 1));
  return 1;
}

/* ensemble:leader(): returns the number of the leader, or nil. Numbers begin
 * with 1. */
static int own_leader(lua_State *L) {
  int leader = ensemble_leader(box_at(L, 1)->ensemble);
  if (leader < 0) return 0;
  lua_pushinteger(L, leader + 1);
  return 1;
}

static int own_end_session(lua_State *L) {
  struct lua_box *box = box_at(L, 1);
  lua_pushboolean(L, ensemble_end_session(box->ensemble, lua_box_now(box),
                                          lua_to_id(L, 2)));
  return 1;
}

static int own_has_session(lua_State *L) {
  lua_pushboolean(L, ensemble_has_session(box_at(L, 1)->ensemble,
                                          lua_to_id(L, 2)));
  return 1;
}

/* ensemble:look(path): returns the Stat and the data of a node as committed.
 * Returns nil if the node does not exist. */
static int own_look(lua_State *L) {
  struct zk_stat stat;
  struct zk_data data;
  if (!ensemble_read(box_at(L, 1)->ensemble, luaL_checkstring(L, 2), &stat,
                     &data))
    return 0;
  lua_push_stat(L, &stat);
  if (data.length < 0) return 1;
  lua_pushlstring(L, data.bytes, (size_t)data.length);
  return 2;
}

struct names {
  lua_State *L;
  int count;
};

static void add_name(void *self, const char *name) {
  struct names *names = self;
  lua_pushstring(names->L, name);
  lua_rawseti(names->L, -2, ++names->count);
}

/* ensemble:children(path): returns the names of the node's children, sorted by
 * name. */
static int own_children(lua_State *L) {
  struct names names = {L, 0};
  struct ensemble *ensemble = box_at(L, 1)->ensemble;
  const char *path = luaL_checkstring(L, 2);
  lua_newtable(L);
  ensemble_children(ensemble, path, add_name, &names);
  return 1;
}

/* ensemble:crowd(path): returns the peak number of ephemeral children of a node
 * since it last had none. */
static int own_crowd(lua_State *L) {
  lua_pushinteger(L, ensemble_most_children(box_at(L, 1)->ensemble,
                                            luaL_checkstring(L, 2)));
  return 1;
}

static int own_watches(lua_State *L) {
  lua_pushinteger(L, ensemble_watches(box_at(L, 1)->ensemble,
                                      luaL_checkstring(L, 2)));
  return 1;
}

/* ensemble:word(server, word): returns the server's answer to a four-letter
 * word such as "cons", or nil if the server does not answer. */
static int own_word(lua_State *L) {
  char *answer = server_four_letter_word(box_at(L, 1)->ensemble,
                                         (int)luaL_checkinteger(L, 2) - 1,
                                         luaL_checkstring(L, 3));
  lua_pushstring(L, answer);
  free(answer);
  return 1;
}

static int own_connections(lua_State *L) {
  lua_pushinteger(L, ensemble_connections(box_at(L, 1)->ensemble,
                                          (int)luaL_checkinteger(L, 2) - 1));
  return 1;
}

static int own_set_counter(lua_State *L) {
  lua_pushboolean(L, ensemble_set_counter(box_at(L, 1)->ensemble,
                                          luaL_checkstring(L, 2),
                                          (int32_t)luaL_checknumber(L, 3)));
  return 1;
}

/* ensemble:link(address, server...): adds a link with this address to the
 * servers with these numbers, from 1. Returns whether the address was free. */
static int own_link(lua_State *L) {
  int servers[16], count = lua_gettop(L) - 2;
  luaL_argcheck(L, count >= 1 && count <= 16, 3, "1 to 16 servers");
  for (int i = 0; i < count; i++)
    servers[i] = (int)luaL_checkinteger(L, i + 3) - 1;
  lua_pushboolean(L, link_new(box_at(L, 1)->ensemble, luaL_checkstring(L, 2),
                              servers, count) != NULL);
  return 1;
}

static int own_collect(lua_State *L) {
  struct lua_box *box = box_at(L, 1);
  if (!box->now && box->ensemble) ensemble_free(box->ensemble);
  box->ensemble = NULL;
  return 0;
}

static const luaL_Reg ensemble_methods[] = {{"open", open_client},
                                            {"now", own_now},
                                            {"next", own_next},
                                            {"step", own_step},
                                            {"advance", own_advance},
                                            {"link", own_link},
                                            {"stop", own_stop},
                                            {"start", own_start},
                                            {"pause", own_pause},
                                            {"resume", own_resume},
                                            {"group", own_group},
                                            {"lag", own_lag},
                                            {"elect", own_elect},
                                            {"leader", own_leader},
                                            {"end_session", own_end_session},
                                            {"has_session", own_has_session},
                                            {"look", own_look},
                                            {"children", own_children},
                                            {"crowd", own_crowd},
                                            {"watches", own_watches},
                                            {"connections", own_connections},
                                            {"word", own_word},
                                            {"set_counter", own_set_counter},
                                            {NULL, NULL}};

void lua_push_ensemble(lua_State *L, struct ensemble *ensemble,
                       int64_t (*now)(void)) {
  struct lua_box *box = lua_newuserdata(L, sizeof *box);
  *box = (struct lua_box){.ensemble = ensemble, .now = now};
  lua_push_metatable(L, LUA_ENSEMBLE, ensemble_methods, own_collect);
  lua_setmetatable(L, -2);
  lua_insert(L, 1);
  lua_settop(L, 1);
}

/* ---- New ensembles ------------------------------------------------------- */

static int32_t setting(lua_State *L, const char *name, int32_t otherwise) {
  lua_getfield(L, 1, name);
  int32_t value = lua_isnil(L, -1)       ? otherwise
                  : lua_isboolean(L, -1) ? lua_toboolean(L, -1)
                                         : (int32_t)luaL_checknumber(L, -1);
  lua_pop(L, 1);
  return value;
}

static int64_t number_of(lua_State *L, const char *name, int64_t otherwise) {
  lua_getfield(L, 1, name);
  int64_t value =
      lua_isnil(L, -1) ? otherwise : (int64_t)luaL_checknumber(L, -1);
  lua_pop(L, 1);
  return value;
}

int lua_ensemble_new(lua_State *L) {
  struct ensemble_settings s = ensemble_defaults();
  uint64_t seed = (uint64_t)luaL_optnumber(L, 2, 1);
  lua_settop(L, 1);
  if (lua_istable(L, 1)) {
    s.servers = setting(L, "servers", s.servers);
    s.observers = setting(L, "observers", s.observers);
    s.epoch_ms = number_of(L, "epoch_ms", s.epoch_ms);
    s.tick_ms = setting(L, "tick_ms", s.tick_ms);
    s.min_timeout_ms = setting(L, "min_timeout_ms", s.min_timeout_ms);
    s.max_timeout_ms = setting(L, "max_timeout_ms", s.max_timeout_ms);
    s.max_buffer = setting(L, "max_buffer", s.max_buffer);
    s.max_connections = setting(L, "max_connections", s.max_connections);
    s.hides_events = setting(L, "hides_events", s.hides_events);
    s.hides_nodes = setting(L, "hides_nodes", s.hides_nodes);
    s.multi_create2 = setting(L, "multi_create2", s.multi_create2);
    s.containers = setting(L, "containers", s.containers);
    s.ttl = setting(L, "ttl", s.ttl);
    s.enforces_quotas = setting(L, "enforces_quotas", s.enforces_quotas);
    s.container_interval_ms =
        setting(L, "container_interval_ms", s.container_interval_ms);
  }
  luaL_argcheck(L, s.servers >= 1 && s.servers <= 63, 1, "1 to 63 servers");
  lua_push_ensemble(L, ensemble_new(&s, seed, 0), NULL);
  struct lua_box *box = box_at(L, 1);
  for (int i = 0; i < s.servers; i++) {
    char address[40];
    snprintf(address, sizeof address, "127.0.0.1:%d", 2181 + i);
    link_new(box->ensemble, address, &i, 1);
  }
  return 1;
}

/* Opens the Lua module zklock.ensemble. It contains only the ensembles of this
 * directory, without the scheduler, the virtual clock and the client
 * library. */
__attribute__((visibility("default"))) int luaopen_zklock_ensemble(
    lua_State *L) {
  lua_createtable(L, 0, 1);
  lua_pushcfunction(L, lua_ensemble_new);
  lua_setfield(L, -2, "new");
  return 1;
}
