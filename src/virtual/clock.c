/* Implements io/clock.h in virtual time. Only schedule_jump suspends the
 * virtual machine. No timer is needed to notice that: the scheduler wakes each
 * thread at its deadline on the virtual clock. */
#include "io/clock.h"

#include "posix.h"
#include "schedule.h"

int64_t clock_now(void) {
  schedule_point();
  return schedule_tick();
}

void clock_timer_open(struct clock_timer *timer) {
  *timer = (struct clock_timer){.fd = -1, .at = INT64_MAX};
}

void clock_timer_close(struct clock_timer *timer) { timer->fd = -1; }

int clock_poll(struct clock_timer *timer, struct pollfd *fds, nfds_t count,
               int64_t until) {
  (void)timer;
  return posix_poll_until(fds, count, until);
}
