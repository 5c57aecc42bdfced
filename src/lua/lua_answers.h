/* Converts the replies to asks (requests about nodes) to Lua values. */
#ifndef ZKLOCK_LUA_ANSWERS_H
#define ZKLOCK_LUA_ANSWERS_H

#include "io/ask.h"
#include "lua_compat.h"

#pragma GCC visibility push(hidden)

/* Returns the API's code for a refusal, such as "timeout". */
const char *binding_code(enum refusal_code refusal_code);

/* The API's names for the kinds of contenders, indexed by the roles of
 * nodes. */
extern const char *const binding_roles[];

/* mode(name) → the kind of the contender whose node has this name, and the
 * node's sequence number; nothing if the name is not a contender's */
int binding_mode(lua_State *L);

/* Pushes "answered", the ask's number, a code and a reason, and a list with a
 * table for each reply. Code and reason are nil unless the ask has failed.
 * Returns the number of values. */
int binding_push_answers(lua_State *L, const struct ask *ask);

#pragma GCC visibility pop

#endif
