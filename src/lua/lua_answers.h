/* The answers to questions, as values for Lua. */
#ifndef ZKLOCK_LUA_ANSWERS_H
#define ZKLOCK_LUA_ANSWERS_H

#include "io/query.h"
#include "lua_compat.h"

#pragma GCC visibility push(hidden)

/* The API's code for it. */
const char *binding_code(enum verdict verdict);

/* By their roles, what contenders are called; NULL ends them. */
extern const char *const binding_roles[];

/* Pushes "answered", number, code or nil, reason or nil; and what was found: of
 * contenders and children a list, and whether the path exists; of a revocation
 * how many nodes were marked, and the first that refused it or nil; of a node its
 * Stat, or false; of an eviction, or a barrier's lifting, whether the node was
 * there; of its setting, whether it was not; of an election its head, and how many
 * contenders there are, or false: no such path.  How many values. */
int binding_push_answer(lua_State *L, const struct query *query);

#pragma GCC visibility pop

#endif
