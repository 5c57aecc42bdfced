/* Limits repeated log messages to one a minute.
 *
 * Without a connection, each attempt logs the same message. The first is
 * logged. After a minute, the next one is logged with the number of those
 * skipped. A message names its server, so a message about another server is
 * logged at once.
 *
 * Pure. Messages are identified by their hash. Only the last NOTICES_MAX are
 * remembered. */
#ifndef ZKLOCK_NOTICE_H
#define ZKLOCK_NOTICE_H

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

enum { NOTICES_MAX = 32 };

struct notice {
  uint64_t hash; /* 0: none */
  int64_t told;  /* time of the last one logged */
  int since;     /* number skipped since then */
};

struct notices {
  struct notice list[NOTICES_MAX];
};

/* Returns whether to log a message now. Then `*since` is the number of times
 * that it was skipped. */
bool notice_due(struct notices *notices, const char *text, int64_t now,
                int *since);

#pragma GCC visibility pop

#endif
