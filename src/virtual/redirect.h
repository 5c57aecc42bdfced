/* Included before every source of a build for virtual time: what waits, waits
 * for the scheduler.  These are macros with arguments: a name in parentheses,
 * `(poll)(…)`, is the real function. */
#ifndef ZKLOCK_VIRTUAL_REDIRECT_H
#define ZKLOCK_VIRTUAL_REDIRECT_H

#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <time.h>

#include "posix.h"

#define poll(fds, count, timeout) posix_poll(fds, count, timeout)
#define nanosleep(time, left) posix_nanosleep(time, left)
#define sched_yield() posix_yield()
/* (Without unistd.h, whose names are the protocol's, too.) */
#define pause posix_pause

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
