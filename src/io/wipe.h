/* Overwrites secrets before their memory is freed. */
#ifndef ZKLOCK_WIPE_H
#define ZKLOCK_WIPE_H

#include <stddef.h>

/* Writes through a volatile pointer. Otherwise the compiler would omit writes
 * that are never read. */
static inline void wipe(void *secret, size_t size) {
  volatile char *p = secret;
  for (size_t i = 0; secret && i < size; i++) p[i] = 0;
}

#endif
