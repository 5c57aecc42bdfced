/* The lease: until when this process may believe that its ZooKeeper session
 * is alive, by its own clock alone.  Pure arithmetic on times in nanoseconds.
 *
 * The leader expires a session T after the last sign of life that it has
 * heard of.  So from any sign of life, sent at `touch`, of which the leader
 * has heard, we may believe until
 *
 *     touch + T - margin                      margin = T/20
 *
 * The margin is for clocks of different rates.  The question is what the
 * leader has heard.  Only what a quorum has committed proves anything, so the
 * lease is renewed by *rounds*: committed requests, one in flight at a time.
 * (After a refusal a heartbeat may go beside another request.)
 * But that the leader has committed a round does not say that it has heard of
 * the session: it hears of a follower's sessions only in the follower's
 * reports, which it asks for every half tick as long as it runs.  So when a
 * round that was sent at S is confirmed, `touch` is found in two steps:
 *
 *   P, an earlier round, was answered settling = T/24 or more before S.  The
 *   leader ran when it committed P, and had that long to look for overdue
 *   sessions, and to hear its followers, before it committed the round of S:
 *   had it been stopped for so long that ours was overdue, ours would be
 *   expired, and the round of S refused.
 *   Q, an earlier round still, was answered gap = half a tick or more before P
 *   was sent.  If the leader ran all the time since, it asked for a report between
 *   the two, and the asking came before P's commit on the one link that it
 *   shares with it: the report was under way when S was sent, and arrived
 *   before the request of S.  If the leader was stopped, it asked as soon as
 *   it went on, for the time had come.  In the report was whatever had been
 *   received before Q was answered, and so after Q was sent.
 *
 * `touch` is when the newest such Q was sent.  A session is created, and moved
 * to another server, by the leader itself: the start of a connection attempt
 * that succeeded counts as well, with neither P nor Q.
 *
 * Which answers can only a quorum have given?  These, of every server since 3.5,
 * whatever its settings:
 *
 *   success of a write: create, delete, setData, setACL, multi.  The connected
 *   server keeps the answer until the leader says that the write is committed;
 *   a request of an expired session, or of one that has moved, does not succeed;
 *   a refusal inside of a multi's answer.  Only the leader checks the parts of a
 *   multi.  It proposes the multi with its refusals, and the answer comes after
 *   the commit.
 *
 * And these prove nothing:
 *
 *   NO_AUTH and INVALID_ACL of a plain write.  With enableEagerACLCheck (3.6) the
 *   connected server refuses it by itself, follower or leader.  The same setting
 *   passes multis on;
 *   the refusal of a whole request, a multi too: throttled (-127), read-only
 *   (-119), authentication wanted (-124), not implemented (-6).  Each of these is
 *   the connected server's own;
 *   other refusals of a plain write: NO_NODE, NODE_EXISTS, NOT_EMPTY,
 *   BAD_VERSION.  Today the leader proposes each of them.  The setting of
 *   ZOOKEEPER-3594 (skipErrorTxn, not merged) would end that;
 *   reads, sync, pings: the connected server answers a read, and a leader that
 *   leads no more answers a sync.
 *
 * So only a success is a proof (reply_proves), and the heartbeat is a write that
 * succeeds and changes nothing: a multi of two checks of "/", which is always
 * there.  (A plain check, and a multi without parts, would do as well for the
 * quorum.  But the client library has no plain check, and of a multi without parts
 * the leader does not check the session.)  A check needs the permission to read.
 * If "/" may not be read, the leader refuses the first part, and that is a refusal
 * inside of a multi: library_transactions.c tells it from the refusal of the
 * whole, and reports success.
 *
 * A tick is what the user says (option `tick_time`).  Who has not said takes
 * gap = T/4: a server grants no timeout below two ticks.
 *
 * With rounds every i, answered after r (r + settling <= i), P is the round
 * before S and Q the nth before P, n the least for which n i - r >= gap:
 *
 *     touch + T - margin = S + T - margin - (n + 1) i
 *
 * lease_pace has the i for somebody who holds, with answers that may take
 * answer = T/40:
 *
 *     n i = gap + answer, i < T/10, but i >= settling + answer = T/15
 *
 *     no tick known   gap = T/4    n = 3   i = T/11    S + 0.58 T
 *     T = 5 ticks     gap = T/10   n = 2   i = T/15    S + 0.75 T
 *     T = 10 ticks    gap = T/20   n = 1   i = T/13.3  S + 0.80 T
 *     T = 20 ticks    gap = T/40   n = 1   i = T/15    S + 0.81 T
 *
 * Rounds that come less often prove less: T/6 while somebody waits (0.45 T; no
 * tick known), 0.3 T while nobody does (0.35 T).  In a connection's first T/2
 * or so there is no Q yet, and it is more: up to the connection's start + 0.95
 * T.  The rounds of the last connection are forgotten: they would be safe to
 * count, but they are older.
 *
 * The client library gives a connection up after 2/3 T of silence.  A lease
 * that is over before that leaves the time to delete the node through the
 * connection, in case that it is only the answers that get lost; one that is
 * not leaves the time to look for another server.  (session_is_beyond_help has
 * what becomes of the node if there is none that answers.)
 *
 * T is the least timeout that a server may have granted this session.  A
 * server tells the leader with each sign of life for how long from now the
 * session is to live, by the timeout of the connection that it came through;
 * so any sign of life may shorten what an earlier one has granted, as well one
 * that comes late, through a server that we have left; and a new leader begins
 * with the timeout of the session's first connection.  By the least of them
 * all it does not matter which was the last.
 *
 * An attempt to connect whose answer is lost may have been granted less than
 * we know of, and may reach the leader at any time from its beginning on, also
 * when a later attempt has long succeeded.  So from the first attempt to
 * reconnect on, L takes the place of T, a timeout that no server goes below;
 * and what the lease has left ends L - margin after the attempt's beginning.
 * L is what the user says, or else the least that any connection of ours was
 * ever granted.
 *
 * Assumptions, and what happens when they are broken: two may believe, for as
 * long as the lease exceeds what the leader knows.
 *
 *   Where "/" may not be read: a leader proposes a multi that it refuses.  (Every
 *   server does.  One of two patches for ZOOKEEPER-3594 would end it.)
 *   minSessionTimeout is at least two ticks, as the server's default has it; or
 *   the tick is as short as was said.
 *   A leader that goes on after a stop has looked for overdue sessions, and
 *   has heard its followers, T/24 after its first commit.
 *   Clocks' rates differ by less than the margin, and ours counts while we are
 *   stopped.  (CLOCK_BOOTTIME does, but not the time for which a hypervisor
 *   has frozen the machine; no clock in it does.)
 *   No server grants less than L.
 *   Behind observerMasterPort T is at least five ticks, or the tick was said
 *   to be twice as long: there are two reports on the way then, an observer's
 *   to its master and the master's, each up to half a tick after the other,
 *   and both must fit into the gap.  (Whoever asks for ten seconds has five
 *   ticks of the default's two.)  What is left of the gap, and of the time
 *   after P, is for a master that is stopped in between: T/20.  After a longer
 *   stop it asks its observer, and is asked itself up to half a tick later,
 *   while rounds are committed already. */
#ifndef ZKLOCK_LEASE_H
#define ZKLOCK_LEASE_H

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

enum { LEASE_ROUNDS = 24 };

struct lease {
  int64_t tick;      /* 0: nobody has said */
  int64_t least;     /* L; 0: no connection yet, and nobody has said */
  int64_t timeout;   /* T; 0: no connection yet */
  int64_t until;     /* believe while now < until */
  int64_t connected; /* when the connection attempt began */
  int newest, count;
  struct {
    int64_t sent, answered;
  } rounds[LEASE_ROUNDS]; /* of this connection */
};

/* `least`: no server grants less; `tick`: none has a longer one; 0: not known.
 */
void lease_init(struct lease *lease, int64_t least, int64_t tick);
/* A new session: nothing is proved yet. */
void lease_reset(struct lease *lease);
/* From `started` on the same session may be under way to another server. */
void lease_attempting(struct lease *lease, int64_t started);
/* A new connection: what was proved of its session stays proved, for as long
 * as the timeout of this connection permits. */
void lease_connected(struct lease *lease, int64_t started, int64_t timeout);
/* A committed round, sent at `sent`, was answered. */
void lease_confirm(struct lease *lease, int64_t sent, int64_t now);
/* If each answer is prompt from now on, is the lease renewed before it ends, again
 * and again?  After a silence it may stand and yet be lost: its rounds are from
 * before the silence, and it takes gap + T/24 until the new ones count.  T/10 is
 * added for the rounds' own pace.  (Of the holds that would be lost so it foresees
 * 98 %; one in eight of the grants after a silence it delays needlessly, by a third
 * of T at most.  Without a silence it delays none.) */
bool lease_lasts(const struct lease *lease, int64_t now);
/* How long after a round the next one is to be sent while somebody holds. */
int64_t lease_pace(const struct lease *lease);

#pragma GCC visibility pop

#endif
