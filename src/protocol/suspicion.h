/* Suspicion: may a create be what the servers close the connection at?
 *
 * A server whose jute.maxbuffer is smaller than a request closes the
 * connection when it reads the request's length, without a word, and without
 * the answers that it owes to earlier ones.  So a loss accuses all that was
 * unanswered.  If there were creates of some size among that, creates of such
 * a size are sent alone for a while: with nothing before them unanswered, and
 * nothing behind them until they are answered.  A loss then accuses one.
 *
 * Connections are lost for other reasons, too, and a lock must not be refused
 * for them.  A create is refused only after three losses in a row at each of
 * which one was alone in flight, if the loss came promptly each time:
 *   - A request below 1 KiB is never suspected.  A server that does not take
 *     it would not take the paths that it serves either, nor the watches of a
 *     client that reconnects.  So whoever has little data, which is nearly
 *     everybody, is never refused, and never waits, whatever the network does.
 *   - Nor is one that is not larger than another that was answered in the last
 *     minute: a limit that lets the larger pass lets the smaller pass.  (For a
 *     minute, because a server may be restarted with another limit.)
 *   - A create whose answer was lost, and whose node is found afterwards, was
 *     not too large, whatever the loss looked like.
 *   - Any other loss in between, with nothing alone in flight, shows that the
 *     connection dies for other reasons: the row begins anew.
 *   - A loss that is not prompt is a silence: the client library gives a
 *     connection up after two thirds of the timeout.  A server that cuts does
 *     so as soon as the first bytes arrive.
 *   - Before a create is sent alone everything else has been answered on that
 *     connection, the list that has not found the node among it;
 *     and once the row has begun, the connection has lived for a while without
 *     it.  One that breaks often would have broken in that while.
 * So a network that merely flaps must let everything else through, and strike
 * three times in a row within the round trip of a large create.
 *
 * A limit that cuts one size cuts all above it.  So of three in a row the
 * largest is too large if any is; that one, and whatever is as large, is
 * refused for a minute without being sent.  Then it is tried anew.  It need
 * not be the same acquisition three times: one with a short deadline, begun
 * again and again, would else do harm for ever.
 *
 * Pure arithmetic on sizes and times. */
#ifndef ZKLOCK_SUSPICION_H
#define ZKLOCK_SUSPICION_H

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

enum { SUSPICION_LEAST = 1024, SUSPICION_ROW = 3 };

struct suspicion {
  int64_t until;    /* large creates are sent alone while now < until */
  int row, largest; /* losses in a row, and the largest create of theirs */
  int answered;     /* the largest request of the last minute that was */
  int64_t answered_at;
  int refused; /* what is as large is refused while now < refused_until */
  int64_t refused_until;
};

/* Must a create of this size be sent alone? */
bool suspicion_isolates(const struct suspicion *s, int64_t now, int bytes);
/* And only after a while, in a connection that is so old? */
bool suspicion_defers(const struct suspicion *s, int64_t now, int bytes);
/* Must it not be sent at all? */
bool suspicion_refuses(const struct suspicion *s, int64_t now, int bytes);
/* A server has read a request of this size: it was answered, or the node was
 * found later. */
void suspicion_answered(struct suspicion *s, int64_t now, int bytes);
/* The connection is lost.  `alone`: the size of the create that was alone in
 * flight, and sent a moment ago; 0: none was.  `largest`: of the creates that
 * were unanswered. */
void suspicion_lost(struct suspicion *s, int64_t now, int alone, int largest);
/* The session has expired: that explains its losses. */
void suspicion_expired(struct suspicion *s);

#pragma GCC visibility pop

#endif
