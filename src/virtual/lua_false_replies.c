#include "lua_false_replies.h"

#include <lauxlib.h>
#include <stdio.h>
#include <stdlib.h>

#include "client_inside.h"
#include "lua_messages.h"

/* The test's function that changes answers, and the Lua thread in which it
 * runs. It has a Lua thread of its own, because answers arrive on another
 * system thread than the test's. Meanwhile the test's system thread waits in a
 * C function. */
static struct {
  lua_State *L;
  int thread, function; /* registry references */
} liar;

struct answer {
  const char *path;
  struct zk_reply truth;
  const struct zk_reply *lie; /* NULL if the answer stays unchanged */
  struct arena *arena;
};

static int ask(lua_State *L) {
  struct answer *answer = lua_touserdata(L, 1);
  lua_rawgeti(L, LUA_REGISTRYINDEX, liar.function);
  lua_push_reply(L, &answer->truth);
  lua_pushstring(L, answer->path);
  lua_call(L, 2, 1);
  if (lua_istable(L, -1))
    answer->lie = lua_to_reply(L, lua_gettop(L), answer->arena);
  return 0;
}

/* Returns the path of a request. For a multi, this is the path of its first
 * create. */
static const char *path_of(const struct outstanding *asked) {
  for (int i = 0; i < asked->part_count; i++)
    if (asked->parts[i].type == ZOO_CREATE_OP)
      return asked->parts[i].create_op.path;
  return asked->path;
}

/* Calls the test's function, and returns the answer that the library then
 * receives. Stops the garbage collector during the call, because finalizers
 * must not run in this system thread. */
static const struct zk_reply *lie(const struct outstanding *asked,
                                  const struct zk_reply *reply,
                                  struct arena *arena) {
  lua_State *L = liar.L;
  struct answer answer = {.path = path_of(asked),
                          .truth = *reply,
                          .arena = arena};
  answer.truth.op = asked->op;
  lua_gc(L, LUA_GCSTOP, 0);
  lua_pushcfunction(L, ask);
  lua_pushlightuserdata(L, &answer);
  if (lua_pcall(L, 1, 0, 0) != 0) {
    fprintf(stderr, "a lie has failed: %s\n", lua_tostring(L, -1));
    abort();
  }
  lua_gc(L, LUA_GCRESTART, 0);
  return answer.lie ? answer.lie : reply;
}

/* lie(function | nil): sets a function that can change the answers to the
 * library's requests. It is called with each answer, a table of lua_push_reply,
 * and the path of the request. If it returns a table, the library receives this
 * answer instead. The function must not wait. nil removes the function. */
static int set(lua_State *L) {
  if (liar.L) {
    luaL_unref(L, LUA_REGISTRYINDEX, liar.thread);
    luaL_unref(L, LUA_REGISTRYINDEX, liar.function);
  }
  liar.L = NULL;
  client_lie = NULL;
  if (lua_isnoneornil(L, 1)) return 0;
  luaL_checktype(L, 1, LUA_TFUNCTION);
  lua_settop(L, 1);
  liar.function = luaL_ref(L, LUA_REGISTRYINDEX);
  liar.L = lua_newthread(L);
  liar.thread = luaL_ref(L, LUA_REGISTRYINDEX);
  client_lie = lie;
  return 0;
}

void lua_false_replies_register(lua_State *L) {
  lua_pushcfunction(L, set);
  lua_setfield(L, -2, "lie");
}
