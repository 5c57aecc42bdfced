/* Declarations that the files of the binding share.
 *
 * Lua may call each function with any arguments, at any time. The caller may be
 * a finalizer or a metamethod that runs in the middle of another call, because
 * any allocation can run the collector. The arguments may even be objects that
 * have been collected. So
 *
 *   - each function checks its arguments, even if the Lua layer has;
 *   - an allocation may leave the session: a function gets the session after
 *     the last call that may allocate (binding_check_session), and does not
 *     use a pointer into it after the next one;
 *   - metamethods are unreachable: the methods are in a table of their own. */
#ifndef ZKLOCK_LUA_BINDING_H
#define ZKLOCK_LUA_BINDING_H

#include "io/lua_thread.h"
#include "lua_compat.h"

#pragma GCC visibility push(hidden)

#define NANOSECONDS 1e9

/* Raises an error if the process is not the session's own, because of fork. */
void binding_check_process(lua_State *L, const struct core *core);

/* A type of userdata. The registry key of its metatable is its address, which
 * no other copy of this library shares. */
struct object_type {
  const char *name;
};

/* Creates a type. `gc` gets an object of the type at index 1, perhaps more than
 * once. NULL: there is nothing to finalize. */
void binding_new_type(lua_State *L, const struct object_type *type,
                      const luaL_Reg *methods, lua_CFunction gc);
/* Adds methods. */
void binding_add_methods(lua_State *L, const struct object_type *type,
                         const luaL_Reg *methods);
/* Creates an object filled with zeros, on the top of the stack. */
void *binding_new_object(lua_State *L, const struct object_type *type,
                         size_t size);
/* Returns the object at `index`, or NULL if it has another type. */
void *binding_test_object(lua_State *L, int index,
                          const struct object_type *type);
/* Returns the object at `index`, or raises an error. */
void *binding_check_object(lua_State *L, int index,
                           const struct object_type *type);

/* Returns the seconds at `index` in nanoseconds; NEVER for nil. Returns 0 for
 * negative numbers and NaN. */
int64_t binding_opt_duration(lua_State *L, int index);
/* Returns the nearest int; 0 for NaN. */
int binding_to_int(lua_Number number);
/* Returns the path at `index`, or raises an error if it is invalid. */
const char *binding_check_path(lua_State *L, int index);
/* Returns the data for a node, or raises an error if there are too many. */
const char *binding_check_data(lua_State *L, int index, size_t *size);

/* Functions of the module zklock.core that other files than lua_core.c have: */

/* lock_options(lock) → the options of a lock, read once */
int binding_new_lock_options(lua_State *L);
/* awaiting() → an empty awaiting, for session:await or session:depart */
int binding_new_await(lua_State *L);
/* running() → the current nginx request as light userdata, and whether this is
 * its entry thread; nil if there is none or it is unknown */
int binding_running(lua_State *L);
/* survey(rows) and own_data(data): see lua_survey.c */
int binding_survey(lua_State *L);
int binding_own_data(lua_State *L);
/* Register the types, and their methods of the session type. */
void binding_register_acquire(lua_State *L);
void binding_register_ask(lua_State *L);
void binding_register_await(lua_State *L);
void binding_register_nginx(lua_State *L);

#pragma GCC visibility pop

#endif
