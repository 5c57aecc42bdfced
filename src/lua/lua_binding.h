/* Declares what the files of the binding (src/lua) share.
 *
 * Lua can call each function of the binding with any arguments, at any time.
 * Any allocation in Lua can run the garbage collector. The collector runs
 * finalizers, and a finalizer can call the binding in the middle of another
 * call. Arguments can even be objects that were already finalized. So these
 * rules apply:
 *
 *   - each function checks its arguments, even if the Lua layer has checked
 *     them;
 *   - an allocation can run a finalizer that leaves the session. So a function
 *     calls binding_check_session after its last call that can allocate. If it
 *     allocates later, it uses no pointer into the session afterwards;
 *   - Lua code cannot reach the metamethods: the methods are in a table of
 *     their own. */
#ifndef ZKLOCK_LUA_BINDING_H
#define ZKLOCK_LUA_BINDING_H

#include "io/lua_thread.h"
#include "lua_compat.h"

#pragma GCC visibility push(hidden)

#define NANOSECONDS 1e9

/* Raises an error if this process is a child of fork, and the session belongs
 * to its parent. */
void binding_check_process(lua_State *L, const struct core *core);

/* A type of userdata. Its metatable is in the registry; the key is the address
 * of this struct. If a process loads two copies of this library, their keys
 * differ. So neither copy accepts the other's objects. */
struct object_type {
  const char *name;
};

/* Creates a type with these methods. `gc` is the finalizer, or NULL if the type
 * needs none. It is called with an object of the type at index 1, perhaps more
 * than once. */
void binding_new_type(lua_State *L, const struct object_type *type,
                      const luaL_Reg *methods, lua_CFunction gc);
/* Adds methods to a type. */
void binding_add_methods(lua_State *L, const struct object_type *type,
                         const luaL_Reg *methods);
/* Pushes and returns a new object of this type, with `size` bytes, all zero. */
void *binding_new_object(lua_State *L, const struct object_type *type,
                         size_t size);
/* Returns the object at `index`. Returns NULL if the value there is not of the
 * type `type`. */
void *binding_test_object(lua_State *L, int index,
                          const struct object_type *type);
/* Returns the object at `index`. Raises an error if the value there is not of
 * the type `type`. */
void *binding_check_object(lua_State *L, int index,
                           const struct object_type *type);

/* The userdata of a session; its first field is a pointer to the core. */
extern const struct object_type session_type;

/* Returns the core of the session at index 1. The core stays valid until the
 * next allocation in Lua. Raises an error if the session was left, or belongs
 * to another process. */
struct core *binding_check_session(lua_State *L);
/* Returns the core, as binding_check_session does. Also raises an error if the
 * session has begun to close, because the core would not answer a new
 * request. */
struct core *binding_check_open(lua_State *L);

/* Converts the number of seconds at `index` to nanoseconds. Returns NEVER for
 * nil, and 0 for negative numbers and NaN. */
int64_t binding_opt_duration(lua_State *L, int index);
/* Returns the time at which this duration ends if it begins now, or NEVER. */
int64_t binding_opt_deadline(lua_State *L, int index);
/* Returns the number as an int, without its fraction. If it is out of range,
 * returns the nearest int. Returns 0 for NaN. */
int binding_to_int(lua_Number number);
/* Returns the path at `index`. Raises an error if ZooKeeper does not allow such
 * a path. */
const char *binding_check_path(lua_State *L, int index);
/* Returns the string at `index`, the data for a contender's node, and sets
 * `*size`. Raises an error if it is longer than DATA_MAX_BYTES. */
const char *binding_check_data(lua_State *L, int index, size_t *size);

/* The functions below are functions of the Lua module zklock.core. The module's
 * other functions are in lua_core.c. */

/* Reads the options of a session from the table at `index`, or raises an error.
 * The table's fields are hosts, session_timeout, min_session_timeout,
 * tick_time, auth, acl, tls and log.
 *
 * Pushes a userdata that owns the settings and frees them. Returns the address
 * of the userdata's pointer to the settings. A caller that takes over the
 * settings sets this pointer to NULL. */
struct settings **binding_read_settings(lua_State *L, int index);

/* Lua function session(): returns a session that is not open yet. The Lua
 * function open() opens it. */
int binding_new_session(lua_State *L);
int binding_open_session(lua_State *L);
/* Lua function lock_options(lock): reads options from the table `lock`. Returns
 * a userdata with these options, for session:acquire. */
int binding_new_lock_options(lua_State *L);
/* Lua function awaiting(): returns an empty await userdata (lua_await.c), for
 * session:await or session:depart. */
int binding_new_await(lua_State *L);
/* Lua function running(): returns the current nginx request as light userdata.
 * Also returns whether the request began with the current Lua thread. Returns
 * nothing if no request is known. */
int binding_running(lua_State *L);
/* lua_survey.c describes survey(rows) and own_data(data). */
int binding_survey(lua_State *L);
int binding_own_data(lua_State *L);
/* Each of these functions creates the types of one file, and adds that file's
 * methods to the session type. */
void binding_register_acquire(lua_State *L);
void binding_register_ask(lua_State *L);
void binding_register_await(lua_State *L);
void binding_register_nginx(lua_State *L);
void binding_register_session(lua_State *L);
void binding_register_settings(lua_State *L);

#pragma GCC visibility pop

#endif
