/* FNV-1a (Fowler, Noll, Vo) with 64 bits, for fast lookup of strings. It does
 * not protect against collisions that an attacker constructs. */
#ifndef ZKLOCK_HASH_H
#define ZKLOCK_HASH_H

#include <stddef.h>
#include <stdint.h>

#define HASH_BEGIN UINT64_C(14695981039346656037)

/* Continues `hash` with `text`. */
static inline uint64_t hash_text(uint64_t hash, const char *text,
                                 size_t length) {
  for (size_t i = 0; i < length; i++)
    hash = (hash ^ (unsigned char)text[i]) * UINT64_C(1099511628211);
  return hash;
}

#endif
