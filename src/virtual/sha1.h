/* SHA-1, for the ids of the ACL scheme digest. It protects no secret here. */
#ifndef ZKLOCK_VIRTUAL_SHA1_H
#define ZKLOCK_VIRTUAL_SHA1_H

#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

enum { SHA1_BYTES = 20 };

void sha1(unsigned char digest[SHA1_BYTES], const void *bytes, size_t size);

#pragma GCC visibility pop

#endif
