/* A machine that is suspended, as its processes see it afterwards: by
 * CLOCK_BOOTTIME as many nanoseconds have passed as stand in the file
 * $SUSPENSION, and the timers of that clock expire accordingly; every other
 * clock, and what poll(2) and its like count, know nothing of them.  With
 * $SUSPENSION_NO_TIMERS there are no timers of that clock, as before Linux 3.15.
 * Loaded with LD_PRELOAD, which children that run another program do not
 * inherit: see support.suspension. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#define SECOND INT64_C(1000000000)

enum { TIMERS = 1024 };

static char name[200];
static _Atomic int64_t slept;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
  int is_ours;
  int64_t at;     /* by the clock that jumps; 0: it is not set */
} timers[TIMERS]; /* by their descriptors; with the lock */

int clock_gettime(clockid_t clock, struct timespec *now) {
  static int (*_Atomic real)(clockid_t, struct timespec *);
  if (!real) real = dlsym(RTLD_NEXT, "clock_gettime");
  int rc = real(clock, now);
  if (rc != 0 || clock != CLOCK_BOOTTIME) return rc;
  int64_t t = now->tv_sec * SECOND + now->tv_nsec + slept;
  *now = (struct timespec){t / SECOND, t % SECOND};
  return 0;
}

int timerfd_create(clockid_t clock, int flags) {
  int (*real)(clockid_t, int) = dlsym(RTLD_NEXT, "timerfd_create");
  if (clock == CLOCK_BOOTTIME && getenv("SUSPENSION_NO_TIMERS")) {
    errno = EINVAL;
    return -1;
  }
  int fd = real(clock, flags);
  if (clock != CLOCK_BOOTTIME || fd < 0 || fd >= TIMERS) return fd;
  pthread_mutex_lock(&lock);
  timers[fd].is_ours = 1;
  timers[fd].at = 0;
  pthread_mutex_unlock(&lock);
  return fd;
}

/* With the lock: as the real clock goes. */
static int arm(int fd, const struct itimerspec *when, struct itimerspec *was) {
  int (*real)(int, int, const struct itimerspec *, struct itimerspec *) =
      dlsym(RTLD_NEXT, "timerfd_settime");
  int64_t at = timers[fd].at - slept;
  struct itimerspec shifted = *when;
  if (at < 1) at = 1;
  if (timers[fd].at)
    shifted.it_value = (struct timespec){at / SECOND, at % SECOND};
  return real(fd, TFD_TIMER_ABSTIME, &shifted, was);
}

int timerfd_settime(int fd, int flags, const struct itimerspec *when,
                    struct itimerspec *was) {
  int (*real)(int, int, const struct itimerspec *, struct itimerspec *) =
      dlsym(RTLD_NEXT, "timerfd_settime");
  if (fd < 0 || fd >= TIMERS || !timers[fd].is_ours)
    return real(fd, flags, when, was);
  pthread_mutex_lock(&lock);
  int64_t at = when->it_value.tv_sec * SECOND + when->it_value.tv_nsec;
  if (at && !(flags & TFD_TIMER_ABSTIME)) {
    struct timespec now;
    clock_gettime(CLOCK_BOOTTIME, &now);
    at += now.tv_sec * SECOND + now.tv_nsec;
  }
  timers[fd].at = at;
  int rc = arm(fd, when, was);
  pthread_mutex_unlock(&lock);
  return rc;
}

/* What the file says; nothing at first. */
static int64_t read_file(void) {
  long long total = slept;
  FILE *file = fopen(name, "re");
  if (!file) return total;
  if (fscanf(file, "%lld", &total) != 1) total = slept;
  fclose(file);
  return total;
}

static void *watch(void *unused) {
  for (;;) {
    struct timespec pause = {0, 1000000};
    int64_t total = read_file();
    if (total != slept) {
      pthread_mutex_lock(&lock);
      slept = total;
      for (int fd = 0; fd < TIMERS; fd++)
        if (timers[fd].at) arm(fd, &(struct itimerspec){0}, NULL);
      pthread_mutex_unlock(&lock);
    }
    nanosleep(&pause, NULL);
  }
  return unused;
}

static void start(void) {
  pthread_t thread;
  sigset_t all, old;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &old);
  if (pthread_create(&thread, NULL, watch, NULL) != 0) abort();
  pthread_sigmask(SIG_SETMASK, &old, NULL);
}

static void before_fork(void) { pthread_mutex_lock(&lock); }
static void after_fork(void) { pthread_mutex_unlock(&lock); }

static void in_child(void) {
  after_fork();
  start();
}

__attribute__((constructor)) static void begin(void) {
  if (!getenv("SUSPENSION")) return;
  snprintf(name, sizeof name, "%s", getenv("SUSPENSION"));
  unsetenv("LD_PRELOAD");
  slept = read_file();
  pthread_atfork(before_fork, after_fork, in_child);
  start();
}
