/* Converts the replies to asks (requests about nodes) to Lua values. */
#ifndef ZKLOCK_LUA_ANSWERS_H
#define ZKLOCK_LUA_ANSWERS_H

#include "io/ask.h"
#include "lua_compat.h"

#pragma GCC visibility push(hidden)

/* Returns the API's code for a refusal, such as "timeout". */
const char *binding_code(enum refusal_code refusal_code);

/* The API's names for the kinds of contenders. The index is the role of the
 * contender's node (enum role). */
extern const char *const binding_roles[];

/* Lua function mode(name): returns the kind of the contender whose node has
 * this name, and the node's sequence number. Returns nothing if no contender's
 * node can have this name. */
int binding_mode(lua_State *L);

/* Pushes the event of an answered ask: "answered", the ask's number, a code, a
 * reason, and a list with a table for each reply. The code and the reason are
 * nil, unless the ask has failed. Returns the number of values. */
int binding_push_answers(lua_State *L, const struct ask *ask);

#pragma GCC visibility pop

#endif
