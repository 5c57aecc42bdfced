/* What a server does with what is committed. */
#ifndef ZKLOCK_VIRTUAL_APPLY_H
#define ZKLOCK_VIRTUAL_APPLY_H

#include "inside.h"

#pragma GCC visibility push(hidden)

/* Applies it, until this zxid. */
void apply_until(struct server *server, int64_t zxid, int64_t now);

#pragma GCC visibility pop

#endif
