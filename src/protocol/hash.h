/* FNV-1a (Fowler, Noll, Vo), of 64 bits: for finding texts fast.  Nobody is kept
 * from choosing texts of one hash. */
#ifndef ZKLOCK_HASH_H
#define ZKLOCK_HASH_H

#include <stddef.h>
#include <stdint.h>

#define HASH_BEGIN UINT64_C(14695981039346656037)

/* Of what `hash` is of already, and of the text behind it. */
static inline uint64_t hash_text(uint64_t hash, const char *text,
                                 size_t length) {
  for (size_t i = 0; i < length; i++)
    hash = (hash ^ (unsigned char)text[i]) * UINT64_C(1099511628211);
  return hash;
}

#endif
