/* Declarations that the files of the binding share.
 *
 * Lua can call each function with any arguments, at any time. Any allocation
 * can run the collector. So the caller can be a finalizer or a metamethod that
 * runs in the middle of another call. The arguments can even be objects that
 * have been collected. So
 *
 *   - each function checks its arguments, even if the Lua layer has checked
 *     them;
 *   - an allocation can run a finalizer that leaves the session. So a function
 *     gets the session by binding_check_session after its last call that can
 *     allocate. If it allocates later, it uses no pointer into the session
 *     afterwards;
 *   - metamethods are unreachable: the methods are in a table of their own. */
#ifndef ZKLOCK_LUA_BINDING_H
#define ZKLOCK_LUA_BINDING_H

#include "io/lua_thread.h"
#include "lua_compat.h"

#pragma GCC visibility push(hidden)

#define NANOSECONDS 1e9

/* Raises an error if the session belongs to another process, because this
 * process was forked. */
void binding_check_process(lua_State *L, const struct core *core);

/* A type of userdata. The address of this struct is the key of the type's
 * metatable in the registry. So other copies of this library cannot mix up
 * their objects. */
struct object_type {
  const char *name;
};

/* Creates a type. `gc` is the finalizer: it gets an object of the type at index
 * 1, perhaps more than once. NULL: the type needs no finalizer. */
void binding_new_type(lua_State *L, const struct object_type *type,
                      const luaL_Reg *methods, lua_CFunction gc);
/* Adds methods to a type. */
void binding_add_methods(lua_State *L, const struct object_type *type,
                         const luaL_Reg *methods);
/* Pushes a new object that is filled with zeros. */
void *binding_new_object(lua_State *L, const struct object_type *type,
                         size_t size);
/* Returns the object at `index`, or NULL if the value there has another
 * type. */
void *binding_test_object(lua_State *L, int index,
                          const struct object_type *type);
/* Returns the object at `index`. Raises an error if the value there has another
 * type. */
void *binding_check_object(lua_State *L, int index,
                           const struct object_type *type);

/* Returns the duration at `index` in nanoseconds; NEVER for nil. The argument
 * is in seconds. Negative numbers and NaN count as 0. */
int64_t binding_opt_duration(lua_State *L, int index);
/* Returns the number as an int, without its fraction. If it is out of range,
 * returns the nearest int; 0 for NaN. */
int binding_to_int(lua_Number number);
/* Returns the path at `index`. Raises an error if ZooKeeper would refuse it. */
const char *binding_check_path(lua_State *L, int index);
/* Returns the data at `index` for a contender's node, or raises an error if
 * they are too large. */
const char *binding_check_data(lua_State *L, int index, size_t *size);

/* The functions of the module zklock.core that are not in lua_core.c: */

/* lock_options(lock) → a userdata with the options from the table `lock`, for
 * session:acquire */
int binding_new_lock_options(lua_State *L);
/* awaiting() → an empty userdata for an await (lua_await.c), for session:await
 * or session:depart */
int binding_new_await(lua_State *L);
/* running() → the current nginx request as light userdata, and whether the
 * request began with this thread; nil if no request is known */
int binding_running(lua_State *L);
/* survey(rows) and own_data(data): see lua_survey.c */
int binding_survey(lua_State *L);
int binding_own_data(lua_State *L);
/* Create the types of each file, and add the file's methods to the session
 * type. */
void binding_register_acquire(lua_State *L);
void binding_register_ask(lua_State *L);
void binding_register_await(lua_State *L);
void binding_register_nginx(lua_State *L);

#pragma GCC visibility pop

#endif
