/* Converts requests, replies and events to and from Lua tables. 64-bit numbers
 * become strings, because Lua 5.1 has no 64-bit integers. A zxid has 19 decimal
 * digits; the id of a session is hexadecimal. */
#ifndef ZKLOCK_VIRTUAL_LUA_MESSAGES_H
#define ZKLOCK_VIRTUAL_LUA_MESSAGES_H

#include <lauxlib.h>
#include <lua.h>

#include "arena.h"
#include "messages.h"

#pragma GCC visibility push(hidden)

/* Returns the request that a table describes. Raises an error if a field is
 * wrong. The fields are:
 *   { xid =, op = "create", path =, data = (false: null), flags =, version =,
 *     watch =, acl = { { perms =, scheme =, id = }, ... }, ttl =, scheme =,
 *     parts = { ... }, seen =, data_watches =, exist_watches =,
 *     child_watches = } */
struct zk_request *lua_to_request(lua_State *L, int index, struct arena *arena);

/* Returns the reply that this table describes. The table has the fields that
 * lua_push_reply sets. The `xid` and the `acls` of the reply stay zero. */
struct zk_reply *lua_to_reply(lua_State *L, int index, struct arena *arena);

void lua_push_reply(lua_State *L, const struct zk_reply *reply);
void lua_push_event(lua_State *L, const struct zk_event *event);
void lua_push_stat(lua_State *L, const struct zk_stat *stat);
void lua_push_session(lua_State *L, const struct zk_session *session);
void lua_push_id(lua_State *L, int64_t id);
int64_t lua_to_id(lua_State *L, int index);

#pragma GCC visibility pop

#endif
