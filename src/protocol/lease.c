#include "lease.h"

#include <string.h>

static int64_t settling(int64_t timeout) { return timeout / 24; }
static int64_t answer(int64_t timeout) { return timeout / 40; }
static int64_t without_margin(int64_t timeout) { return timeout / 20 * 19; }

static int64_t gap(const struct lease *lease) {
  return lease->tick > 0 ? lease->tick / 2 : lease->timeout / 4;
}

void lease_init(struct lease *lease, int64_t least, int64_t tick) {
  memset(lease, 0, sizeof *lease);
  lease->least = least;
  lease->tick = tick;
}

void lease_reset(struct lease *lease) {
  lease_init(lease, lease->least, lease->tick);
}

/* Lowers `*least` to `timeout` if that is shorter. In both, 0 means unknown. */
static void lower(int64_t *least, int64_t timeout) {
  if (timeout > 0 && (*least == 0 || timeout < *least)) *least = timeout;
}

/* Ends the lease at `started` plus the timeout without the margin, unless it
 * ends earlier. */
static void cut_short(struct lease *lease, int64_t started) {
  int64_t until = started + without_margin(lease->timeout);
  if (until < lease->until) lease->until = until;
}

void lease_attempting(struct lease *lease, int64_t started) {
  lower(&lease->timeout, lease->least);
  cut_short(lease, started);
}

void lease_connected(struct lease *lease, int64_t started, int64_t timeout) {
  lower(&lease->least, timeout);
  lower(&lease->timeout, timeout);
  cut_short(lease, started);
  lease->connected = started;
  lease->count = 0;
}

static void remember(struct lease *lease, int64_t sent, int64_t answered) {
  if (lease->count > 0) {
    int64_t last = lease->renewals[lease->newest].answered;
    /* Skips renewals close together (LEASE_RENEWALS). */
    if (answered - last < lease->timeout / 96) return;
    lease->newest = (lease->newest + 1) % LEASE_RENEWALS;
  }
  lease->renewals[lease->newest].sent = sent;
  lease->renewals[lease->newest].answered = answered;
  if (lease->count < LEASE_RENEWALS) lease->count++;
}

/* Finds the newest renewal that was answered at `when` or earlier, and returns
 * when it was sent. Without such a renewal, returns when the connection attempt
 * began. */
static int64_t sent_of_answered_by(const struct lease *lease, int64_t when) {
  for (int i = 0; i < lease->count; i++) {
    int at = (lease->newest - i + LEASE_RENEWALS) % LEASE_RENEWALS;
    if (lease->renewals[at].answered <= when) return lease->renewals[at].sent;
  }
  return lease->connected;
}

void lease_confirm(struct lease *lease, int64_t sent, int64_t now) {
  int64_t running = sent_of_answered_by(lease, sent - settling(lease->timeout));
  int64_t touch = sent_of_answered_by(lease, running - gap(lease));
  int64_t until = touch + without_margin(lease->timeout);
  if (until > lease->until) lease->until = until;
  remember(lease, sent, now);
}

static int64_t prompt(int64_t timeout) { return timeout / 10; }

static int64_t later(int64_t a, int64_t b) { return a > b ? a : b; }

/* Extends the end of the lease, `*until`, to `renewed`, for a renewal that is
 * confirmed at `at`. Does nothing if the lease has ended before `at`. */
static void renew(int64_t *until, int64_t at, int64_t renewed) {
  if (at < *until) *until = later(*until, renewed);
}

/* Computes how far the next renewals will extend the lease. lease.h explains
 * which renewals can serve as P, Q and S. First, the newest stored renewal
 * serves as P. Then each stored renewal in turn serves as Q, and at last the
 * renewal that is sent next. Its P must be sent now or later, at least a gap
 * after Q's reply. S follows P. */
bool lease_lasts(const struct lease *lease, int64_t now) {
  int64_t apart = gap(lease), whole = without_margin(lease->timeout);
  int64_t replies = prompt(lease->timeout), settles = settling(lease->timeout);
  int64_t touch = lease->connected, settled = now, until = lease->until;
  if (lease->count > 0) {
    int64_t sent = lease->renewals[lease->newest].sent;
    touch = sent_of_answered_by(lease, sent - apart);
    settled = lease->renewals[lease->newest].answered + settles;
  }
  renew(&until, later(settled, now) + replies, touch + whole);
  for (int i = lease->count; i-- > 0;) {
    int at = (lease->newest - i + LEASE_RENEWALS) % LEASE_RENEWALS;
    int64_t counts = later(lease->renewals[at].answered + apart, now);
    renew(&until, counts + settles + replies, lease->renewals[at].sent + whole);
  }
  return now + replies + apart + settles + replies < until;
}

int64_t lease_pace(const struct lease *lease) {
  int64_t timeout = lease->timeout;
  int64_t span = gap(lease) + answer(timeout); /* from Q to P */
  int64_t pace = span / (span / (timeout / 10) + 1);
  int64_t least = settling(timeout) + answer(timeout); /* from P to S */
  return pace > least ? pace : least;
}
