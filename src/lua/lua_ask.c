/* Implements the session's method that sends asks: batches of requests about
 * nodes (io/ask.h). Converts their replies to Lua values. */
#include "lua_ask.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "io/library_codes.h"

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

/* Requests. */

/* The next two functions read the i-th field of a request, whose table is on
 * the top of the stack. They must not raise an error: no Lua object owns the
 * ask yet, so an error would leak it. So they allocate nothing in Lua. */
static struct text text_at(lua_State *L, int i) {
  struct text text = {NULL, 0};
  lua_rawgeti(L, -1, i);
  if (lua_type(L, -1) == LUA_TSTRING)
    text.text = lua_tolstring(L, -1, &text.size);
  lua_pop(L, 1); /* the request's table keeps the string */
  return text;
}

static int number_at(lua_State *L, int i) {
  lua_rawgeti(L, -1, i);
  int number =
      lua_type(L, -1) == LUA_TNUMBER ? binding_to_int(lua_tonumber(L, -1)) : -1;
  lua_pop(L, 1);
  return number;
}

/* Adds the i-th request of the list at index 2 to the ask. Returns ASK_OK, or
 * what is wrong with the request. */
static enum ask_fault add(lua_State *L, struct ask *ask, const char *chroot,
                          int i) {
  enum ask_fault fault = ASK_WRONG;
  lua_rawgeti(L, 2, i);
  if (lua_istable(L, -1)) {
    struct asked asked = {.operation = text_at(L, 1),
                          .path = text_at(L, 2),
                          .data = text_at(L, 3),
                          .number = number_at(L, 4),
                          .provided = text_at(L, 5)};
    if (asked.operation.text && asked.path.text)
      fault = ask_add(ask, chroot, &asked);
  }
  lua_pop(L, 1);
  return fault;
}

/* session:ask({ { operation, path, data|nil, number|nil, provided|nil }, … },
 *   each, all) → number
 *
 * Sends a batch of requests about nodes (io/ask.h). `each` and `all` limit how
 * many bytes of data the ask keeps: per node and in total. Returns the ask's
 * number, which is also in the event with the replies. */
static int session_ask_(lua_State *L) {
  luaL_checktype(L, 2, LUA_TTABLE);
  int64_t each = binding_to_int(luaL_optnumber(L, 3, 0));
  int64_t all = binding_to_int(luaL_optnumber(L, 4, (lua_Number)each));
  lua_settop(L, 2);
  luaL_checkstack(L, 4, "requests");
  size_t n = lua_rawlen(L, 2);
  luaL_argcheck(L, n > 0 && n <= INT_MAX / 1000, 2, "no requests, or too many");
  struct core *core = binding_check_open(L);
  struct ask *ask = ask_new((int)n, each, all);
  enum ask_fault fault = ask ? ASK_OK : ASK_NO_MEMORY;
  for (int i = 1; i <= (int)n && fault == ASK_OK; i++)
    fault = add(L, ask, core->settings->hosts.chroot, i);
  if (fault == ASK_OK) {
    lua_pushnumber(L, (lua_Number)core_ask(core, ask));
    return 1;
  }
  if (ask) subject_drop(&ask->subject);
  if (fault == ASK_WRONG) return luaL_argerror(L, 2, "not a list of requests");
  return luaL_error(L, "not enough memory");
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

static void set_stat(lua_State *L, const struct reply *reply) {
  set_format(L, "token", "%019lld", (long long)reply->czxid);
  set_format(L, "session", "0x%llx", (long long)reply->owner);
  set_time(L, "created", reply->ctime_ms);
  set_time(L, "modified", reply->mtime_ms);
  set_integer(L, "version", reply->version);
  set_integer(L, "size", reply->length);
  set_integer(L, "children", reply->children);
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
  if (r->reply.rc != REPLY_OK) {
    set_refusal(L, r->reply.rc);
    return;
  }
  switch (r->op.kind) {
    case OP_NAMES:
      set_names(L, r);
      break;
    case OP_READ:
      set_stat(L, &r->reply);
      if (!r->data) break;
      lua_pushlstring(L, r->data, r->size);
      lua_setfield(L, -2, "data");
      break;
    case OP_PING:
    case OP_WRITE:
      set_stat(L, &r->reply);
      break;
    default:
      break;
  }
}

int binding_push_answers(lua_State *L, const struct ask *ask) {
  lua_pushliteral(L, "answered");
  lua_pushnumber(L, (lua_Number)ask->number);
  if (ask->rc != REPLY_OK) {
    lua_pushstring(L, code_of(ask->rc));
    lua_pushstring(L, reason_text(ask->rc));
    return 4;
  }
  lua_pushnil(L);
  lua_pushnil(L);
  lua_createtable(L, ask->count, 0);
  for (int i = 0; i < ask->count; i++) {
    push_answer(L, &ask->requests[i]);
    lua_rawseti(L, -2, i + 1);
  }
  return 5;
}

void binding_register_ask(lua_State *L) {
  static const luaL_Reg methods[] = {{"ask", session_ask_}, {NULL, NULL}};
  binding_add_methods(L, &session_type, methods);
}
