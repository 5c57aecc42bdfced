#include "sha1.h"

#include <string.h>

static uint32_t turn(uint32_t word, int bits) {
  return word << bits | word >> (32 - bits);
}

static void block(uint32_t state[5], const unsigned char *bytes) {
  uint32_t w[80];
  for (int i = 0; i < 16; i++)
    w[i] = (uint32_t)bytes[4 * i] << 24 | (uint32_t)bytes[4 * i + 1] << 16 |
           (uint32_t)bytes[4 * i + 2] << 8 | bytes[4 * i + 3];
  for (int i = 16; i < 80; i++)
    w[i] = turn(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
  uint32_t a = state[0], b = state[1], c = state[2], d = state[3], e = state[4];
  for (int i = 0; i < 80; i++) {
    uint32_t f, k;
    if (i < 20)
      f = (b & c) | (~b & d), k = 0x5a827999;
    else if (i < 40)
      f = b ^ c ^ d, k = 0x6ed9eba1;
    else if (i < 60)
      f = (b & c) | (b & d) | (c & d), k = 0x8f1bbcdc;
    else
      f = b ^ c ^ d, k = 0xca62c1d6;
    uint32_t next = turn(a, 5) + f + e + k + w[i];
    e = d, d = c, c = turn(b, 30), b = a, a = next;
  }
  state[0] += a, state[1] += b, state[2] += c, state[3] += d, state[4] += e;
}

void sha1(unsigned char digest[SHA1_BYTES], const void *bytes, size_t size) {
  uint32_t state[5] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476,
                       0xc3d2e1f0};
  const unsigned char *at = bytes;
  size_t left = size;
  for (; left >= 64; at += 64, left -= 64) block(state, at);
  unsigned char tail[128] = {0};
  memcpy(tail, at, left);
  tail[left] = 0x80;
  size_t end = left < 56 ? 64 : 128;
  for (int i = 0; i < 8; i++)
    tail[end - 1 - (size_t)i] = (unsigned char)((uint64_t)size * 8 >> 8 * i);
  for (size_t done = 0; done < end; done += 64) block(state, tail + done);
  for (int i = 0; i < SHA1_BYTES; i++)
    digest[i] = (unsigned char)(state[i / 4] >> (24 - 8 * (i % 4)));
}
