/* Computes SHA-256 by the system's own implementation. */
#ifndef ZKLOCK_DIGEST_H
#define ZKLOCK_DIGEST_H

#include <stddef.h>

#pragma GCC visibility push(hidden)

enum { DIGEST_DIGITS = 64 };

/* Writes the SHA-256 of `text` to `digits`, as hexadecimal digits and a NUL. */
void digest_sha256(char digits[DIGEST_DIGITS + 1], const char *text,
                   size_t size);

#pragma GCC visibility pop

#endif
