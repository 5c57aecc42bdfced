#include "backoff.h"

#define FIRST_PAUSE INT64_C(10000000)

enum { AT_ONCE = 3, REPEATED_MAX = AT_ONCE + 20 };

void backoff_repeat(struct backoff *b, int64_t now, int64_t longest,
                    uint64_t jitter) {
  if (now >= b->until + 4 * longest) b->repeated = 0;
  int64_t pause = 0;
  if (b->repeated >= AT_ONCE) pause = FIRST_PAUSE << (b->repeated - AT_ONCE);
  if (pause > longest) pause = longest;
  if (b->repeated < REPEATED_MAX) b->repeated++;
  uint64_t half = (uint64_t)pause / 2;
  b->until = now + (int64_t)(half + jitter % (half + 1));
}
