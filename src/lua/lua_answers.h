/* Converts the replies to requests about nodes to Lua values. */
#ifndef ZKLOCK_LUA_ANSWERS_H
#define ZKLOCK_LUA_ANSWERS_H

#include "io/ask.h"
#include "lua_compat.h"

#pragma GCC visibility push(hidden)

/* Returns the API's code for a refusal. */
const char *binding_code(enum refusal_code refusal_code);

/* The kinds of contenders as Lua programs know them, by the roles of nodes. */
extern const char *const binding_roles[];

/* mode(name) → kind of contender, number; nothing if the name is not a
 * contender's */
int binding_mode(lua_State *L);

/* Pushes "answered", the number, the code and the reason, or nil for both, and
 * a list with a table for each reply. Returns how many values it has pushed. */
int binding_push_answers(lua_State *L, const struct ask *ask);

#pragma GCC visibility pop

#endif
