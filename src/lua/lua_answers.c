/* The answers to questions, as values for Lua. */
#include "lua_answers.h"

#include <stdio.h>
#include <string.h>

#include "io/reason.h"

static void set_string(lua_State *L, const char *key, const char *format,
                       long long value) {
  char text[24];
  snprintf(text, sizeof text, format, value);
  lua_pushstring(L, text);
  lua_setfield(L, -2, key);
}

static void set_integer(lua_State *L, const char *key, lua_Integer value) {
  lua_pushinteger(L, value);
  lua_setfield(L, -2, key);
}

/* In seconds. */
static void set_time(lua_State *L, const char *key, int64_t ms) {
  lua_pushnumber(L, (lua_Number)ms / 1000);
  lua_setfield(L, -2, key);
}

/* Contenders. */

static const char *name_of(const struct query *query, const struct item *item) {
  return item->path + strlen(query->path) + 1;
}

const char *const binding_roles[] = {"unfair",     "mutex", "read",
                                     "write",      "lease", "kazoo-lock",
                                     "kazoo-read", "latch", "member",
                                     "hold",       NULL};

/* A contender as a table; the Lua layer says what it means.  Of one that may not be
 * looked at there is nothing but what its name says. */
static void push_item(lua_State *L, const struct query *query,
                      const struct item *item) {
  lua_newtable(L);
  lua_pushstring(L, name_of(query, item));
  lua_setfield(L, -2, "node");
  lua_pushstring(L, binding_roles[item->role]);
  lua_setfield(L, -2, "mode");
  set_integer(L, "sequence", item->sequence);
  if (item->hidden) return;
  set_integer(L, "size", item->size);
  set_string(L, "token", "%019lld", (long long)item->czxid);
  set_string(L, "session", "0x%llx", (long long)item->owner);
  set_time(L, "created", item->ctime_ms);
  if (item->data || item->size == 0) {
    lua_pushlstring(L, item->data ? item->data : "", (size_t)item->size);
    lua_setfield(L, -2, "data");
  }
}

static void push_items(lua_State *L, const struct query *query) {
  lua_newtable(L);
  for (int i = 0, n = 0; i < query->count; i++) {
    if (!query->items[i].there) continue;
    push_item(L, query, &query->items[i]);
    lua_rawseti(L, -2, ++n);
  }
}

const char *binding_code(enum verdict verdict) {
  static const char *const codes[] = {
      [VERDICT_TIMEOUT] = "timeout",
      [VERDICT_BUSY] = "busy",
      [VERDICT_CANCELLED] = "cancelled",
      [VERDICT_LOST] = "lost",
      [VERDICT_EXPIRED] = "expired",
      [VERDICT_DISCONNECTED] = "disconnected",
      [VERDICT_CLOSED] = "closed",
      [VERDICT_AUTH] = "auth",
      [VERDICT_DENIED] = "denied",
      [VERDICT_INVALID] = "invalid",
      [VERDICT_CONFLICT] = "conflict",
  };
  return codes[verdict];
}

/* A revocation. */

static void push_marked(lua_State *L, const struct query *query) {
  lua_pushinteger(L, query->marked);
  lua_pushstring(L, query->refused ? name_of(query, query->refused) : NULL);
}

/* A node; false: none; true: there is one, and the code says why no more.  (What
 * has no owner is shown as persistent, be it a container or one with a TTL: servers
 * do not tell them apart.) */
static void push_stat(lua_State *L, const struct query *query) {
  const struct known *known = &query->known;
  if (query->missing || query->hidden) {
    lua_pushboolean(L, query->hidden);
    return;
  }
  lua_newtable(L);
  lua_pushstring(L, known->owner ? "ephemeral" : "persistent");
  lua_setfield(L, -2, "kind");
  set_string(L, "session", "0x%llx", (long long)known->owner);
  set_time(L, "created", known->ctime_ms);
  set_time(L, "modified", known->mtime_ms);
  set_integer(L, "children", known->children);
  set_integer(L, "size", known->length);
  set_integer(L, "version", known->version);
  if (!query->text) return;
  lua_pushlstring(L, query->text, query->size);
  lua_setfield(L, -2, "data");
}

static void push_names(lua_State *L, const struct query *query) {
  lua_newtable(L);
  size_t length;
  int n = 0;
  for (size_t at = 0; at < query->size; at += length + 1) {
    length = strlen(query->text + at);
    lua_pushlstring(L, query->text + at, length);
    lua_rawseti(L, -2, ++n);
  }
}

/* Why not all was done: of a revocation, to all of the nodes. */
static int refusal_of(const struct query *query) {
  return query->rc == REPLY_OK ? query->refusal : query->rc;
}

static void push_code(lua_State *L, const struct query *query, int rc) {
  if (query->gone)
    lua_pushliteral(L, "lost");
  else if (rc == REPLY_OK)
    lua_pushnil(L);
  else
    lua_pushstring(L, binding_code(reply_is_unknown(rc) ? VERDICT_DISCONNECTED
                                                        : verdict_of(rc)));
  if (rc != REPLY_OK)
    lua_pushstring(L, reason_words(rc));
  else
    lua_pushnil(L);
}

static void push_found(lua_State *L, const struct query *query) {
  switch (query->kind) {
    case QUERY_CONTENDERS:
      push_items(L, query);
      lua_pushboolean(L, !query->missing);
      break;
    case QUERY_HEAD:
      push_items(L, query);
      if (query->missing)
        lua_pushboolean(L, 0);
      else
        lua_pushinteger(L, query->contenders);
      break;
    case QUERY_REVOKE:
      push_marked(L, query);
      break;
    case QUERY_STAT:
      push_stat(L, query);
      break;
    case QUERY_CHILDREN:
      push_names(L, query);
      lua_pushboolean(L, !query->missing);
      break;
    case QUERY_SET:
      lua_pushboolean(L, query->marked);
      break;
    case QUERY_EVICT:
    case QUERY_LIFT:
      lua_pushboolean(L, !query->missing);
      break;
    case QUERY_VERIFY:
    case QUERY_STAMP:
      break;
  }
}

int binding_push_answer(lua_State *L, const struct query *query) {
  int base = lua_gettop(L);
  lua_pushliteral(L, "answered");
  lua_pushnumber(L, (lua_Number)query->number);
  push_code(L, query, refusal_of(query));
  push_found(L, query);
  return lua_gettop(L) - base;
}
