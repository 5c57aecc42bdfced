#include "lua_client.h"

#include <stdlib.h>
#include <string.h>

#include "lua_messages.h"
#include "request.h"

#define CLIENT "zklock.virtual.client"

/* A message that has reached the client, but that Lua has not taken yet. */
struct item {
  struct item *next;
  enum { SESSION, REPLY, EVENT, END } kind;
  struct arena *arena;
  union {
    struct zk_session session;
    const struct zk_reply *reply;
    struct zk_event event;
    enum zk_end end;
  };
};

struct client {
  struct lua_box *box;
  struct zk_connection *connection; /* NULL if the connection has ended */
  struct item *first, *last;
  int32_t xid;
  int64_t session;
  int owner; /* registry reference to the Lua object that has `box` */
};

void lua_push_metatable(lua_State *L, const char *name, const luaL_Reg *methods,
                        lua_CFunction collect) {
  if (!luaL_newmetatable(L, name)) return;
  lua_newtable(L);
  for (; methods->name; methods++) {
    lua_pushcfunction(L, methods->func);
    lua_setfield(L, -2, methods->name);
  }
  lua_setfield(L, -2, "__index");
  lua_pushcfunction(L, collect);
  lua_setfield(L, -2, "__gc");
}

/* ---- Arrivals ------------------------------------------------------------ */

static struct item *add(struct client *client, int kind) {
  struct item *item = fresh(sizeof *item);
  item->kind = kind;
  item->arena = arena_new();
  if (client->last)
    client->last->next = item;
  else
    client->first = item;
  client->last = item;
  return item;
}

static void hear_session(void *self, const struct zk_session *session) {
  struct client *client = self;
  client->session = session->id;
  add(client, SESSION)->session = *session;
}

static void hear_reply(void *self, const struct zk_reply *reply) {
  struct item *item = add(self, REPLY);
  item->reply = reply_copy(item->arena, reply);
}

static void hear_event(void *self, const struct zk_event *event) {
  struct item *item = add(self, EVENT);
  item->event = *event;
  item->event.path = arena_text(item->arena, event->path);
}

static void hear_end(void *self, enum zk_end end) {
  struct client *client = self;
  client->connection = NULL;
  add(client, END)->end = end;
}

/* ---- Methods ------------------------------------------------------------- */

static struct client *client_at(lua_State *L, int index) {
  return luaL_checkudata(L, index, CLIENT);
}

/* client:send(request): sends the request. Returns its xid, or nil if the
 * connection has ended. */
static int client_send(lua_State *L) {
  struct client *client = client_at(L, 1);
  struct arena **arena = lua_newuserdata(L, sizeof *arena);
  *arena = arena_new(); /* It leaks if lua_to_request raises an error. */
  struct zk_request *request = lua_to_request(L, 2, *arena);
  if (request->xid == 0) request->xid = ++client->xid;
  int32_t xid = request->xid;
  if (client->connection)
    ensemble_send(client->box->ensemble, lua_box_now(client->box),
                  client->connection, request);
  arena_free(*arena);
  if (!client->connection) return 0;
  lua_pushnumber(L, xid);
  return 1;
}

static void push_end(lua_State *L, enum zk_end end) {
  static const char *const words[] = {"refused", "closed", "broken"};
  lua_createtable(L, 0, 2);
  lua_pushstring(L, "ended");
  lua_setfield(L, -2, "kind");
  lua_pushstring(L, words[end]);
  lua_setfield(L, -2, "how");
}

static struct item *remove_first(struct client *client) {
  struct item *item = client->first;
  client->first = item->next;
  if (!client->first) client->last = NULL;
  return item;
}

static void item_free(struct item *item) {
  arena_free(item->arena);
  free(item);
}

/* client:take(): returns the next arrival, or nil if there is none. */
static int client_take(lua_State *L) {
  struct client *client = client_at(L, 1);
  if (!client->first) return 0;
  struct item *item = client->first;
  switch (item->kind) {
    case SESSION:
      lua_push_session(L, &item->session);
      break;
    case REPLY:
      lua_push_reply(L, item->reply);
      break;
    case EVENT:
      lua_push_event(L, &item->event);
      break;
    case END:
      push_end(L, item->end);
  }
  item_free(remove_first(client));
  return 1;
}

static int client_hang_up(lua_State *L) {
  struct client *client = client_at(L, 1);
  if (client->connection && client->box->ensemble)
    ensemble_hang_up(client->box->ensemble, lua_box_now(client->box),
                     client->connection);
  client->connection = NULL;
  return 0;
}

static int client_collect(lua_State *L) {
  struct client *client = client_at(L, 1);
  client_hang_up(L);
  while (client->first) item_free(remove_first(client));
  luaL_unref(L, LUA_REGISTRYINDEX, client->owner);
  return 0;
}

/* ---- A new client -------------------------------------------------------- */

static struct zk_hello read_options(lua_State *L, int options) {
  struct zk_hello hello = {.timeout_ms = 30000};
  if (!lua_istable(L, options)) return hello;
  lua_getfield(L, options, "timeout");
  hello.timeout_ms = (int32_t)luaL_optnumber(L, -1, 30000);
  lua_getfield(L, options, "session");
  if (!lua_isnil(L, -1)) hello.session = lua_to_id(L, -1);
  lua_getfield(L, options, "password");
  size_t size = 0;
  const char *password = lua_tolstring(L, -1, &size);
  if (size == sizeof hello.password) memcpy(hello.password, password, size);
  lua_getfield(L, options, "seen");
  if (!lua_isnil(L, -1))
    hello.seen = strtoll(luaL_checkstring(L, -1), NULL, 10);
  lua_pop(L, 4);
  return hello;
}

void lua_push_client(lua_State *L, struct lua_box *box, int owner,
                     const char *address, int options) {
  static const luaL_Reg methods[] = {{"send", client_send},
                                     {"take", client_take},
                                     {"hang_up", client_hang_up},
                                     {NULL, NULL}};
  struct zk_hello hello = read_options(L, options);
  struct client *client = lua_newuserdata(L, sizeof *client);
  *client = (struct client){.box = box, .owner = LUA_NOREF};
  lua_push_metatable(L, CLIENT, methods, client_collect);
  lua_setmetatable(L, -2);
  lua_pushvalue(L, owner);
  client->owner = luaL_ref(L, LUA_REGISTRYINDEX);
  const struct zk_client functions = {.self = client,
                                      .connected = hear_session,
                                      .reply = hear_reply,
                                      .event = hear_event,
                                      .ended = hear_end};
  client->connection = ensemble_open(box->ensemble, lua_box_now(box), address,
                                     &hello, &functions);
}
