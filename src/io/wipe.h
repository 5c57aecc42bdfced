/* Overwrites secrets, before their memory is freed. */
#ifndef ZKLOCK_WIPE_H
#define ZKLOCK_WIPE_H

#include <stddef.h>

/* Fills the memory with zeros. Writes through a volatile pointer, because a
 * compiler is allowed to omit other writes that are never read. */
static inline void wipe(void *secret, size_t size) {
  volatile char *p = secret;
  for (size_t i = 0; secret && i < size; i++) p[i] = 0;
}

#endif
