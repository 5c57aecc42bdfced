/* The lease: until when this process may believe that its ZooKeeper session
 * is alive, by its own clock alone.  Pure arithmetic on times in nanoseconds.
 *
 * Only what a quorum has committed proves anything, so the lease is renewed by
 * *rounds*: committed requests, one in flight at a time.  From a round sent at
 * S and confirmed we may believe until
 *
 *     min(S + 0.4 T,  touch + 0.95 T)         T: the negotiated timeout
 *
 * where `touch` is a time at which the leader had certainly not yet begun to
 * count our silence.  A leader hears of a follower's sessions only in the
 * follower's report, every half tick.  The link between the two stood until
 * the round was committed, so the last report before that commit is at most
 * half a tick (<= T/4: a server grants no timeout below two ticks) older than
 * S.  Whatever the follower had answered before that report was in it: so the
 * newest request *answered* at or before S - T/4 was received, and reported,
 * not earlier than it was sent.  A session is created, and moved to another
 * server, by the leader itself, so the start of a connection attempt that
 * succeeded counts as well.  The 5 % are for clocks of different rates.
 *
 * While requests are sent at least every T/4 and answered at once the first
 * term is the smaller one.  The second makes the lease shorter when answers
 * came late.  Assumptions: minSessionTimeout is at least two ticks, as the
 * server's default has it; and while the session is idle the leader is not
 * stopped for longer than the timeout (doc/protocol.md, "a known limit"). */
#ifndef ZKLOCK_LEASE_H
#define ZKLOCK_LEASE_H

#include <stdint.h>

#pragma GCC visibility push(hidden)

enum { LEASE_SAMPLES = 16 };

struct lease {
  int64_t timeout;
  int64_t until;     /* believe while now < until */
  int64_t connected; /* when the connection attempt began */
  int newest, count;
  struct {
    int64_t sent, answered;
  } samples[LEASE_SAMPLES];
};

/* A new connection of the same session: what was proved stays proved. */
void lease_connected(struct lease *lease, int64_t started, int64_t timeout);
/* A new session: nothing is proved yet. */
void lease_reset(struct lease *lease);
/* Any request was answered. */
void lease_answered(struct lease *lease, int64_t sent, int64_t now);
/* A committed round, sent at `sent`, was answered. */
void lease_confirm(struct lease *lease, int64_t sent);

#pragma GCC visibility pop

#endif
