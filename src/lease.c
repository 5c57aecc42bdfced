#include "lease.h"

#include <string.h>

void lease_reset(struct lease *lease) { memset(lease, 0, sizeof *lease); }

void lease_connected(struct lease *lease, int64_t started, int64_t timeout) {
  lease->timeout = timeout;
  lease->connected = started;
  lease->count = 0;
}

void lease_answered(struct lease *lease, int64_t sent, int64_t now) {
  if (lease->count > 0) {
    int64_t last = lease->samples[lease->newest].answered;
    /* Coarse samples are enough: the ring must span T/4. */
    if (now - last < lease->timeout / 32) return;
    lease->newest = (lease->newest + 1) % LEASE_SAMPLES;
  }
  lease->samples[lease->newest].sent = sent;
  lease->samples[lease->newest].answered = now;
  if (lease->count < LEASE_SAMPLES) lease->count++;
}

/* The latest time at which the leader had certainly heard of us (see .h). */
static int64_t last_touch(const struct lease *lease, int64_t sent) {
  int64_t touch = lease->connected;
  for (int i = 0; i < lease->count; i++) {
    int at = (lease->newest - i + LEASE_SAMPLES) % LEASE_SAMPLES;
    if (lease->samples[at].answered > sent - lease->timeout / 4) continue;
    if (lease->samples[at].sent > touch) touch = lease->samples[at].sent;
    break;
  }
  return touch;
}

void lease_confirm(struct lease *lease, int64_t sent) {
  int64_t by_round = sent + lease->timeout / 5 * 2;
  int64_t by_touch = last_touch(lease, sent) + lease->timeout / 20 * 19;
  int64_t until = by_round < by_touch ? by_round : by_touch;
  if (until > lease->until) lease->until = until;
}
