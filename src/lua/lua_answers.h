/* The answers to questions, as values for Lua. */
#ifndef ZKLOCK_LUA_ANSWERS_H
#define ZKLOCK_LUA_ANSWERS_H

#include "io/query.h"
#include "lua_compat.h"

#pragma GCC visibility push(hidden)

/* Pushes "answered", number, code or nil, reason or nil; and what was found: of
 * contenders and children a list, and whether the path exists; of a revocation
 * how many nodes were marked, and the first that refused it or nil; of a node its
 * Stat, or false; of an eviction whether the node was there.  How many values. */
int binding_push_answer(lua_State *L, const struct query *query);

#pragma GCC visibility pop

#endif
