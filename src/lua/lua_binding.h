/* What the files of the binding share.
 *
 * Lua may call any of our functions with anything, at any time: also from a
 * finalizer, a metamethod or an allocation's collector in the middle of another
 * of our calls, and with objects that have been collected.  So
 *
 *   - whatever a function takes is looked at, also where the Lua layer has;
 *   - a session may be left by whatever allocates: what a function needs of it
 *     is asked for after the last call that may (binding_check_session), and a
 *     pointer into it is not used after the next one;
 *   - no metamethod can be reached: methods are in a table of their own. */
#ifndef ZKLOCK_LUA_BINDING_H
#define ZKLOCK_LUA_BINDING_H

#include "io/lua_thread.h"
#include "lua_compat.h"

#pragma GCC visibility push(hidden)

#define NANOSECONDS 1e9

/* Raises in a process that is not the session's (fork). */
void binding_check_process(lua_State *L, const struct core *core);

/* A type of userdata.  Its metatable is in the registry at its address, which
 * no other copy of this library has. */
struct object_type {
  const char *name;
};

/* `gc` finds one of the type at index 1, perhaps not for the first time; NULL:
 * nothing is to be done then. */
void binding_new_type(lua_State *L, const struct object_type *type,
                      const luaL_Reg *methods, lua_CFunction gc);
/* More methods. */
void binding_add_methods(lua_State *L, const struct object_type *type,
                         const luaL_Reg *methods);
/* An object of zeros; it is left on top. */
void *binding_new_object(lua_State *L, const struct object_type *type,
                         size_t size);
/* The one at `index`; NULL: it is none of the type. */
void *binding_test_object(lua_State *L, int index,
                          const struct object_type *type);
/* The same, or raises. */
void *binding_check_object(lua_State *L, int index,
                           const struct object_type *type);

/* The seconds at `index`, in nanoseconds; NEVER for none.  0: not more than 0,
 * or no number. */
int64_t binding_opt_duration(lua_State *L, int index);
/* The nearest int; 0 for what is no number. */
int binding_to_int(lua_Number number);
/* The path at `index`; raises if it is none. */
const char *binding_check_path(lua_State *L, int index);
/* What a node may carry; raises if it is too much. */
const char *binding_check_data(lua_State *L, int index, size_t *size);

/* ---- What lua_core.c makes the module of, from other files ----------------- */

/* way(lock) → what a lock asks for, read once */
int binding_new_way(lua_State *L);
/* awaiting() → an empty one, to be filled by session:await or session:depart */
int binding_new_await(lua_State *L);
/* running() → the request of nginx that runs, as a light userdata; is it its
 * entry thread?  nil: none, or it cannot be told. */
int binding_running(lua_State *L);
/* What a list of contenders, and the data of one, mean. */
int binding_survey(lua_State *L);
int binding_own_data(lua_State *L);
/* Their classes, and their methods of the class of sessions. */
void binding_register_acquire(lua_State *L);
void binding_register_ask(lua_State *L);
void binding_register_await(lua_State *L);
void binding_register_nginx(lua_State *L);

#pragma GCC visibility pop

#endif
