/* Random bytes from the system. */
#ifndef ZKLOCK_ENTROPY_H
#define ZKLOCK_ENTROPY_H

#include <stdbool.h>
#include <stddef.h>

#pragma GCC visibility push(hidden)

bool entropy(void *bytes, size_t size);

#pragma GCC visibility pop

#endif
