/* Implements the methods of the session's userdata that send asks: batches of
 * requests about nodes (io/ask.h). */
#include <limits.h>

#include "lua_hold_ref.h"
#include "lua_session.h"

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

static int begin(lua_State *L, struct core *core, struct ask *ask) {
  if (!ask) return luaL_error(L, "not enough memory");
  lua_pushnumber(L, (lua_Number)core_ask(core, ask));
  return 1;
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
  if (fault == ASK_OK) return begin(L, core, ask);
  if (ask) ask_free(ask);
  if (fault == ASK_WRONG) return luaL_argerror(L, 2, "not a list of requests");
  return begin(L, core, NULL);
}

/* session:verify(hold_ref) → number
 *
 * Asks a server whether the node of this hold still exists. Returns the number
 * of the ask, which is also in the event with the reply. */
static int session_verify(lua_State *L) {
  struct core *core = binding_check_open(L);
  const struct hold_ref *hold_ref = binding_check_hold_ref(L, 2);
  luaL_argcheck(L, hold_ref->core == core, 2, "of another session");
  return begin(L, core, ask_to_verify(hold_ref->acquisition));
}

void binding_register_ask(lua_State *L) {
  static const luaL_Reg methods[] = {{"ask", session_ask_},
                                     {"verify", session_verify},
                                     {NULL, NULL}};
  binding_add_methods(L, &session_type, methods);
}
