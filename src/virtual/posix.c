/* Implements the functions of posix.h. A name in parentheses, such as
 * `(poll)(…)`, calls the real function, not the macro of redirect.h. */
#include "posix.h"

#include <errno.h>

#include "schedule.h"

static const char MUTEX[] = "waits for a mutex";

/* ---- Threads ------------------------------------------------------------- */

static void *body(void *argument) {
  struct thread *self = argument;
  schedule_begin(self);
  void *result = self->function(self->argument);
  schedule_end(self);
  return result;
}

/* Starts a thread with the requested attributes, except that the real thread is
 * always joinable. thread_bury can then join it. */
static int start(struct thread *thread, const pthread_attr_t *asked) {
  pthread_attr_t attributes;
  size_t stack;
  int state = PTHREAD_CREATE_JOINABLE;
  pthread_attr_init(&attributes);
  if (asked) {
    pthread_attr_getdetachstate(asked, &state);
    if (pthread_attr_getstacksize(asked, &stack) == 0)
      pthread_attr_setstacksize(&attributes, stack);
  }
  thread->is_detached = state == PTHREAD_CREATE_DETACHED;
  int rc = (pthread_create)(&thread->id, &attributes, body, thread);
  pthread_attr_destroy(&attributes);
  return rc;
}

int posix_create(pthread_t *thread, const pthread_attr_t *attributes,
                 void *(*function)(void *), void *argument, const char *name) {
  schedule_self();
  struct thread *t = thread_new(name);
  if (!t) return EAGAIN;
  t->function = function;
  t->argument = argument;
  int rc = start(t, attributes);
  if (rc != 0) {
    thread_free(t);
    return rc;
  }
  *thread = t->id;
  schedule_point();
  return 0;
}

int posix_join(pthread_t thread, void **result) {
  struct thread *self = schedule_self(), *t = thread_find(thread);
  if (!t || t->is_detached) return ESRCH;
  if (t == self) return EDEADLK;
  if (t->wait != WAIT_IS_OVER) {
    self->object = t;
    schedule_hand_over(self, WAIT_FOR_THREAD, "joins");
  }
  int rc = (pthread_join)(thread, result);
  thread_free(t);
  return rc;
}

int posix_detach(pthread_t thread) {
  schedule_self();
  struct thread *t = thread_find(thread);
  if (!t || t->is_detached) return ESRCH;
  if (t->wait == WAIT_IS_OVER) return posix_join(thread, NULL);
  t->is_detached = true;
  return 0;
}

/* ---- Time ---------------------------------------------------------------- */

int posix_poll_until(struct pollfd *fds, nfds_t count, int64_t until) {
  struct thread *self = schedule_self();
  schedule_tick();
  self->fds = fds;
  self->count = count;
  self->deadline = until;
  schedule_hand_over(self, WAIT_FOR_POLL, count ? "polls" : "sleeps");
  self->fds = NULL;
  self->count = 0;
  self->deadline = NEVER;
  return self->ready; /* the scheduler has just set `ready` */
}

static int64_t after(int64_t pause) {
  int64_t now = schedule_now();
  return pause > NEVER - now ? NEVER : now + pause;
}

int posix_poll(struct pollfd *fds, nfds_t count, int timeout) {
  return posix_poll_until(fds, count,
                          timeout < 0 ? NEVER
                                      : after(timeout * INT64_C(1000000)));
}

int posix_nanosleep(const struct timespec *time, struct timespec *left) {
  (void)left;
  posix_poll_until(NULL, 0,
                   after(time->tv_sec * INT64_C(1000000000) + time->tv_nsec));
  return 0;
}

int posix_usleep(unsigned microseconds) {
  posix_poll_until(NULL, 0, after(microseconds * INT64_C(1000)));
  return 0;
}

int posix_pause(void) {
  posix_poll_until(NULL, 0, NEVER);
  errno = EINTR;
  return -1;
}

int posix_yield(void) {
  struct thread *self = schedule_self();
  schedule_tick();
  schedule_hand_over(self, WAIT_FOR_TURN, "yields");
  return 0;
}

/* ---- Mutual exclusion ---------------------------------------------------- */

static void hold(struct thread *self, const void *object) {
  if (self->held_count == HELD_MAX)
    schedule_die("thread %d holds too many mutexes", self->number);
  self->held[self->held_count++] = object;
}

static void let_go(struct thread *self, const void *object) {
  for (int i = self->held_count; i-- > 0;) {
    if (self->held[i] != object) continue;
    self->held[i] = self->held[--self->held_count];
    break;
  }
  thread_wake(object);
}

static void await(struct thread *self, const void *object) {
  self->object = object;
  schedule_hand_over(self, WAIT_FOR_OBJECT, MUTEX);
}

int posix_lock(pthread_mutex_t *mutex) {
  int rc;
  struct thread *self = schedule_self();
  schedule_point();
  while ((rc = (pthread_mutex_trylock)(mutex)) == EBUSY) await(self, mutex);
  if (rc == 0) hold(self, mutex);
  return rc;
}

int posix_trylock(pthread_mutex_t *mutex) {
  struct thread *self = schedule_self();
  schedule_point();
  int rc = (pthread_mutex_trylock)(mutex);
  if (rc == 0) hold(self, mutex);
  return rc;
}

int posix_unlock(pthread_mutex_t *mutex) {
  struct thread *self = schedule_self();
  int rc = (pthread_mutex_unlock)(mutex);
  let_go(self, mutex);
  schedule_point();
  return rc;
}

/* Replaces pthread_once. If another thread is in `function`, the real
 * pthread_once would block the calling thread. Then the process would hang,
 * because the scheduler lets only the calling thread run. */
int posix_once(pthread_once_t *once, void (*function)(void)) {
  struct thread *self = schedule_self();
  while (thread_holder(once)) await(self, once);
  hold(self, once);
  int rc = (pthread_once)(once, function);
  let_go(self, once);
  return rc;
}
