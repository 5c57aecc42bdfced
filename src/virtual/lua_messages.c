#include "lua_messages.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
  const char *name;
  enum zk_op op;
} ops[] = {
    {"create", ZK_CREATE},
    {"delete", ZK_DELETE},
    {"exists", ZK_EXISTS},
    {"get", ZK_GET_DATA},
    {"set", ZK_SET_DATA},
    {"get_acl", ZK_GET_ACL},
    {"set_acl", ZK_SET_ACL},
    {"children", ZK_GET_CHILDREN},
    {"sync", ZK_SYNC},
    {"ping", ZK_PING},
    {"children2", ZK_GET_CHILDREN2},
    {"check", ZK_CHECK},
    {"multi", ZK_MULTI},
    {"create2", ZK_CREATE2},
    {"remove_watches", ZK_REMOVE_WATCHES},
    {"create_container", ZK_CREATE_CONTAINER},
    {"create_ttl", ZK_CREATE_TTL},
    {"auth", ZK_AUTH},
    {"set_watches", ZK_SET_WATCHES},
    {"who_am_i", ZK_WHO_AM_I},
    {"close", ZK_CLOSE_SESSION},
};

enum { OPS = sizeof ops / sizeof *ops };

/* ---- From Lua ------------------------------------------------------------ */

static lua_Integer number_field(lua_State *L, int index, const char *name,
                                lua_Integer otherwise) {
  lua_getfield(L, index, name);
  lua_Integer value =
      lua_isnil(L, -1) ? otherwise : (lua_Integer)luaL_checknumber(L, -1);
  lua_pop(L, 1);
  return value;
}

static const char *text_field(lua_State *L, int index, const char *name,
                              struct arena *arena) {
  lua_getfield(L, index, name);
  const char *text =
      lua_isnil(L, -1) ? "" : arena_text(arena, luaL_checkstring(L, -1));
  lua_pop(L, 1);
  return text;
}

static bool flag_field(lua_State *L, int index, const char *name) {
  lua_getfield(L, index, name);
  bool flag = lua_toboolean(L, -1);
  lua_pop(L, 1);
  return flag;
}

static struct zk_data data_field(lua_State *L, int index, const char *name,
                                 struct arena *arena) {
  struct zk_data data = {NULL, 0};
  lua_getfield(L, index, name);
  if (lua_isboolean(L, -1)) {
    data.length = -1;
  } else if (!lua_isnil(L, -1)) {
    size_t size;
    const char *bytes = luaL_checklstring(L, -1, &size);
    data = (struct zk_data){arena_bytes(arena, bytes, size), (int32_t)size};
  }
  lua_pop(L, 1);
  return data;
}

static int length_of(lua_State *L, int index) {
#if LUA_VERSION_NUM < 502
  return (int)lua_objlen(L, index);
#else
  return (int)lua_rawlen(L, index);
#endif
}

static int list_field(lua_State *L, int index, const char *name) {
  lua_getfield(L, index, name);
  if (lua_isnil(L, -1)) return -1;
  luaL_checktype(L, -1, LUA_TTABLE);
  return length_of(L, -1);
}

static struct zk_strings strings_field(lua_State *L, int index,
                                       const char *name, struct arena *arena) {
  struct zk_strings strings = {0, NULL};
  int count = list_field(L, index, name);
  if (count > 0) {
    const char **list = arena_alloc(arena, (size_t)count * sizeof *list);
    for (int i = 0; i < count; i++) {
      lua_rawgeti(L, -1, i + 1);
      list[i] = arena_text(arena, luaL_checkstring(L, -1));
      lua_pop(L, 1);
    }
    strings = (struct zk_strings){count, list};
  }
  lua_pop(L, 1);
  return strings;
}

static struct zk_acls acls_field(lua_State *L, int index, const char *name,
                                 struct arena *arena) {
  static const struct zk_acl anyone = {ZK_ALL, "world", "anyone"};
  struct zk_acls acls = {1, &anyone};
  int count = list_field(L, index, name);
  if (count >= 0) {
    struct zk_acl *list = arena_alloc(arena, (size_t)count * sizeof *list + 1);
    for (int i = 0; i < count; i++) {
      lua_rawgeti(L, -1, i + 1);
      int entry = lua_gettop(L);
      list[i].perms = (int32_t)number_field(L, entry, "perms", ZK_ALL);
      list[i].scheme = text_field(L, entry, "scheme", arena);
      list[i].id = text_field(L, entry, "id", arena);
      lua_pop(L, 1);
    }
    acls = (struct zk_acls){count, list};
  }
  lua_pop(L, 1);
  return acls;
}

static enum zk_op op_field(lua_State *L, int index) {
  lua_getfield(L, index, "op");
  const char *name = luaL_checkstring(L, -1);
  for (int i = 0; i < OPS; i++) {
    if (strcmp(ops[i].name, name) != 0) continue;
    lua_pop(L, 1);
    return ops[i].op;
  }
  return luaL_error(L, "there is no operation '%s'", name);
}

static int64_t zxid_field(lua_State *L, int index, const char *name) {
  lua_getfield(L, index, name);
  int64_t zxid =
      lua_isnil(L, -1) ? 0 : strtoll(luaL_checkstring(L, -1), NULL, 10);
  lua_pop(L, 1);
  return zxid;
}

static void fill(lua_State *L, int index, struct arena *arena,
                 struct zk_request *r) {
  luaL_checktype(L, index, LUA_TTABLE);
  luaL_checkstack(L, 10, NULL);
  r->op = op_field(L, index);
  r->xid = (int32_t)number_field(L, index, "xid", 0);
  r->path = text_field(L, index, "path", arena);
  r->data = data_field(L, index, "data", arena);
  r->flags = (int32_t)number_field(L, index, "flags", 0);
  r->version = (int32_t)number_field(L, index, "version", -1);
  r->watch = flag_field(L, index, "watch");
  r->acls = acls_field(L, index, "acl", arena);
  r->ttl = number_field(L, index, "ttl", 0);
  r->scheme = text_field(L, index, "scheme", arena);
  r->seen = zxid_field(L, index, "seen");
  r->data_watches = strings_field(L, index, "data_watches", arena);
  r->exist_watches = strings_field(L, index, "exist_watches", arena);
  r->child_watches = strings_field(L, index, "child_watches", arena);
  r->part_count = list_field(L, index, "parts");
  if (r->part_count > 0) {
    int list = lua_gettop(L);
    struct zk_request *parts =
        arena_alloc(arena, (size_t)r->part_count * sizeof *parts);
    for (int i = 0; i < r->part_count; i++) {
      lua_rawgeti(L, list, i + 1);
      fill(L, lua_gettop(L), arena, &parts[i]);
      lua_pop(L, 1);
    }
    r->parts = parts;
  }
  lua_pop(L, 1);
}

struct zk_request *lua_to_request(lua_State *L, int index,
                                  struct arena *arena) {
  struct zk_request *request = arena_alloc(arena, sizeof *request);
  fill(L, index, arena, request);
  return request;
}

static struct zk_stat stat_field(lua_State *L, int index) {
  struct zk_stat stat = {0};
  lua_getfield(L, index, "stat");
  int at = lua_gettop(L);
  if (lua_istable(L, at)) {
    stat.czxid = zxid_field(L, at, "czxid");
    stat.mzxid = zxid_field(L, at, "mzxid");
    stat.pzxid = zxid_field(L, at, "pzxid");
    stat.version = (int32_t)number_field(L, at, "version", 0);
    stat.cversion = (int32_t)number_field(L, at, "cversion", 0);
    stat.length = (int32_t)number_field(L, at, "size", 0);
    stat.children = (int32_t)number_field(L, at, "children", 0);
    lua_getfield(L, at, "owner");
    stat.owner = lua_to_id(L, -1);
  }
  lua_settop(L, at - 1);
  return stat;
}

static void fill_reply(lua_State *L, int index, struct arena *arena,
                       struct zk_reply *r) {
  luaL_checktype(L, index, LUA_TTABLE);
  luaL_checkstack(L, 10, NULL);
  r->op = op_field(L, index);
  r->rc = (int)number_field(L, index, "rc", 0);
  r->path = text_field(L, index, "path", arena);
  r->stat = stat_field(L, index);
  r->data = data_field(L, index, "data", arena);
  r->names = strings_field(L, index, "names", arena);
  r->part_count = list_field(L, index, "parts");
  if (r->part_count < 0) r->part_count = 0;
  struct zk_reply *parts =
      arena_alloc(arena, (size_t)(r->part_count + 1) * sizeof *parts);
  for (int i = 0; i < r->part_count; i++) {
    lua_rawgeti(L, -1, i + 1);
    fill_reply(L, lua_gettop(L), arena, &parts[i]);
    lua_pop(L, 1);
  }
  r->parts = parts;
  lua_pop(L, 1);
}

struct zk_reply *lua_to_reply(lua_State *L, int index, struct arena *arena) {
  struct zk_reply *reply = arena_alloc(arena, sizeof *reply);
  fill_reply(L, index, arena, reply);
  return reply;
}

int64_t lua_to_id(lua_State *L, int index) {
  return (int64_t)strtoull(luaL_checkstring(L, index), NULL, 16);
}

/* ---- To Lua -------------------------------------------------------------- */

static void set_text(lua_State *L, const char *name, const char *text) {
  if (!text) return;
  lua_pushstring(L, text);
  lua_setfield(L, -2, name);
}

/* Sets a field to a number: an integer if this version of Lua has integers,
 * otherwise a float. */
static void set_integer(lua_State *L, const char *name, int64_t number) {
#if LUA_VERSION_NUM >= 503
  lua_pushinteger(L, (lua_Integer)number);
#else
  lua_pushnumber(L, (lua_Number)number);
#endif
  lua_setfield(L, -2, name);
}

static void set_zxid(lua_State *L, const char *name, int64_t zxid) {
  char text[32];
  snprintf(text, sizeof text, "%019" PRId64, zxid);
  set_text(L, name, text);
}

void lua_push_id(lua_State *L, int64_t id) {
  char text[32];
  snprintf(text, sizeof text, "0x%" PRIx64, (uint64_t)id);
  lua_pushstring(L, id ? text : "0x");
}

static void set_id(lua_State *L, const char *name, int64_t id) {
  lua_push_id(L, id);
  lua_setfield(L, -2, name);
}

void lua_push_stat(lua_State *L, const struct zk_stat *stat) {
  lua_createtable(L, 0, 11);
  set_zxid(L, "czxid", stat->czxid);
  set_zxid(L, "mzxid", stat->mzxid);
  set_zxid(L, "pzxid", stat->pzxid);
  set_integer(L, "ctime", stat->ctime);
  set_integer(L, "mtime", stat->mtime);
  set_integer(L, "version", stat->version);
  set_integer(L, "cversion", stat->cversion);
  set_integer(L, "aversion", stat->aversion);
  set_id(L, "owner", stat->owner);
  set_integer(L, "size", stat->length);
  set_integer(L, "children", stat->children);
}

static void set_acls(lua_State *L, const struct zk_acls *acls) {
  if (!acls->list) return;
  lua_createtable(L, acls->count, 0);
  for (int i = 0; i < acls->count; i++) {
    lua_createtable(L, 0, 3);
    set_integer(L, "perms", acls->list[i].perms);
    set_text(L, "scheme", acls->list[i].scheme);
    set_text(L, "id", acls->list[i].id);
    lua_rawseti(L, -2, i + 1);
  }
  lua_setfield(L, -2, "acl");
}

static const char *name_of(enum zk_op op) {
  for (int i = 0; i < OPS; i++)
    if (ops[i].op == op) return ops[i].name;
  return "?";
}

static bool has_stat(const struct zk_reply *reply) {
  return reply->stat.czxid != 0 || reply->stat.children != 0 ||
         reply->stat.cversion != 0;
}

void lua_push_reply(lua_State *L, const struct zk_reply *reply) {
  luaL_checkstack(L, 10, NULL);
  lua_createtable(L, 0, 8);
  set_text(L, "kind", "reply");
  set_integer(L, "xid", reply->xid);
  set_text(L, "op", name_of(reply->op));
  set_integer(L, "rc", reply->rc);
  set_zxid(L, "zxid", reply->zxid);
  set_text(L, "path", reply->path);
  if (reply->rc == ZK_OK && has_stat(reply)) {
    lua_push_stat(L, &reply->stat);
    lua_setfield(L, -2, "stat");
  }
  if (reply->data.length >= 0) {
    lua_pushlstring(L, reply->data.bytes, (size_t)reply->data.length);
    lua_setfield(L, -2, "data");
  }
  if (reply->names.list) {
    lua_createtable(L, reply->names.count, 0);
    for (int i = 0; i < reply->names.count; i++) {
      lua_pushstring(L, reply->names.list[i]);
      lua_rawseti(L, -2, i + 1);
    }
    lua_setfield(L, -2, "names");
  }
  set_acls(L, &reply->acls);
  if (!reply->parts) return;
  lua_createtable(L, reply->part_count, 0);
  for (int i = 0; i < reply->part_count; i++) {
    lua_push_reply(L, &reply->parts[i]);
    lua_rawseti(L, -2, i + 1);
  }
  lua_setfield(L, -2, "parts");
}

void lua_push_event(lua_State *L, const struct zk_event *event) {
  static const char *const types[] = {[ZK_NODE_CREATED] = "created",
                                      [ZK_NODE_DELETED] = "deleted",
                                      [ZK_NODE_CHANGED] = "changed",
                                      [ZK_CHILDREN_CHANGED] = "children"};
  lua_createtable(L, 0, 4);
  set_text(L, "kind", "event");
  set_text(L, "type", types[event->type]);
  set_text(L, "path", event->path);
  set_zxid(L, "zxid", event->zxid);
}

void lua_push_session(lua_State *L, const struct zk_session *session) {
  lua_createtable(L, 0, 4);
  set_text(L, "kind", "connected");
  set_id(L, "id", session->id);
  set_integer(L, "timeout", session->timeout_ms);
  lua_pushlstring(L, session->password, sizeof session->password);
  lua_setfield(L, -2, "password");
}
