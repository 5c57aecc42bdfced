/* The names by which the Lua layer knows codes and kinds of contenders, and the
 * event of an ask. */
#ifndef ZKLOCK_LUA_ASK_H
#define ZKLOCK_LUA_ASK_H

#include "lua_binding.h"

#pragma GCC visibility push(hidden)

/* Returns the API's string for a refusal code, such as "timeout". */
const char *binding_code(enum refusal_code refusal_code);

/* The API's names for the kinds of contenders, indexed by the role of the
 * contender's node (enum role). */
extern const char *const binding_roles[];

/* Lua function mode(name): `name` is the name of a node. Returns the kind of
 * contender that such a node belongs to, and the node's sequence number.
 * Returns nothing if it cannot be a contender's node. */
int binding_mode(lua_State *L);

/* Pushes the event that reports the replies to an ask. Its values: "answered",
 * the ask's number, a code, a reason, and a list with a table for each reply.
 * Code and reason are nil unless the ask has failed. Returns the number of
 * values. */
int binding_push_answers(lua_State *L, const struct ask *ask);

#pragma GCC visibility pop

#endif
