/* The POSIX functions in which a thread can wait, by the turns and the clock of
 * the scheduler (redirect.h). */
#ifndef ZKLOCK_VIRTUAL_POSIX_H
#define ZKLOCK_VIRTUAL_POSIX_H

#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <time.h>

#pragma GCC visibility push(hidden)

/* `name` is a literal, for messages and traces. */
int posix_create(pthread_t *thread, const pthread_attr_t *attributes,
                 void *(*function)(void *), void *argument, const char *name);
int posix_join(pthread_t thread, void **result);
int posix_detach(pthread_t thread);

int posix_poll(struct pollfd *fds, nfds_t count, int timeout);
/* Polls until a time of the virtual clock; INT64_MAX means without end. */
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
