/* In a build for virtual time the headers of system/ come before the system's own
 * (-Isrc/virtual/system) and include this one: what waits, waits for the
 * scheduler.  These are macros with arguments: a name in parentheses, `(poll)(…)`,
 * is the real function. */
#ifndef ZKLOCK_VIRTUAL_REDIRECT_H
#define ZKLOCK_VIRTUAL_REDIRECT_H

#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <time.h>

#include "point.h"
#include "posix.h"

#define poll(fds, count, timeout) posix_poll(fds, count, timeout)
#define nanosleep(time, left) posix_nanosleep(time, left)
#define sched_yield() posix_yield()
/* (Without unistd.h, whose names are the protocol's, too.) */
#define pause(...) posix_pause(__VA_ARGS__)

#define pthread_create(thread, attributes, function, argument) \
  posix_create(thread, attributes, function, argument,         \
               #function " of " __FILE__)
#define pthread_join(thread, result) posix_join(thread, result)
#define pthread_detach(thread) posix_detach(thread)
#define pthread_mutex_lock(mutex) posix_lock(mutex)
#define pthread_mutex_trylock(mutex) posix_trylock(mutex)
#define pthread_mutex_unlock(mutex) posix_unlock(mutex)
#define pthread_once(once, function) posix_once(once, function)

/* Between two atomic operations another thread may run, where the scheduler
 * explores.  (What <stdatomic.h> makes of its macros; an operator on an _Atomic
 * object is no such point.) */
#ifdef __clang__
#define __c11_atomic_load(...) \
  (schedule_point(), __c11_atomic_load(__VA_ARGS__))
#define __c11_atomic_store(...) \
  (schedule_point(), __c11_atomic_store(__VA_ARGS__))
#define __c11_atomic_exchange(...) \
  (schedule_point(), __c11_atomic_exchange(__VA_ARGS__))
#define __c11_atomic_compare_exchange_strong(...) \
  (schedule_point(), __c11_atomic_compare_exchange_strong(__VA_ARGS__))
#define __c11_atomic_compare_exchange_weak(...) \
  (schedule_point(), __c11_atomic_compare_exchange_weak(__VA_ARGS__))
#define __c11_atomic_fetch_add(...) \
  (schedule_point(), __c11_atomic_fetch_add(__VA_ARGS__))
#define __c11_atomic_fetch_sub(...) \
  (schedule_point(), __c11_atomic_fetch_sub(__VA_ARGS__))
#else
#define __atomic_load(...) (schedule_point(), __atomic_load(__VA_ARGS__))
#define __atomic_store(...) (schedule_point(), __atomic_store(__VA_ARGS__))
#define __atomic_exchange(...) \
  (schedule_point(), __atomic_exchange(__VA_ARGS__))
#define __atomic_compare_exchange(...) \
  (schedule_point(), __atomic_compare_exchange(__VA_ARGS__))
#define __atomic_fetch_add(...) \
  (schedule_point(), __atomic_fetch_add(__VA_ARGS__))
#define __atomic_fetch_sub(...) \
  (schedule_point(), __atomic_fetch_sub(__VA_ARGS__))
#endif

#endif
