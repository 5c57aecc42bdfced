/* The unfair mutex: one node of one name, whoever makes it first. */
#ifndef ZKLOCK_UNFAIR_H
#define ZKLOCK_UNFAIR_H

#include "contender.h"

#pragma GCC visibility push(hidden)

extern const struct way unfair_way;

#pragma GCC visibility pop

#endif
