#include "lua_answers.h"

#include <stdio.h>
#include <string.h>

#include "io/reason.h"

/* Codes and names. */

const char *const binding_roles[] = {"unfair",     "mutex",  "read",
                                     "write",      "permit", "kazoo-lock",
                                     "kazoo-read", "latch",  "member",
                                     "hold"};

const char *binding_code(enum refusal_code refusal_code) {
  static const char *const codes[] = {
      [REFUSED_TIMEOUT] = "timeout",
      [REFUSED_BUSY] = "busy",
      [REFUSED_CANCELLED] = "cancelled",
      [REFUSED_LOST] = "lost",
      [REFUSED_DISCONNECTED] = "disconnected",
      [REFUSED_CLOSED] = "closed",
      [REFUSED_AUTH] = "auth",
      [REFUSED_DENIED] = "denied",
      [REFUSED_INVALID] = "invalid",
      [REFUSED_CONFLICT] = "conflict",
  };
  return codes[refusal_code];
}

int binding_mode(lua_State *L) {
  const char *name = luaL_checkstring(L, 1);
  int32_t sequence = 0;
  enum role role = name_parse(name, &sequence);
  if (role == ROLE_FOREIGN) return 0;
  lua_pushstring(L, binding_roles[role]);
  lua_pushinteger(L, sequence);
  return 2;
}

/* Replies. */

static void set_string(lua_State *L, const char *key, const char *value) {
  lua_pushstring(L, value);
  lua_setfield(L, -2, key);
}

static void set_format(lua_State *L, const char *key, const char *format,
                       long long value) {
  char text[24];
  snprintf(text, sizeof text, format, value);
  set_string(L, key, text);
}

static void set_integer(lua_State *L, const char *key, lua_Integer value) {
  lua_pushinteger(L, value);
  lua_setfield(L, -2, key);
}

/* Sets the field `key` to the time `ms`, converted from milliseconds to
 * seconds. */
static void set_time(lua_State *L, const char *key, int64_t ms) {
  lua_pushnumber(L, (lua_Number)ms / 1000);
  lua_setfield(L, -2, key);
}

static const char *code_of(int rc) {
  return binding_code(reply_is_unknown(rc) ? REFUSED_DISCONNECTED
                                           : refusal_code_of(rc));
}

/* Returns the string by which the Lua layer names the code of a reply. Returns
 * NULL if it has none for this code. */
static const char *word_of(int rc) {
  switch (rc) {
    case REPLY_NO_NODE:
      return "missing";
    case REPLY_NODE_EXISTS:
      return "exists";
    case REPLY_BAD_VERSION:
      return "changed";
    case REPLY_UNDONE:
      return "undone";
    case REPLY_NO_AUTH:
      return "hidden";
    default:
      return NULL;
  }
}

static void set_refusal(lua_State *L, int rc) {
  set_string(L, "is", word_of(rc));
  set_string(L, "code", code_of(rc));
  set_string(L, "reason", reason_text(rc));
}

static void set_stat(lua_State *L, const struct known *known) {
  set_format(L, "token", "%019lld", (long long)known->czxid);
  set_format(L, "session", "0x%llx", (long long)known->owner);
  set_time(L, "created", known->ctime_ms);
  set_time(L, "modified", known->mtime_ms);
  set_integer(L, "version", known->version);
  set_integer(L, "size", known->length);
  set_integer(L, "children", known->children);
}

static void set_names(lua_State *L, const struct request *r) {
  size_t length;
  int n = 0;
  lua_newtable(L);
  for (size_t at = 0; at < r->size; at += length + 1) {
    length = strlen(r->data + at);
    lua_pushlstring(L, r->data + at, length);
    lua_rawseti(L, -2, ++n);
  }
  lua_setfield(L, -2, "names");
}

static void push_answer(lua_State *L, const struct request *r) {
  lua_newtable(L);
  if (r->rc != REPLY_OK) {
    set_refusal(L, r->rc);
    return;
  }
  switch (r->op.kind) {
    case OP_NAMES:
      set_names(L, r);
      break;
    case OP_READ:
      set_stat(L, &r->known);
      if (!r->data) break;
      lua_pushlstring(L, r->data, r->size);
      lua_setfield(L, -2, "data");
      break;
    case OP_PING:
    case OP_WRITE:
      set_stat(L, &r->known);
      break;
    default:
      break;
  }
}

int binding_push_answers(lua_State *L, const struct ask *ask) {
  lua_pushliteral(L, "answered");
  lua_pushnumber(L, (lua_Number)ask->number);
  lua_pushstring(L, ask->gone             ? "lost"
                    : ask->rc == REPLY_OK ? NULL
                                          : code_of(ask->rc));
  lua_pushstring(L, ask->rc == REPLY_OK ? NULL : reason_text(ask->rc));
  if (ask->rc != REPLY_OK || ask->acquisition) return 4;
  lua_createtable(L, ask->count, 0);
  for (int i = 0; i < ask->count; i++) {
    push_answer(L, &ask->requests[i]);
    lua_rawseti(L, -2, i + 1);
  }
  return 5;
}
