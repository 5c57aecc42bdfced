#include "suspicion.h"

#define MINUTE INT64_C(60000000000)

/* The largest request that a server has read lately. */
static int known_good(const struct suspicion *s, int64_t now) {
  return now < s->answered_at + MINUTE ? s->answered : 0;
}

static bool is_large(const struct suspicion *s, int64_t now, int bytes) {
  return bytes >= SUSPICION_LEAST && bytes > known_good(s, now);
}

bool suspicion_isolates(const struct suspicion *s, int64_t now, int bytes) {
  return now < s->until && is_large(s, now, bytes);
}

bool suspicion_defers(const struct suspicion *s, int64_t now, int bytes) {
  return s->row > 0 && suspicion_isolates(s, now, bytes);
}

bool suspicion_refuses(const struct suspicion *s, int64_t now, int bytes) {
  return now < s->refused_until && bytes >= s->refused;
}

void suspicion_answered(struct suspicion *s, int64_t now, int bytes) {
  if (bytes < SUSPICION_LEAST || bytes < known_good(s, now)) return;
  s->answered = bytes;
  s->answered_at = now;
  if (bytes >= s->largest) s->row = s->largest = 0;
  if (bytes >= s->refused) s->refused_until = 0;
}

void suspicion_expired(struct suspicion *s) {
  s->row = s->largest = 0;
  s->refused_until = 0;
}

void suspicion_lost(struct suspicion *s, int64_t now, int alone, int largest) {
  if (is_large(s, now, largest)) s->until = now + MINUTE;
  if (!alone) {
    s->row = s->largest = 0;
    return;
  }
  s->row++;
  if (alone > s->largest) s->largest = alone;
  if (s->row < SUSPICION_ROW) return;
  s->refused = s->largest;
  s->refused_until = now + MINUTE;
  s->row = s->largest = 0;
}
