/* Exponential backoff with jitter, for a request that zklock repeats because
 * the reply was not useful. zklock sends the first three repetitions at once,
 * because an ordinary recovery needs no more. Each later repetition is sent
 * after a pause about twice as long as the last. If no repetition follows for
 * four times the longest pause, the series begins again.
 *
 * Pure arithmetic on times. */
#ifndef ZKLOCK_BACKOFF_H
#define ZKLOCK_BACKOFF_H

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

struct backoff {
  int64_t until; /* send no request while now < until */
  uint8_t repeated;
};

/* Records one more repetition at the time `now`, and sets the next pause, which
 * lasts at most `longest`. `jitter`: any number that differs between
 * clients. */
void backoff_repeat(struct backoff *backoff, int64_t now, int64_t longest,
                    uint64_t jitter);
/* Ends a series of repetitions: the request got a useful reply. */
static inline void backoff_end(struct backoff *backoff) {
  backoff->repeated = 0;
}
static inline bool backoff_lasts(const struct backoff *backoff, int64_t now) {
  return now < backoff->until;
}

#pragma GCC visibility pop

#endif
