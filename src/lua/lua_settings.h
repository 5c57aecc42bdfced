/* Reads the options of a session from the Lua layer's table. */
#ifndef ZKLOCK_LUA_SETTINGS_H
#define ZKLOCK_LUA_SETTINGS_H

#include "io/settings.h"
#include "lua_binding.h"

#pragma GCC visibility push(hidden)

/* Reads the options in the table at `index`, or raises an error. The table's
 * fields are hosts, session_timeout, min_session_timeout, tick_time, auth, acl,
 * tls and log.
 *
 * Pushes a userdata that owns the settings and frees them. Returns the address
 * of the userdata's pointer to the settings. A caller that takes over the
 * settings sets this pointer to NULL. */
struct settings **binding_read_settings(lua_State *L, int index);

void binding_register_settings(lua_State *L);

#pragma GCC visibility pop

#endif
