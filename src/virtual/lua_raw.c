/* What comes is kept in C: it comes on any thread, and Lua is one thread's. */
#include "lua_raw.h"

#include <stdlib.h>
#include <string.h>

#include "arrival.h"
#include "lua_messages.h"
#include "lua_world.h"
#include "posix.h"
#include "schedule.h"

#define RAW "zklock.virtual.raw"
#define MICROSECOND INT64_C(1000)

struct raw {
  struct ensemble *ensemble;
  struct zk_connection *connection; /* NULL: it has ended */
  struct arrivals arrivals;
  int32_t xid;
};

static void on_accepted(void *self, int server) {
  (void)self;
  (void)server;
}

static void on_connected(void *self, const struct zk_session *session) {
  struct raw *raw = self;
  arrivals_append(&raw->arrivals, arrival_of_session(session));
}

static void on_reply(void *self, const struct zk_reply *reply) {
  struct raw *raw = self;
  arrivals_append(&raw->arrivals, arrival_of_reply(reply));
}

static void on_event(void *self, const struct zk_event *event) {
  struct raw *raw = self;
  arrivals_append(&raw->arrivals, arrival_of_event(event));
}

static void on_ended(void *self, enum zk_end end) {
  struct raw *raw = self;
  raw->connection = NULL;
  arrivals_append(&raw->arrivals, arrival_of_end(end));
}

static struct raw *check(lua_State *L) { return luaL_checkudata(L, 1, RAW); }

/* client:send(request): its xid; nil: the connection has ended */
static int raw_send(lua_State *L) {
  struct raw *raw = check(L);
  if (!raw->connection) return 0;
  struct arena *arena = arena_new();
  struct zk_request *request = lua_to_request(L, 2, arena);
  if (request->xid == 0) request->xid = ++raw->xid;
  ensemble_send(raw->ensemble, schedule_now(), raw->connection, request);
  lua_pushinteger(L, request->xid);
  arena_free(arena);
  return 1;
}

static void push_end(lua_State *L, enum zk_end end) {
  static const char *const words[] = {"refused", "closed", "broken"};
  lua_newtable(L);
  lua_pushstring(L, "ended");
  lua_setfield(L, -2, "kind");
  lua_pushstring(L, words[end]);
  lua_setfield(L, -2, "how");
}

static void push(lua_State *L, const struct arrival *arrival) {
  switch (arrival->kind) {
    case ARRIVAL_CONNECTED:
      lua_push_session(L, &arrival->session);
      break;
    case ARRIVAL_REPLY:
      lua_push_reply(L, &arrival->reply);
      break;
    case ARRIVAL_EVENT:
      lua_push_event(L, &arrival->event);
      break;
    case ARRIVAL_END:
      push_end(L, arrival->end);
      break;
    case ARRIVAL_ACCEPTED:
      lua_pushnil(L);
  }
}

/* client:take(seconds | nil): the next thing that has come, within so many seconds;
 * nil: there is none */
static int raw_take(lua_State *L) {
  struct raw *raw = check(L);
  int64_t until = schedule_now() + (int64_t)(luaL_optnumber(L, 2, 0) * 1e9);
  while (!raw->arrivals.first && schedule_now() < until)
    posix_poll_until(NULL, 0, schedule_now() + 50 * MICROSECOND);
  struct arrival *arrival = arrivals_take(&raw->arrivals);
  if (!arrival) return 0;
  push(L, arrival);
  arrival_free(arrival);
  return 1;
}

/* client:hang_up(): without a word to the server */
static int raw_hang_up(lua_State *L) {
  struct raw *raw = check(L);
  if (raw->connection)
    ensemble_hang_up(raw->ensemble, schedule_now(), raw->connection);
  raw->connection = NULL;
  return 0;
}

static int raw_collect(lua_State *L) {
  struct raw *raw = check(L);
  raw_hang_up(L);
  arrivals_clear(&raw->arrivals);
  return 0;
}

static void push_metatable(lua_State *L) {
  static const luaL_Reg methods[] = {{"send", raw_send},
                                     {"take", raw_take},
                                     {"hang_up", raw_hang_up},
                                     {NULL, NULL}};
  if (!luaL_newmetatable(L, RAW)) return;
  lua_pushcfunction(L, raw_collect);
  lua_setfield(L, -2, "__gc");
  lua_newtable(L);
  for (const luaL_Reg *m = methods; m->name; m++) {
    lua_pushcfunction(L, m->func);
    lua_setfield(L, -2, m->name);
  }
  lua_setfield(L, -2, "__index");
}

static struct zk_hello read_hello(lua_State *L, int index) {
  struct zk_hello hello = {.timeout_ms = 30000};
  if (lua_isnoneornil(L, index)) return hello;
  luaL_checktype(L, index, LUA_TTABLE);
  lua_getfield(L, index, "timeout");
  hello.timeout_ms = (int32_t)(luaL_optnumber(L, -1, 30) * 1000);
  lua_getfield(L, index, "session");
  if (!lua_isnil(L, -1)) hello.session = lua_to_id(L, -1);
  size_t size = 0;
  lua_getfield(L, index, "password");
  const char *password = lua_tolstring(L, -1, &size);
  if (size == sizeof hello.password) memcpy(hello.password, password, size);
  lua_pop(L, 3);
  return hello;
}

/* client(address, { timeout = seconds, session =, password = } | nil): an object,
 * which is told of its connection as of what follows it (lua_messages.h) */
static int client(lua_State *L) {
  const char *address = luaL_checkstring(L, 1);
  struct zk_hello hello = read_hello(L, 2);
  struct ensemble *ensemble = lua_check_ensemble(L, 1);
  struct raw *raw = lua_newuserdata(L, sizeof *raw);
  *raw = (struct raw){.ensemble = ensemble};
  arrivals_init(&raw->arrivals);
  push_metatable(L);
  lua_setmetatable(L, -2);
  struct zk_client functions = {.self = raw,
                                .accepted = on_accepted,
                                .connected = on_connected,
                                .reply = on_reply,
                                .event = on_event,
                                .ended = on_ended};
  raw->connection =
      ensemble_open(ensemble, schedule_now(), address, &hello, &functions);
  return 1;
}

void lua_raw_register(lua_State *L) {
  lua_pushcfunction(L, client);
  lua_setfield(L, -2, "client");
}
