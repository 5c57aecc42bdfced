/* Notices: what happens again and again, told once a minute.
 *
 * Who cannot reach a server tries on, and each attempt says the same sentence:
 * the first is told, and after a minute, if it is still said, how often it was
 * not.  A sentence names its server, so another one's is told at once.
 *
 * Pure.  Sentences are known by their hash, the last so many of them. */
#ifndef ZKLOCK_NOTICE_H
#define ZKLOCK_NOTICE_H

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

enum { NOTICES_MAX = 32 };

struct notice {
  uint64_t hash; /* 0: none */
  int64_t told;  /* when */
  int since;     /* so often it was not, since then */
};

struct notices {
  struct notice list[NOTICES_MAX];
};

/* Is it to be told now?  Then `*since` says how often it was not. */
bool notice_due(struct notices *notices, const char *text, int64_t now,
                int *since);

#pragma GCC visibility pop

#endif
