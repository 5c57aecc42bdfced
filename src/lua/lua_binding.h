/* What the files of the binding share: lua_core.c (the module), lua_session.c,
 * lua_hold.c and lua_nginx.c (its classes of userdata). */
#ifndef ZKLOCK_LUA_BINDING_H
#define ZKLOCK_LUA_BINDING_H

#include "io/core.h"
#include "lua_compat.h"

#pragma GCC visibility push(hidden)

#define SESSION "zklock.session"
#define HOLD "zklock.hold"
#define SETTINGS "zklock.settings"
#define REQUEST "zklock.request"

#define NANOSECONDS 1e9

/* One share of a hold: what a guard is made of.  The claim is given back when
 * its last share is.  It is born empty, where its end can be seen to, and then
 * filled, for a hook may raise as soon as the function has returned. */
struct hold_box {
  struct core *core; /* NULL: empty */
  struct claim *claim;
  bool live; /* this share counts */
  bool kept; /* when it was released, the hold was provable */
  bool last; /* and no other share was left */
};

/* Raises in a process that is not the session's (fork). */
void binding_check_process(lua_State *L, const struct core *core);
void binding_new_class(lua_State *L, const char *name, const luaL_Reg *methods,
                       lua_CFunction gc);

/* The open session at index 1. */
struct core *binding_check_session(lua_State *L);

void binding_register_session(lua_State *L);
void binding_register_hold(lua_State *L);
void binding_register_request(lua_State *L);
/* Adds to the module's table, which is on top. */
void binding_register_protect(lua_State *L);

/* lua_nginx.c: methods of a session, and who runs */
int binding_open_doorway(lua_State *L);
int binding_enter_doorway(lua_State *L);
int binding_new_request(lua_State *L);
int binding_requests(lua_State *L);
int binding_running(lua_State *L);

/* lua_survey.c: what a list of contenders, and the data of one, mean */
int binding_survey(lua_State *L);
int binding_own_data(lua_State *L);
int binding_marked_data(lua_State *L);

int binding_open_session(lua_State *L);
/* hold() → an empty share */
int binding_new_hold(lua_State *L);
/* The empty one at `index`, which is left on top. */
struct hold_box *binding_empty_hold(lua_State *L, int index);
/* session() → a closed session, for open() */
int binding_new_session(lua_State *L);
struct hold_box *binding_check_hold(lua_State *L, int index);

#pragma GCC visibility pop

#endif
