/* Fills `bytes` with random bytes from the system. Returns false on failure. */
#ifndef ZKLOCK_ENTROPY_H
#define ZKLOCK_ENTROPY_H

#include <stdbool.h>
#include <stddef.h>

#pragma GCC visibility push(hidden)

bool entropy(void *bytes, size_t size);

#pragma GCC visibility pop

#endif
