/* In builds for virtual time, the compiler searches virtual/system/ before the
 * system's own headers (-Isrc/virtual/system). The headers in that directory
 * include this header. Its macros replace each function in which a thread can
 * wait by a function of posix.h. The macros take arguments, so a name in
 * parentheses, `(poll)(…)`, still calls the real function. */
#ifndef ZKLOCK_VIRTUAL_REDIRECT_H
#define ZKLOCK_VIRTUAL_REDIRECT_H

#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <time.h>

#include "point.h"
#include "posix.h"

#define poll(fds, count, timeout) posix_poll(fds, count, timeout)
#define nanosleep(time, left) posix_nanosleep(time, left)
#define sched_yield() posix_yield()
/* This header does not include unistd.h, which declares pause. The protocol's
 * code defines names that unistd.h declares, too. */
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

#endif
