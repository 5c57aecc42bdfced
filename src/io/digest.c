#include "digest.h"

#include <stdint.h>

/* Except on macOS, this file uses the library libmd. It only computes digests,
 * its symbols have versions, and Debian's dpkg depends on it. libcrypto would
 * not be safe. A program that embeds Lua, such as nginx, can contain another
 * version of libcrypto. Then the linker could bind zklock's calls to that
 * version. */
#ifdef __APPLE__

#include <CommonCrypto/CommonDigest.h>

void digest_sha256(char digits[DIGEST_DIGITS + 1], const char *text,
                   size_t size) {
  const size_t most = 1u << 30; /* bytes per call: sizes have 32 bits */
  unsigned char bytes[DIGEST_DIGITS / 2];
  CC_SHA256_CTX context;
  CC_SHA256_Init(&context);
  for (size_t part; size > 0; text += part, size -= part) {
    part = size < most ? size : most;
    CC_SHA256_Update(&context, text, (CC_LONG)part);
  }
  CC_SHA256_Final(bytes, &context);
  for (int i = 0; i < DIGEST_DIGITS; i++)
    digits[i] = "0123456789abcdef"[bytes[i / 2] >> (i % 2 ? 0 : 4) & 15];
  digits[DIGEST_DIGITS] = '\0';
}

#else

#include <sys/types.h>

#include <sha2.h>

void digest_sha256(char digits[DIGEST_DIGITS + 1], const char *text,
                   size_t size) {
  SHA256Data((const uint8_t *)text, size, digits);
}

#endif
