/* Overwrites what must not stay in memory that others may get. */
#ifndef ZKLOCK_WIPE_H
#define ZKLOCK_WIPE_H

#include <stddef.h>

/* Through a volatile pointer, or the compiler would leave out what nobody reads
 * any more. */
static inline void wipe(void *secret, size_t size) {
  volatile char *p = secret;
  for (size_t i = 0; secret && i < size; i++) p[i] = 0;
}

#endif
