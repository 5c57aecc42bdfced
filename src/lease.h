/* The lease: until when this process may believe that its ZooKeeper session
 * is alive, by its own clock alone.  Pure arithmetic on times in nanoseconds.
 *
 * Only what a quorum has committed proves anything, so the lease is renewed by
 * *rounds*: committed requests, one in flight at a time.  From a round sent at
 * S and confirmed we may believe until
 *
 *     min(S + 0.4 T,  touch + 0.95 T)
 *
 * where `touch` is a time at which the leader had certainly not yet begun to
 * count our silence.  A leader hears of a follower's sessions only in the
 * follower's reports, which it asks for every half tick (<= T/4: a server
 * grants no timeout below two ticks) as long as it runs.  So:
 *
 *   P, an earlier round, was answered T/24 or more before S.  The leader ran
 *   when it committed P, and had T/24 to look at its sessions before it
 *   committed the round of S: had it been stopped for so long that ours was
 *   overdue, ours would be expired, and the round of S refused.
 *   Q, an earlier round still, was answered T/4 or more before P was sent.
 *   If the leader ran all the time since, it asked for a report between the
 *   two, and the asking came before P's commit on the one link that it shares
 *   with it: the report was under way when S was sent, and arrived before the
 *   request of S.  If the leader was stopped, it asked as soon as it went on,
 *   for the time had come.  In the report was whatever had been received
 *   before Q was answered, and so after Q was sent.
 *
 * `touch` is when the newest such Q was sent.  A session is created, and moved
 * to another server, by the leader itself: the start of a connection attempt
 * that succeeded counts as well.  The 5 % are for clocks of different rates.
 *
 * T is the least timeout that a server may have granted this session.  A
 * server tells the leader with each sign of life for how long from now the
 * session is to live, by the timeout of the connection that it came through;
 * so any sign of life may shorten what an earlier one has granted, as well one
 * that comes late, through a server that we have left, and a new leader
 * begins with the timeout of the session's first connection.
 *
 * An attempt to connect whose answer is lost may have been granted less than
 * we know of, and may reach the leader at any time from its beginning on.  So
 * then L takes the place of T, a timeout that no server goes below, and what
 * the lease has left ends 0.95 L after the attempt's beginning.  L is what the
 * user says, or else the least that any connection of ours was ever granted.
 *
 * While rounds are made every T/6 and answered at once the first term is the
 * smaller one.  The second makes the lease shorter when answers came late, or
 * when the session had been idle, with a round every 0.3 T.  Assumptions:
 * minSessionTimeout is at least two ticks, as the server's default has it; and
 * a leader that goes on after a stop has looked for overdue sessions, and has
 * heard its followers, T/24 after its first commit. */
#ifndef ZKLOCK_LEASE_H
#define ZKLOCK_LEASE_H

#include <stdint.h>

#pragma GCC visibility push(hidden)

enum { LEASE_ROUNDS = 24 };

struct lease {
  int64_t least;     /* L; 0: no connection yet, and nobody has said */
  int64_t timeout;   /* T; 0: no connection yet */
  int64_t until;     /* believe while now < until */
  int64_t connected; /* when the connection attempt began */
  int newest, count;
  struct {
    int64_t sent, answered;
  } rounds[LEASE_ROUNDS]; /* of this connection */
};

/* `least`: no server grants less; 0: not known. */
void lease_init(struct lease *lease, int64_t least);
/* A new session: nothing is proved yet. */
void lease_reset(struct lease *lease);
/* From `started` on the same session may be under way to another server. */
void lease_attempting(struct lease *lease, int64_t started);
/* A new connection: what was proved of its session stays proved, for as long
 * as the timeout of this connection permits. */
void lease_connected(struct lease *lease, int64_t started, int64_t timeout);
/* A committed round, sent at `sent`, was answered. */
void lease_confirm(struct lease *lease, int64_t sent, int64_t now);

#pragma GCC visibility pop

#endif
