/* The clock for leases and deadlines. The clock also counts the time while the
 * machine is suspended, because the servers' clocks go on during that time.
 *
 * The timeouts of poll(2) and similar calls do not count the time of a suspend.
 * After a suspend, a thread in poll would sleep on although its deadline has
 * passed. So zklock's threads wait with clock_poll. On Linux, a timer of this
 * clock (timerfd) also ends the wait. Without such a timer, clock_poll checks
 * the clock once a second. */
#ifndef ZKLOCK_CLOCK_H
#define ZKLOCK_CLOCK_H

#include <poll.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

int64_t clock_now(void); /* nanoseconds; for any thread or signal handler */

/* A timer that one thread uses. Child programs do not inherit its
 * descriptor. */
struct clock_timer {
  int fd;     /* -1: there is no usable timer */
  int64_t at; /* when the timer expires; INT64_MAX: not set */
};

void clock_timer_open(
    struct clock_timer *timer); /* on failure, there is no timer */
void clock_timer_close(struct clock_timer *timer);
/* Works like poll(2), but waits until the time `until` on clock_now's clock;
 * INT64_MAX: without a limit. Returns 0 only after that time. `fds` must have
 * room for one more entry, which clock_poll uses for the timer. `timer` can be
 * NULL. */
int clock_poll(struct clock_timer *timer, struct pollfd *fds, nfds_t count,
               int64_t until);

#pragma GCC visibility pop

#endif
