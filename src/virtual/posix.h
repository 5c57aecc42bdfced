/* Replacements for the POSIX functions in which a thread can wait. The macros
 * of redirect.h call them. While a thread waits, the scheduler lets another
 * thread run. Deadlines are times of the virtual clock. */
#ifndef ZKLOCK_VIRTUAL_POSIX_H
#define ZKLOCK_VIRTUAL_POSIX_H

#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <time.h>

#pragma GCC visibility push(hidden)

/* Starts a thread. `name` describes the thread in messages and traces; it is
 * not copied. */
int posix_create(pthread_t *thread, const pthread_attr_t *attributes,
                 void *(*function)(void *), void *argument, const char *name);
int posix_join(pthread_t thread, void **result);
int posix_detach(pthread_t thread);

int posix_poll(struct pollfd *fds, nfds_t count, int timeout);
/* Polls until the time `until` of the virtual clock; INT64_MAX means for
 * ever. */
int posix_poll_until(struct pollfd *fds, nfds_t count, int64_t until);
int posix_nanosleep(const struct timespec *time, struct timespec *left);
int posix_usleep(unsigned microseconds);
int posix_yield(void);
int posix_pause(void); /* waits for ever */

int posix_lock(pthread_mutex_t *mutex);
int posix_trylock(pthread_mutex_t *mutex);
int posix_unlock(pthread_mutex_t *mutex);
int posix_once(pthread_once_t *once, void (*function)(void));

#pragma GCC visibility pop

#endif
