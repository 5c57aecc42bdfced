/* What the files of the binding share. */
#ifndef ZKLOCK_LUA_BINDING_H
#define ZKLOCK_LUA_BINDING_H

#include "io/lua_thread.h"
#include "lua_compat.h"

#pragma GCC visibility push(hidden)

#define NANOSECONDS 1e9

/* Raises in a process that is not the session's (fork). */
void binding_check_process(lua_State *L, const struct core *core);

/* A class of userdata; its methods are called on objects only.  Others may add
 * some. */
void binding_new_class(lua_State *L, const char *name, const luaL_Reg *methods,
                       lua_CFunction gc);
void binding_add_methods(lua_State *L, const char *name,
                         const luaL_Reg *methods);

/* The seconds at `index`, in nanoseconds; NEVER for none. */
int64_t binding_opt_duration(lua_State *L, int index);

#pragma GCC visibility pop

#endif
