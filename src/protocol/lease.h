/* The lease: how long this process is allowed to believe that its ZooKeeper
 * session is alive, by its own clock alone. Pure arithmetic on times in
 * nanoseconds.
 *
 * The leader expires a session T (its timeout) after the last sign of life that
 * has reached the leader. So if a sign of life was sent at `touch` and has
 * reached the leader, the process may believe that its session is alive until
 *
 *     touch + T - margin                      margin = T/20
 *
 * The margin covers clocks of different rates. The question is which signs of
 * life have reached the leader. Only requests that a quorum has committed can
 * prove this. So zklock extends the lease by *renewals*: committed requests,
 * one in flight at a time. After a refusal a heartbeat may be in flight beside
 * another request.
 *
 * One committed renewal is not enough. The leader learns only from a follower's
 * reports which sessions of the follower are alive. It asks for a report every
 * half tick while it runs. So when a renewal that was sent at S is confirmed,
 * zklock finds `touch` in two steps:
 *
 *   * P is an earlier renewal, answered at least settling = T/24 before S. The
 *     leader ran when it committed P. Until it committed the renewal of S, it
 *     had that long to look for overdue sessions and to receive reports. If it
 *     had been stopped until this session was overdue, the session would have
 *     expired. Then the leader would have refused the renewal of S.
 *   * Q is a still earlier renewal, answered at least gap = half a tick before
 *     P was sent. If the leader ran all the time since, it asked the follower
 *     for a report between the two. This question came before P's commit on the
 *     one link to the follower. So the report was under way when S was sent,
 *     and arrived before the request of S. If the leader was stopped, it asked
 *     as soon as it continued, because the report was due. The report contained
 *     everything that the follower had received before Q was answered. So it
 *     contained a sign of life that was sent with Q or later.
 *
 * `touch` is the time at which the newest such Q was sent. The leader itself
 * creates a session and moves it to another server. So the start of a
 * successful connection attempt counts as well, without P and Q.
 *
 * Only a quorum can have given these replies, for every server since 3.5 and
 * all settings:
 *
 *   * Success of a write: create, delete, setData, setACL, multi. The connected
 *     server holds the reply until the leader says that the write is committed.
 *     A request of an expired or moved session fails.
 *   * A refusal inside a multi's reply. Only the leader checks the parts of a
 *     multi. It proposes the multi with its refusals, and the reply comes after
 *     the commit.
 *
 * These replies prove nothing:
 *
 *   * NO_AUTH and INVALID_ACL for a plain write. With enableEagerACLCheck (3.6)
 *     the connected server refuses it by itself, follower or leader. The same
 *     setting lets multis pass to the leader.
 *   * A refusal of a whole request, including a multi: throttled (-127),
 *     read-only (-119), authentication required (-124), not implemented (-6).
 *     The connected server sends each of these by itself.
 *   * Other refusals of a plain write: NO_NODE, NODE_EXISTS, NOT_EMPTY,
 *     BAD_VERSION. Today the leader proposes each of them. The setting of
 *     ZOOKEEPER-3594 (skipErrorTxn, not merged) would end that.
 *   * Replies to reads, sync and pings. The connected server answers a read,
 *     and a former leader answers a sync.
 *
 * So only success is a proof (reply_proves), and the heartbeat is a write that
 * succeeds and changes nothing: a multi of two checks of "/", which always
 * exists. A quorum would also commit a plain check or an empty multi. But the
 * client library has no plain check, and the leader does not check the session
 * of an empty multi.
 *
 * A check needs permission to read. If the session may not read "/", the leader
 * refuses the first part, which is a refusal inside a multi.
 * library_transactions.c distinguishes it from a refusal of the whole multi,
 * and reports success.
 *
 * The user may set the tick (option `tick_time`). Without it gap = T/4, because
 * a server grants no timeout below two ticks.
 *
 * Let a renewal be sent every i and answered after r (r + settling <= i). Then
 * P is the renewal before S, and Q is the nth before P. n is the least number
 * for which n i - r >= gap:
 *
 *     touch + T - margin = S + T - margin - (n + 1) i
 *
 * lease_pace returns i for a holder, for replies that take up to answer = T/40:
 *
 *     n i = gap + answer, i < T/10, but i >= settling + answer = T/15
 *
 *     no tick known   gap = T/4    n = 3   i = T/11    S + 0.58 T
 *     T = 5 ticks     gap = T/10   n = 2   i = T/15    S + 0.75 T
 *     T = 10 ticks    gap = T/20   n = 1   i = T/13.3  S + 0.80 T
 *     T = 20 ticks    gap = T/40   n = 1   i = T/15    S + 0.81 T
 *
 * Less frequent renewals prove less: T/6 apart for a waiter (0.45 T without a
 * known tick), 0.3 T apart for an idle session (0.35 T). In about the first T/2
 * of a connection there is no Q yet and the lease is longer: up to the
 * connection's start + 0.95 T. zklock forgets renewals of the last connection.
 * It would be safe to count them, but they are older.
 *
 * The client library gives up a connection after 2/3 T of silence. If the lease
 * ends before that, zklock still has time to delete the node through the
 * connection. This helps if only the replies are lost. If the lease ends later,
 * zklock has time to find another server. session_is_overdue describes what
 * becomes of the node if no server replies.
 *
 * T is the least timeout that a server may have granted this session. With each
 * sign of life a server tells the leader how long the session is to live from
 * now on: the timeout of that connection. So any sign of life may shorten what
 * an earlier one granted. It may even come late, through a server that the
 * client has left. A new leader begins with the timeout of the session's first
 * connection. The least of all timeouts is safe whichever of them came last.
 *
 * If the reply to a connection attempt is lost, the server may have granted a
 * shorter timeout, unknown to this process. The attempt may reach the leader at
 * any time after it began, even after a later attempt has succeeded. So from
 * the first attempt to reconnect on, L replaces T, where no server grants less
 * than L. Then the lease ends at most L - margin after the attempt began. L is
 * the user's option, or the least timeout that any connection of this session
 * object was granted.
 *
 * Assumptions. If one is broken, two clients may believe that they hold the
 * lock. They may do so for as long as the lease exceeds what the leader knows.
 *
 *   * If the session cannot read "/": a leader proposes a multi that it
 *     refuses. Every server does; one of two patches for ZOOKEEPER-3594 would
 *     end it.
 *   * minSessionTimeout is at least two ticks, as by default, or the tick is at
 *     most the option `tick_time`.
 *   * A leader that continues after a stop has looked for overdue sessions, and
 *     received its followers' reports, T/24 after its first commit.
 *   * Clock rates differ by less than the margin, and the local clock counts
 *     while the process is stopped. CLOCK_BOOTTIME does. But it does not count
 *     the time for which a hypervisor has frozen the machine; no clock inside
 *     the machine does.
 *   * No server grants less than L.
 *   * Behind observerMasterPort T is at least five ticks, or the user gives a
 *     tick of twice the length. Two reports are on the way there: an observer's
 *     to its master, and the master's to the leader. Each may be half a tick
 *     after the other, and both must fit into the gap. A timeout of ten seconds
 *     is five of the default ticks. The rest of the gap and of the time after P
 *     covers a stop of the master in between: T/20. After a longer stop the
 *     master asks its observer. The leader asks the master up to half a tick
 *     later, while renewals are committed already. */
#ifndef ZKLOCK_LEASE_H
#define ZKLOCK_LEASE_H

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

/* The number of stored renewals. zklock stores no renewal within T/96 of the
 * last one. So 48 stored renewals span T/2 or more. This covers settling, gap,
 * and two intervals of less than T/10 between renewals. */
enum { LEASE_RENEWALS = 48 };

struct lease {
  int64_t tick;      /* the servers' tick; 0: unknown */
  int64_t least;     /* L, the least timeout; 0: not known yet */
  int64_t timeout;   /* T, the timeout; 0: no connection yet */
  int64_t until;     /* the session is alive while now < until */
  int64_t connected; /* when the connection attempt began */
  int newest, count;
  struct {
    int64_t sent, answered;
  } renewals[LEASE_RENEWALS]; /* the latest renewals of this connection */
};

/* Initializes a lease. `least`: no server grants a shorter timeout. `tick`: no
 * server has a longer tick. 0: unknown. */
void lease_init(struct lease *lease, int64_t least, int64_t tick);
/* Forgets all proofs: a new session begins. */
void lease_reset(struct lease *lease);
/* Called when a connection attempt for this session begins, at the time
 * `started`. Shortens the lease, because a server may grant the attempt a
 * shorter timeout. */
void lease_attempting(struct lease *lease, int64_t started);
/* Begins a new connection, whose attempt began at `started`. Earlier proofs of
 * the session stay valid, for as long as the timeout of this connection
 * permits. */
void lease_connected(struct lease *lease, int64_t started, int64_t timeout);
/* Called when a renewal that was sent at `sent` is confirmed, at the time
 * `now`. Extends the lease as far as the stored renewals prove. */
void lease_confirm(struct lease *lease, int64_t sent, int64_t now);
/* Returns whether the lease lasts until new renewals extend it, if the servers
 * reply promptly from now on. After a silence, a valid lease may be about to
 * end. Its renewals are from before the silence, and new renewals count only
 * after gap + T/24. The function adds T/10 for the interval between renewals.
 *
 * Of the holds that would be lost in this way, the function predicts 98 %. It
 * also delays one in eight of the grants after a silence needlessly, by at most
 * T/3. Without a silence it delays no grant. */
bool lease_lasts(const struct lease *lease, int64_t now);
/* Returns how long after a renewal the next one is sent while this session
 * holds a lock. */
int64_t lease_pace(const struct lease *lease);

#pragma GCC visibility pop

#endif
