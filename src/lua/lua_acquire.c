/* session:acquire: reads what is asked for from the Lua layer's table, and gives
 * the claim to a share. */
#include "lua_acquire.h"

#include <string.h>

#include "io/clock.h"
#include "lua_session.h"
#include "lua_share.h"

static lua_Number number_field(lua_State *L, int index, const char *name,
                               lua_Number missing) {
  lua_getfield(L, index, name);
  lua_Number value = lua_isnil(L, -1) ? missing : lua_tonumber(L, -1);
  lua_pop(L, 1);
  return value;
}

/* The writer that is downgraded, if one is, from its hold. */
static void read_writer(lua_State *L, int index,
                        struct contender_options *options) {
  lua_getfield(L, index, "writer");
  options->downgrade = !lua_isnil(L, -1);
  if (options->downgrade) {
    const struct claim *claim = binding_check_share(L, -1)->claim;
    memcpy(options->writer, claim->node, sizeof options->writer);
    options->writer_token = claim->token;
  }
  lua_pop(L, 1);
}

/* (Both in the order of rule.h.) */
static enum kind read_kind(lua_State *L, int index) {
  static const char *const kinds[] = {"mutex",  "read",   "write",
                                      "permit", "unfair", NULL};
  lua_getfield(L, index, "kind");
  int kind = luaL_checkoption(L, -1, "mutex", kinds);
  lua_pop(L, 1);
  return (enum kind)kind;
}

static enum layout read_layout(lua_State *L, int index) {
  static const char *const layouts[] = {"curator", "kazoo", NULL};
  lua_getfield(L, index, "layout");
  int layout = luaL_checkoption(L, -1, "curator", layouts);
  lua_pop(L, 1);
  return (enum layout)layout;
}

static enum strategy read_strategy(lua_State *L, int index) {
  static const char *const strategies[] = {"predecessor", "parent", "poll",
                                           NULL};
  lua_getfield(L, index, "wait");
  int strategy = luaL_checkoption(L, -1, "predecessor", strategies);
  lua_pop(L, 1);
  return (enum strategy)strategy;
}

/* What a lock asks for, as the table at `index` says. */
static void read_lock(lua_State *L, int index,
                      struct contender_options *options) {
  options->kind = read_kind(L, index);
  options->layout = read_layout(L, index);
  options->strategy = read_strategy(L, index);
  options->permits = (int)number_field(L, index, "permits", 1);
  options->handoffs = (int)number_field(L, index, "handoffs", 0);
  options->poll_interval =
      (int64_t)(number_field(L, index, "poll_interval", 1) * NANOSECONDS);
  options->lose_on_suspend = number_field(L, index, "lose_on_suspend", 0) != 0;
  read_writer(L, index, options);
}

/* session:acquire(path, seconds|nil, patient, data, max_hold|nil, lock
 *   [, empty share]) → share, number;  lock: kind, layout, permits, wait,
 * poll_interval, handoffs, lose_on_suspend, writer */
static int acquire(lua_State *L) {
  struct core *core = binding_check_session(L);
  struct contender_options options = {0};
  size_t size;
  const char *path = luaL_checkstring(L, 2);
  const char *data = luaL_checklstring(L, 5, &size);
  luaL_checktype(L, 7, LUA_TTABLE);
  int64_t patience = binding_opt_duration(L, 3);
  options.deadline = patience == NEVER ? NEVER : clock_now() + patience;
  options.patient = lua_toboolean(L, 4);
  options.max_hold = binding_opt_duration(L, 6);
  read_lock(L, 7, &options);
  struct share *share = binding_empty_share(L, 8);
  struct claim *claim = core_acquire(core, path, data, size, &options);
  if (!claim) return luaL_error(L, "not enough memory");
  binding_fill_share(share, core, claim);
  lua_pushnumber(L, (lua_Number)claim->number);
  return 2;
}

void binding_register_acquire(lua_State *L) {
  static const luaL_Reg methods[] = {{"acquire", acquire}, {NULL, NULL}};
  binding_add_methods(L, SESSION, methods);
}
