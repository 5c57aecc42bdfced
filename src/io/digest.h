/* SHA-256 by the system's own implementation. Pure. */
#ifndef ZKLOCK_DIGEST_H
#define ZKLOCK_DIGEST_H

#include <stddef.h>

#pragma GCC visibility push(hidden)

enum { DIGEST_DIGITS = 64 };

/* Writes the SHA-256 of the text to `digits`, in hexadecimal, with a NUL. */
void digest_sha256(char digits[DIGEST_DIGITS + 1], const char *text,
                   size_t size);

#pragma GCC visibility pop

#endif
