/* The answers to requests about nodes, as values for Lua. */
#ifndef ZKLOCK_LUA_ANSWERS_H
#define ZKLOCK_LUA_ANSWERS_H

#include "io/ask.h"
#include "lua_compat.h"

#pragma GCC visibility push(hidden)

/* The API's code for it. */
const char *binding_code(enum verdict verdict);

/* By their roles, what contenders are called. */
extern const char *const binding_roles[];

/* mode(name) → what contender such a node is, and its number; nothing: it is none */
int binding_mode(lua_State *L);

/* Pushes "answered", the number, code and reason, or twice nil; and the answers, a
 * table for each request.  How many values. */
int binding_push_answers(lua_State *L, const struct ask *ask);

#pragma GCC visibility pop

#endif
