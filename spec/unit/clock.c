#include "io/clock.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "test.h"

ABOUT("A wait by the clock");

#define MILLISECOND INT64_C(1000000)

static struct clock_timer timer;

/* A pipe's end in an entry that has one more behind it. */
static int pipe_into(struct pollfd fds[2]) {
  int ends[2];
  CHECK_INT(0, pipe(ends));
  fds[0] = (struct pollfd){.fd = ends[0], .events = POLLIN};
  return ends[1];
}

static void close_both(const struct pollfd *fds, int end) {
  close(fds->fd);
  close(end);
}

static void expect_moment(struct clock_timer *by, int64_t pause) {
  struct pollfd fds[2];
  int64_t until = clock_now() + pause;
  int end = pipe_into(fds);
  CHECK_INT(0, clock_poll(by, fds, 1, until));
  CHECK(clock_now() >= until);
  close_both(fds, end);
}

TEST("ends when the moment has come, and not before") {
  clock_timer_open(&timer);
  expect_moment(&timer, 400 * MILLISECOND); /* for which it is set */
  expect_moment(&timer, 200 * MILLISECOND); /* it expires for nothing */
  expect_moment(&timer, -MILLISECOND);
  expect_moment(NULL, 5 * MILLISECOND);
  clock_timer_close(&timer);
  expect_moment(&timer, 5 * MILLISECOND);
}

TEST("ends when there is something to read, and tells only that") {
  struct pollfd fds[2];
  int end = pipe_into(fds);
  CHECK_INT(1, write(end, "!", 1));
  clock_timer_open(&timer);
  CHECK_INT(1, clock_poll(&timer, fds, 1, INT64_MAX));
  CHECK_INT(POLLIN, fds[0].revents);
  CHECK_INT(1, clock_poll(NULL, fds, 1, INT64_MAX));
  clock_timer_close(&timer);
  close_both(fds, end);
}

/* By when the timer wakes a wait until then. */
static int64_t set_for(struct pollfd *fds, int64_t until) {
  clock_poll(&timer, fds, 1, until);
  return timer.at;
}

TEST("sets its timer when that would expire too late, or is about to") {
  struct pollfd fds[2];
  int end = pipe_into(fds);
  int64_t second = 1000 * MILLISECOND, now = clock_now(), first;
  CHECK_INT(1, write(end, "!", 1));
  clock_timer_open(&timer);
  if (timer.fd < 0) return; /* not on this system */
  CHECK_INT(INT64_MAX, set_for(fds, INT64_MAX));
  first = set_for(fds, now + 2000 * second);
  CHECK(first >= now + 2000 * second && first < now + 2001 * second);
  CHECK_INT(first, set_for(fds, now + 3000 * second));
  CHECK_INT(first - 1000 * second, set_for(fds, now + 1000 * second));
  CHECK_INT(first - 1000 * second, set_for(fds, INT64_MAX));
  CHECK_INT(first - 1000 * second, set_for(fds, now + 250 * MILLISECOND));
  CHECK_INT(first - 1000 * second, set_for(fds, 0));
  timer.at = clock_now() + 50 * MILLISECOND;
  CHECK_INT(first, set_for(fds, now + 2000 * second));
  clock_timer_close(&timer);
  close_both(fds, end);
}

TEST("goes on without its timer, though the program has closed that") {
  struct pollfd fds[2];
  int end = pipe_into(fds);
  clock_timer_open(&timer);
  close(timer.fd);
  CHECK_INT(0, clock_poll(&timer, fds, 1, clock_now() + 400 * MILLISECOND));
  CHECK(timer.fd < 0);
  close_both(fds, end);
}
