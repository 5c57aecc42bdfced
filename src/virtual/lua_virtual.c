/* Time, chance and the ensembles; the table gets the rest from the other files. */
#include "lua_virtual.h"

#include <inttypes.h>
#include <stdio.h>

#include "operator.h"
#include "schedule.h"
#include "trace.h"
#include "world.h"

#define SECOND 1e9
#define EVER 1e9 /* seconds */

enum { FDS = 1024, SERVERS = 9 };

/* ---- Time ----------------------------------------------------------------- */

static int64_t check_time(lua_State *L, int index) {
  return (int64_t)(luaL_checknumber(L, index) * SECOND);
}

static int64_t moment(lua_State *L, int index) {
  lua_Number seconds = luaL_optnumber(L, index, EVER);
  return seconds >= EVER ? INT64_MAX
                         : schedule_now() + (int64_t)(seconds * SECOND);
}

/* now(): seconds */
static int now(lua_State *L) {
  lua_pushnumber(L, (lua_Number)schedule_now() / SECOND);
  return 1;
}

/* sleep(seconds): other threads run meanwhile */
static int sleep_for(lua_State *L) {
  schedule_poll_until(NULL, 0, schedule_now() + check_time(L, 1));
  return 0;
}

/* jump(seconds): none does, as in a suspend of this machine */
static int jump(lua_State *L) {
  schedule_jump(check_time(L, 1));
  return 0;
}

/* limit(seconds | nil): the process ends when so much time has passed */
static int limit(lua_State *L) {
  schedule_limit(moment(L, 1));
  return 0;
}

static nfds_t read_fds(lua_State *L, int index, struct pollfd *fds) {
  nfds_t n = 0;
  luaL_checktype(L, index, LUA_TTABLE);
  for (;; n++) {
    lua_rawgeti(L, index, (int)n + 1);
    if (lua_isnil(L, -1)) break;
    if (n == FDS) luaL_error(L, "too many descriptors");
    fds[n] = (struct pollfd){.fd = (int)lua_tointeger(L, -1)};
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
  return n;
}

static void push_ready(lua_State *L, const struct pollfd *fds, nfds_t n) {
  lua_newtable(L);
  for (nfds_t i = 0; i < n; i++) {
    lua_pushboolean(L, fds[i].revents != 0);
    lua_rawseti(L, -2, (int)i + 1);
  }
}

/* poll(readers, writers, seconds | nil): for each descriptor whether it is ready,
 * in two lists */
static int poll_fds(lua_State *L) {
  struct pollfd fds[FDS + FDS];
  int64_t until = moment(L, 3);
  nfds_t readers = read_fds(L, 1, fds);
  nfds_t writers = read_fds(L, 2, fds + readers);
  for (nfds_t i = 0; i < readers + writers; i++)
    fds[i].events = i < readers ? POLLIN : POLLOUT;
  schedule_poll_until(fds, readers + writers, until);
  push_ready(L, fds, readers);
  push_ready(L, fds + readers, writers);
  return 2;
}

/* threads(): of this process, that have not ended */
static int threads(lua_State *L) {
  lua_pushinteger(L, schedule_threads());
  return 1;
}

/* ---- Chance --------------------------------------------------------------- */

/* seed(number) */
static int seed(lua_State *L) {
  schedule_seed((uint64_t)luaL_checknumber(L, 1));
  return 0;
}

static lua_Number number_of(lua_State *L, const char *field, lua_Number other) {
  lua_getfield(L, 1, field);
  lua_Number number = luaL_optnumber(L, -1, other);
  lua_pop(L, 1);
  return number;
}

/* explore { switches =, stalls =, stall = }: see struct schedule_exploration; the
 * last one in seconds */
static int explore(lua_State *L) {
  luaL_checktype(L, 1, LUA_TTABLE);
  schedule_explore(&(struct schedule_exploration){
      .switches = (uint64_t)number_of(L, "switches", 0),
      .stalls = (uint64_t)number_of(L, "stalls", 0),
      .stall = (int64_t)(number_of(L, "stall", 0) * SECOND)});
  return 0;
}

/* trace(file | nil) */
static int trace_into(lua_State *L) {
  const char *name = luaL_optstring(L, 1, NULL);
  if (!trace_to(name)) return luaL_error(L, "cannot write %s", name);
  return 0;
}

/* note(text): into the trace */
static int note(lua_State *L) {
  trace(schedule_now(), "%s", luaL_checkstring(L, 1));
  return 0;
}

/* digest(): see schedule_digest */
static int digest(lua_State *L) {
  char text[20];
  snprintf(text, sizeof text, "%016" PRIx64, schedule_digest());
  lua_pushstring(L, text);
  return 1;
}

/* ---- Ensembles ------------------------------------------------------------ */

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
  FLAG(hides_nodes);
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

/* ensemble { addresses = { "127.0.0.1:2181", … }, … }: a server for each address,
 * which is that of a link to it alone; the other fields are those of struct
 * ensemble_settings, latencies as { least, most } in seconds */
static int ensemble(lua_State *L) {
  const char *addresses[SERVERS];
  luaL_checktype(L, 1, LUA_TTABLE);
  struct ensemble_settings settings = read_settings(L);
  settings.servers = 0;
  lua_getfield(L, 1, "addresses");
  luaL_checktype(L, -1, LUA_TTABLE);
  for (int i = 0; i < SERVERS; i++) {
    lua_rawgeti(L, -1, i + 1);
    addresses[i] = lua_tostring(L, -1);
    if (addresses[i]) settings.servers++;
    lua_pop(L, 1); /* (the table keeps it) */
    if (!addresses[i]) break;
  }
  struct ensemble *e = world_add(&settings, (uint64_t)number_of(L, "seed", 1));
  if (!e) return luaL_error(L, "too many ensembles");
  for (int i = 0; i < settings.servers; i++)
    if (!link_new(e, addresses[i], &i, 1))
      return luaL_error(L, "the address %s is taken", addresses[i]);
  return 0;
}

__attribute__((visibility("default"))) int luaopen_zklock_virtual(
    lua_State *L) {
  static const luaL_Reg functions[] = {
      {"now", now},     {"sleep", sleep_for}, {"jump", jump},
      {"limit", limit}, {"poll", poll_fds},   {"threads", threads},
      {"seed", seed},   {"explore", explore}, {"trace", trace_into},
      {"note", note},   {"digest", digest},   {"ensemble", ensemble},
      {NULL, NULL}};
  lua_newtable(L);
  for (const luaL_Reg *f = functions; f->name; f++) {
    lua_pushcfunction(L, f->func);
    lua_setfield(L, -2, f->name);
  }
  lua_links_register(L);
  lua_operator_register(L);
  return 1;
}
