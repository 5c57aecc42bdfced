/* The clock for leases and deadlines. It also counts the time while the machine
 * is suspended, because servers count that time, too.
 *
 * poll(2) and similar calls do not count it. After a suspend, a thread in poll
 * would go on sleeping although its deadline has passed. So threads wait with
 * clock_poll, which a timer of this clock wakes (Linux: timerfd). Without such
 * a timer, clock_poll checks the clock once a second. */
#ifndef ZKLOCK_CLOCK_H
#define ZKLOCK_CLOCK_H

#include <poll.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

int64_t clock_now(void); /* nanoseconds; for any thread or signal handler */

/* A timer of one thread. Child programs do not inherit its descriptor. */
struct clock_timer {
  int fd;     /* -1: there is no usable timer */
  int64_t at; /* when the timer expires; INT64_MAX: not set */
};

void clock_timer_open(
    struct clock_timer *timer); /* on failure, there is no timer */
void clock_timer_close(struct clock_timer *timer);
/* Works like poll(2), until the time `until` of clock_now; INT64_MAX: without a
 * limit. Returns 0 only when that time has come. `fds` must have room for one
 * more entry, for the timer. `timer` is allowed to be NULL. */
int clock_poll(struct clock_timer *timer, struct pollfd *fds, nfds_t count,
               int64_t until);

#pragma GCC visibility pop

#endif
