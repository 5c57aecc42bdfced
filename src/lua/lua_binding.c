#include "lua_binding.h"

#include <limits.h>
#include <string.h>

#include "io/clock.h"
#include "io/process.h"

void binding_check_process(lua_State *L, const struct core *core) {
  if (core->owner != process_id())
    luaL_error(L, "zklock: this session belongs to process %d",
               (int)core->owner);
}

/* Types. */

static void push_metatable(lua_State *L, const struct object_type *type) {
  lua_pushlightuserdata(L, (void *)(uintptr_t)type);
  lua_rawget(L, LUA_REGISTRYINDEX);
}

static void set_string(lua_State *L, const char *key, const char *text) {
  lua_pushstring(L, text);
  lua_setfield(L, -2, key);
}

void binding_new_type(lua_State *L, const struct object_type *type,
                      const luaL_Reg *methods, lua_CFunction gc) {
  push_metatable(L, type);
  bool known = !lua_isnil(L, -1); /* the module was loaded before */
  lua_pop(L, 1);
  if (known) return;
  lua_pushlightuserdata(L, (void *)(uintptr_t)type);
  lua_newtable(L);
  lua_newtable(L);
  compat_setfuncs(L, methods);
  lua_setfield(L, -2, "__index");
  if (gc) {
    lua_pushcfunction(L, gc);
    lua_setfield(L, -2, "__gc");
  }
  set_string(L, "__name", type->name); /* for Lua's messages */
  set_string(L, "__metatable", "zklock");
  lua_rawset(L, LUA_REGISTRYINDEX);
}

void binding_add_methods(lua_State *L, const struct object_type *type,
                         const luaL_Reg *methods) {
  push_metatable(L, type);
  lua_getfield(L, -1, "__index");
  compat_setfuncs(L, methods);
  lua_pop(L, 2);
}

void *binding_new_object(lua_State *L, const struct object_type *type,
                         size_t size) {
  void *object = compat_newuserdata(L, size);
  memset(object, 0, size);
  push_metatable(L, type);
  lua_setmetatable(L, -2);
  return object;
}

void *binding_test_object(lua_State *L, int index,
                          const struct object_type *type) {
  void *object = lua_touserdata(L, index);
  if (!object || !lua_getmetatable(L, index)) return NULL;
  push_metatable(L, type);
  if (!lua_rawequal(L, -1, -2)) object = NULL;
  lua_pop(L, 2);
  return object;
}

void *binding_check_object(lua_State *L, int index,
                           const struct object_type *type) {
  void *object = binding_test_object(L, index, type);
  if (!object) {
    lua_pushfstring(L, "%s expected, got %s", type->name,
                    luaL_typename(L, index));
    luaL_argerror(L, index, lua_tostring(L, -1));
    __builtin_unreachable(); /* luaL_argerror raises an error */
  }
  return object;
}

/* Arguments. */

const struct object_type session_type = {"zklock.session"};

struct core *binding_check_session(lua_State *L) {
  struct core *core =
      *(struct core **)binding_check_object(L, 1, &session_type);
  if (core)
    binding_check_process(L, core);
  else
    luaL_error(L, "zklock: the session is closed");
  return core;
}

struct core *binding_check_open(lua_State *L) {
  struct core *core = binding_check_session(L);
  if (core->closed) luaL_error(L, "zklock: the session is closed");
  return core;
}

int64_t binding_opt_duration(lua_State *L, int index) {
  if (lua_isnoneornil(L, index)) return NEVER;
  lua_Number seconds = luaL_checknumber(L, index);
  if (seconds >= 1e9) return NEVER;
  return seconds > 0 ? (int64_t)(seconds * NANOSECONDS) : 0;
}

int64_t binding_opt_deadline(lua_State *L, int index) {
  int64_t patience = binding_opt_duration(L, index);
  return patience == NEVER ? NEVER : clock_now() + patience;
}

int binding_to_int(lua_Number number) {
  if (number >= INT_MAX) return INT_MAX;
  if (number <= INT_MIN) return INT_MIN;
  return number == number ? (int)number : 0;
}

const char *binding_check_path(lua_State *L, int index) {
  size_t length;
  const char *path = luaL_checklstring(L, index, &length);
  const char *fault = path_fault(path, length);
  if (fault) {
    lua_pushfstring(L, "a path %s", fault);
    luaL_argerror(L, index, lua_tostring(L, -1));
  }
  return path;
}

const char *binding_check_data(lua_State *L, int index, size_t *size) {
  const char *data = luaL_checklstring(L, index, size);
  luaL_argcheck(L, *size <= DATA_MAX_BYTES, index, "more than a node may have");
  return data;
}
