/* Random bytes from the system. */
#ifndef ZKLOCK_ENTROPY_H
#define ZKLOCK_ENTROPY_H

#include <stdbool.h>
#include <stddef.h>

bool entropy(void *bytes, size_t size);

#endif
