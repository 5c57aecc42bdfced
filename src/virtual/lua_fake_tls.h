/* Lua functions by which a test uses and disturbs the fake TLS. */
#ifndef ZKLOCK_VIRTUAL_LUA_FAKE_TLS_H
#define ZKLOCK_VIRTUAL_LUA_FAKE_TLS_H

#include <lua.h>

#pragma GCC visibility push(hidden)

/* Adds the functions of this file to the table on top of the stack. */
void lua_fake_tls_register(lua_State *L);

#pragma GCC visibility pop

#endif
