#include "fork.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <time.h>

#include "clock.h"

/* PATIENCE limits how long a fork waits for other threads, counted from the
 * fork's start. Usually it waits for microseconds, until the other threads have
 * got a processor. The limit is needed because a signal handler can call fork.
 * Such a fork could wait for the very thread that the handler has interrupted.
 * LOOKUP_PATIENCE limits the wait for lookups of host names. */
#define PATIENCE INT64_C(2000000000)
#define LOOKUP_PATIENCE INT64_C(100000000)

/* The fork handlers' state, one for the whole process. Access: (a) atomic, (m)
 * guarded by the lock declared above it, (t) per thread, (f) used by the
 * forking thread only. That thread holds `forking` from before the fork until
 * after it. */

static void (*_Atomic hook)(void); /* (a) see fork_watch */

static pthread_mutex_t list_lock =
    PTHREAD_MUTEX_INITIALIZER; /* see fork_lock */

static pthread_mutex_t forking = PTHREAD_MUTEX_INITIALIZER;
static _Thread_local bool is_forking, has_list_lock; /* (t) */
static _Atomic bool closed, closed_to_lookups;       /* (a), written by (f) */

static _Atomic int awake, lookups; /* (a) number of awake threads; of lookups */
static _Atomic bool barred;        /* (a) see fork_forbids_lookups */
/* (a) A fork has waited in vain for the lookups that are running. */
static _Atomic bool gave_up;

static bool wait_a_little(int64_t deadline) {
  struct timespec t = {0, 50000};
  if (clock_now() >= deadline) return false;
  nanosleep(&t, NULL);
  return true;
}

static bool take(pthread_mutex_t *lock, int64_t deadline) {
  while (pthread_mutex_trylock(lock) != 0)
    if (!wait_a_little(deadline)) return false;
  return true;
}

void fork_lock(void) { pthread_mutex_lock(&list_lock); }
void fork_unlock(void) { pthread_mutex_unlock(&list_lock); }
bool fork_lock_before(int64_t deadline) { return take(&list_lock, deadline); }

/* Adds the calling thread to `count`. If a fork is in progress, does this after
 * the fork. The thread counts itself, and only then reads the barrier. A fork
 * sets the barrier, and only then reads the count. So either the thread sees
 * the barrier and waits, or the fork sees the thread in the count and waits. */
static void enter(_Atomic int *count, _Atomic bool *barrier) {
  for (;;) {
    atomic_fetch_add(count, 1);
    if (!atomic_load(barrier)) return;
    atomic_fetch_sub(count, 1);
    pthread_mutex_lock(&forking);
    pthread_mutex_unlock(&forking);
  }
}

void fork_awake(void) { enter(&awake, &closed); }
void fork_asleep(void) { atomic_fetch_sub(&awake, 1); }

void fork_lookup_begin(void) {
  enter(&lookups, &closed_to_lookups);
  atomic_store(&gave_up, false);
}

void fork_lookup_end(void) { atomic_fetch_sub(&lookups, 1); }
bool fork_forbids_lookups(void) { return atomic_load(&barred); }

/* The fork. */

static void await(_Atomic int *count, int64_t deadline) {
  while (atomic_load(count) > 0 && wait_a_little(deadline)) continue;
}

static void before_fork(void) {
  int64_t begun = clock_now();
  is_forking = take(&forking, begun + PATIENCE);
  if (is_forking) {
    atomic_store(&closed_to_lookups, true);
    if (!gave_up) await(&lookups, begun + LOOKUP_PATIENCE);
    gave_up = lookups > 0;
    atomic_store(&closed, true);
    await(&awake, begun + PATIENCE);
  }
  has_list_lock = take(&list_lock, begun + PATIENCE);
}

static void open_gates(void) {
  atomic_store(&closed, false);
  atomic_store(&closed_to_lookups, false);
}

static void after_fork(void) {
  if (has_list_lock) pthread_mutex_unlock(&list_lock);
  if (is_forking) {
    open_gates();
    pthread_mutex_unlock(&forking);
  }
  is_forking = has_list_lock = false;
}

static void in_child(void) {
  if (!has_list_lock) pthread_mutex_init(&list_lock, NULL);
  if (!is_forking) pthread_mutex_init(&forking, NULL);
  after_fork();
  if (atomic_load(&lookups) > 0) atomic_store(&barred, true);
  open_gates();
  atomic_store(&awake, 0);
  atomic_store(&lookups, 0);
  atomic_load (&hook)();
}

static void at_first_use(void) {
  pthread_atfork(before_fork, after_fork, in_child);
}

void fork_watch(void (*run)(void)) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  atomic_store(&hook, run);
  pthread_once(&once, at_first_use);
}
