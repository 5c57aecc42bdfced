/* Exponential backoff with jitter, for a request that is repeated because its
 * answer leads nowhere.  The first three repetitions go at once: ordinary recoveries
 * need no more.  Each one after them waits about twice as long as the one before.
 * When nothing was repeated for four times the longest pause, it begins again.
 *
 * Pure arithmetic on times. */
#ifndef ZKLOCK_BACKOFF_H
#define ZKLOCK_BACKOFF_H

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

struct backoff {
  int64_t until; /* nothing is sent while now < until */
  uint8_t repeated;
};

/* Once more.  `jitter`: any number, another one for each client. */
void backoff_repeat(struct backoff *backoff, int64_t now, int64_t longest,
                    uint64_t jitter);
/* What was asked for has come: the next repetition is a first one. */
static inline void backoff_end(struct backoff *backoff) {
  backoff->repeated = 0;
}
static inline bool backoff_lasts(const struct backoff *backoff, int64_t now) {
  return now < backoff->until;
}

#pragma GCC visibility pop

#endif
