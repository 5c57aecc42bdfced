/* Reads the options of a session from the Lua layer's table. */
#ifndef ZKLOCK_LUA_SETTINGS_H
#define ZKLOCK_LUA_SETTINGS_H

#include "io/settings.h"
#include "lua_binding.h"

#pragma GCC visibility push(hidden)

/* Reads the table { hosts =, session_timeout =, min_session_timeout =,
 * tick_time =, auth =, acl =, tls =, log = } at `index`, or raises an error.
 * Pushes a userdata that frees the settings. A caller that takes the settings
 * over sets the pointer to NULL. */
struct settings **binding_read_settings(lua_State *L, int index);

void binding_register_settings(lua_State *L);

#pragma GCC visibility pop

#endif
