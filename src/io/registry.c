#include "registry.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "fork.h"

#define EXIT_PATIENCE INT64_C(2000000000)

/* The list of sessions, guarded by fork_lock. `owner` is the process whose
 * sessions are in the list. A child that was created without fork's handlers
 * has a copy of its parent's list. Then `owner` differs from the child's own
 * id. */
static struct registered *first;
static pid_t owner;

static void nap(void) {
  struct timespec t = {0, 2000000};
  nanosleep(&t, NULL);
}

static struct registered *own(void) { return owner == getpid() ? first : NULL; }

/* The functions below run when the process exits. They wait at most two seconds
 * (EXIT_PATIENCE) for unfinished releases and closes. */

static void close_all(void) {
  fork_lock();
  for (struct registered *e = own(); e; e = e->next) e->close(e->self);
  fork_unlock();
}

static bool is_any_left(void) {
  fork_lock();
  bool any = own();
  fork_unlock();
  return any;
}

static void at_exit(void) {
  int64_t deadline = clock_now() + EXIT_PATIENCE;
  close_all();
  while (is_any_left() && clock_now() < deadline) nap();
}

/* Makes all sessions end. Returns whether a session has not ended yet. If the
 * list's lock is not free before the deadline, returns false, because then no
 * session can be ended. A signal can have stopped the Lua thread during a fork;
 * then that thread holds the lock for ever. */
static bool end_living(int64_t deadline) {
  bool any = false;
  if (!fork_lock_before(deadline)) return false;
  for (struct registered *e = own(); e; e = e->next) {
    if (e->ended) continue;
    any = true;
    e->end(e->self);
  }
  fork_unlock();
  return any;
}

void registry_end_all(int64_t patience) {
  int64_t deadline = clock_now() + patience;
  while (end_living(deadline) && clock_now() < deadline) nap();
}

/* The list. */

static void at_first_use(void) { atexit(at_exit); }

void registry_exit_first(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, at_first_use);
}

static void in_child(void) { first = NULL; }

void registry_add(struct registered *entry) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, at_first_use);
  fork_watch(in_child);
  fork_lock();
  entry->next = own();
  entry->previous = NULL;
  if (entry->next) entry->next->previous = entry;
  first = entry;
  owner = getpid();
  fork_unlock();
}

void registry_remove(struct registered *entry) {
  fork_lock();
  if (entry->previous)
    entry->previous->next = entry->next;
  else
    first = entry->next;
  if (entry->next) entry->next->previous = entry->previous;
  fork_unlock();
}
