/* The clock that leases and deadlines are measured by.  It counts the time
 * that the machine sleeps, too: a server does, and it will not have waited.
 *
 * poll(2) and its like do not count that time.  A thread that sleeps in poll
 * until a deadline sleeps on after a suspend, for as long as it would have
 * without it, though the deadline has passed.  So threads wait by clock_poll,
 * which is woken by a timer of this clock (Linux: timerfd).  Where there is
 * none it looks at the clock once in a second. */
#ifndef ZKLOCK_CLOCK_H
#define ZKLOCK_CLOCK_H

#include <poll.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

int64_t clock_now(void); /* nanoseconds; any thread, a signal handler too */

/* Of one thread.  It has a descriptor, which no child program inherits. */
struct clock_timer {
  int fd;     /* -1: there is none, or none of use */
  int64_t at; /* when it expires; INT64_MAX: it is not set */
};

void clock_timer_open(struct clock_timer *timer); /* without one, it will do */
void clock_timer_close(struct clock_timer *timer);
/* As poll(2), until `until` by clock_now, INT64_MAX: without end.  It returns 0
 * only when that moment has come.  `fds` has room for one entry more, the
 * timer's.  NULL: without a timer. */
int clock_poll(struct clock_timer *timer, struct pollfd *fds, nfds_t count,
               int64_t until);

#pragma GCC visibility pop

#endif
