/* Implements the Lua module zklock.virtual, which only tests use. This file has
 * the module's functions for time and random choices. */
#include <lauxlib.h>
#include <lua.h>

#include <inttypes.h>
#include <stdio.h>

#include "lua_clients.h"
#include "lua_fake_tls.h"
#include "lua_false_replies.h"
#include "lua_links.h"
#include "lua_process.h"
#include "lua_world.h"
#include "posix.h"
#include "schedule.h"
#include "trace.h"

#define SECOND 1e9
#define EVER 1e9 /* in seconds */

enum { FDS = 1024 };

/* ---- Time ---------------------------------------------------------------- */

static int64_t check_time(lua_State *L, int index) {
  return (int64_t)(luaL_checknumber(L, index) * SECOND);
}

static int64_t moment(lua_State *L, int index) {
  lua_Number seconds = luaL_optnumber(L, index, EVER);
  return seconds >= EVER ? INT64_MAX
                         : schedule_now() + (int64_t)(seconds * SECOND);
}

/* now(): returns the time of the virtual clock, in seconds. */
static int now(lua_State *L) {
  lua_pushnumber(L, (lua_Number)schedule_now() / SECOND);
  return 1;
}

/* sleep(seconds): lets this much virtual time pass. Meanwhile other threads
 * run. */
static int sleep_for(lua_State *L) {
  posix_poll_until(NULL, 0, schedule_now() + check_time(L, 1));
  return 0;
}

/* jump(seconds): advances the clock without running any thread, as when the
 * machine is suspended. */
static int jump(lua_State *L) {
  schedule_jump(check_time(L, 1));
  return 0;
}

/* limit(seconds | nil): makes the process end with a message when this much
 * virtual time has passed. nil removes the limit. */
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

/* poll(readers, writers, seconds | nil): waits until one of the descriptors is
 * ready, or for this time. Returns two lists of booleans: for each reader and
 * each writer, whether it is ready. */
static int poll_fds(lua_State *L) {
  struct pollfd fds[FDS + FDS];
  int64_t until = moment(L, 3);
  nfds_t readers = read_fds(L, 1, fds);
  nfds_t writers = read_fds(L, 2, fds + readers);
  for (nfds_t i = 0; i < readers + writers; i++)
    fds[i].events = i < readers ? POLLIN : POLLOUT;
  posix_poll_until(fds, readers + writers, until);
  push_ready(L, fds, readers);
  push_ready(L, fds + readers, writers);
  return 2;
}

/* threads(): returns how many threads of this process have not ended. */
static int threads(lua_State *L) {
  lua_pushinteger(L, thread_count());
  return 1;
}

/* ---- Random choices ------------------------------------------------------ */

/* seed(number): restarts all random choices of the scheduler with this seed. */
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

/* explore { switches =, stalls =, stall = }: sets the exploring mode. The
 * fields are those of struct schedule_exploration, but `stall` is in
 * seconds. */
static int explore(lua_State *L) {
  luaL_checktype(L, 1, LUA_TTABLE);
  schedule_explore(&(struct schedule_exploration){
      .switches = (uint64_t)number_of(L, "switches", 0),
      .stalls = (uint64_t)number_of(L, "stalls", 0),
      .stall = (int64_t)(number_of(L, "stall", 0) * SECOND)});
  return 0;
}

/* trace(file | nil): appends the trace to the file with this name; nil stops
 * the trace. */
static int trace_into(lua_State *L) {
  const char *name = luaL_optstring(L, 1, NULL);
  if (!trace_to(name)) return luaL_error(L, "cannot write %s", name);
  return 0;
}

/* note(text): adds a line with this text to the trace. */
static int note(lua_State *L) {
  trace(schedule_now(), "%s", luaL_checkstring(L, 1));
  return 0;
}

/* digest(): returns the hash of all threads' turns so far (schedule_digest), in
 * hexadecimal. */
static int digest(lua_State *L) {
  char text[20];
  snprintf(text, sizeof text, "%016" PRIx64, schedule_digest());
  lua_pushstring(L, text);
  return 1;
}

int luaopen_zklock_core(lua_State *L);

/* core(): returns the module zklock.core in virtual time. */
static int core(lua_State *L) { return luaopen_zklock_core(L); }

__attribute__((visibility("default"))) int luaopen_zklock_virtual(
    lua_State *L) {
  static const luaL_Reg functions[] = {
      {"now", now},     {"sleep", sleep_for}, {"jump", jump},
      {"limit", limit}, {"poll", poll_fds},   {"threads", threads},
      {"seed", seed},   {"explore", explore}, {"trace", trace_into},
      {"note", note},   {"digest", digest},   {"core", core},
      {NULL, NULL}};
#if LUA_VERSION_NUM >= 502
  luaL_checkversion(L);
#endif
  if (!schedule_knows_caller())
    return luaL_error(
        L,
        "zklock: zklock.testing works in one thread of a process: "
        "the one that has loaded it first");
  lua_newtable(L);
  for (const luaL_Reg *f = functions; f->name; f++) {
    lua_pushcfunction(L, f->func);
    lua_setfield(L, -2, f->name);
  }
  lua_world_register(L);
  lua_links_register(L);
  lua_clients_register(L);
  lua_false_replies_register(L);
  lua_process_register(L);
  lua_fake_tls_register(L);
  return 1;
}
