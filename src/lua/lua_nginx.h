/* What nginx's adapter needs of C. */
#ifndef ZKLOCK_LUA_NGINX_H
#define ZKLOCK_LUA_NGINX_H

#include "lua_binding.h"

#pragma GCC visibility push(hidden)

/* running() → the request of nginx that runs, as a light userdata; is it its
 * entry thread?  nil: none, or it cannot be told. */
int binding_running(lua_State *L);

/* The class of requests, and methods of sessions. */
void binding_register_nginx(lua_State *L);

#pragma GCC visibility pop

#endif
