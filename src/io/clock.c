#include "clock.h"

#include <errno.h>
#include <stdbool.h>
#include <time.h>
#include <unistd.h>

#ifdef __linux__
#include <sys/timerfd.h>
#endif

#define MILLISECOND INT64_C(1000000)
#define SECOND (1000 * MILLISECOND)
#define SLACK (100 * MILLISECOND)
#define SOON (300 * MILLISECOND)
#define LONGEST (INT64_C(24) * 3600 * SECOND)

static const int64_t NEVER = INT64_MAX;

int64_t clock_now(void) {
  struct timespec t;
#ifdef CLOCK_BOOTTIME
  clock_gettime(CLOCK_BOOTTIME, &t);
#else
  clock_gettime(CLOCK_MONOTONIC, &t);
#endif
  return (int64_t)t.tv_sec * SECOND + t.tv_nsec;
}

/* Opens a timer that also counts the time of a suspend, if the system has one.
 * There is none on macOS, before Linux 3.15, or if no descriptor is free. On
 * macOS clock_now counts the time of a suspend, but the timeouts of poll and
 * kevent do not. */
void clock_timer_open(struct clock_timer *timer) {
  *timer = (struct clock_timer){.fd = -1, .at = NEVER};
#ifdef __linux__
  timer->fd = timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK);
#endif
}

void clock_timer_close(struct clock_timer *timer) {
  if (timer->fd >= 0) close(timer->fd);
  timer->fd = -1;
}

/* Sets the timer for the time `until`, if needed. While the machine is awake,
 * poll's own timeout ends each wait on time. The timer matters only after a
 * suspend, so it is allowed to expire late, by SLACK. If it is already set for
 * an earlier time, it stays as it is, unless that time is near.
 *
 * clock_poll does not call this for a deadline that is due SOON. After a
 * suspend, poll then waits at most that much longer. So the timer is set only
 * about once per heartbeat, however often the thread waits in between. This
 * saves system calls. */
static void set(struct clock_timer *timer, int64_t until, int64_t left) {
  int64_t at = until + SLACK, now = until - left;
  if (timer->at > now + SLACK && timer->at <= at) return;
  timer->at = at;
#ifdef __linux__
  struct itimerspec when = {
      .it_value = {.tv_sec = at / SECOND, .tv_nsec = at % SECOND}};
  if (timerfd_settime(timer->fd, TFD_TIMER_ABSTIME, &when, NULL) != 0)
    timer->fd = -1;
#endif
}

/* Returns whether poll has reported the timer's descriptor as ready, and clears
 * the timer if it has expired. If the read fails with any error but EAGAIN,
 * stops using the timer: the program may have closed zklock's descriptor. */
static bool has_expired(struct clock_timer *timer, const struct pollfd *entry) {
  uint64_t times;
  if (!entry->revents) return false;
  if (read(timer->fd, &times, sizeof times) > 0)
    timer->at = NEVER;
  else if (errno != EAGAIN)
    timer->fd = -1;
  return true;
}

/* Returns the timeout in milliseconds to pass to poll, for the duration `left`.
 * Rounds up, so that poll does not return before the time has passed. */
static int milliseconds(bool timed, int64_t left) {
  int64_t longest = timed ? LONGEST : SECOND;
  if (left == NEVER) return -1;
  if (left <= 0) return 0;
  if (left > longest) left = longest;
  return (int)((left + MILLISECOND - 1) / MILLISECOND);
}

int clock_poll(struct clock_timer *timer, struct pollfd *fds, nfds_t count,
               int64_t until) {
  for (;;) {
    int64_t left = until == NEVER ? NEVER : until - clock_now();
    bool timed = timer && timer->fd >= 0;
    if (timed) fds[count] = (struct pollfd){.fd = timer->fd, .events = POLLIN};
    if (timed && left > SOON && left != NEVER) set(timer, until, left);
    int n = poll(fds, count + timed, milliseconds(timed, left));
    if (n > 0 && timed && has_expired(timer, &fds[count])) n--;
    if (n != 0 || clock_now() >= until) return n;
  }
}
