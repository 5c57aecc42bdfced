/* Overwrites secrets before their memory is freed. */
#ifndef ZKLOCK_WIPE_H
#define ZKLOCK_WIPE_H

#include <stddef.h>

/* Fills the memory with zeros. The pointer is volatile: a compiler is allowed
 * to omit other writes to memory that is not read afterwards. */
static inline void wipe(void *secret, size_t size) {
  volatile char *p = secret;
  for (size_t i = 0; secret && i < size; i++) p[i] = 0;
}

#endif
