/* The way of a double barrier's members. */
#ifndef ZKLOCK_GATHERING_H
#define ZKLOCK_GATHERING_H

#include "contender.h"

#pragma GCC visibility push(hidden)

extern const struct way gathering_way;

#pragma GCC visibility pop

#endif
