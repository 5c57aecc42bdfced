/* What a list of contenders, and the data of one, mean. */
#ifndef ZKLOCK_LUA_SURVEY_H
#define ZKLOCK_LUA_SURVEY_H

#include "lua_compat.h"

#pragma GCC visibility push(hidden)

int binding_survey(lua_State *L);
int binding_own_data(lua_State *L);

#pragma GCC visibility pop

#endif
