/* The threads that the scheduler knows, and what each of them waits for. */
#ifndef ZKLOCK_VIRTUAL_THREAD_H
#define ZKLOCK_VIRTUAL_THREAD_H

#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

#define NEVER INT64_MAX

enum { HELD_MAX = 16 };

enum wait {
  WAIT_FOR_TURN,   /* it can run */
  WAIT_FOR_POLL,   /* for `fds` and `deadline` */
  WAIT_FOR_OBJECT, /* for a mutex, or for the end of a pthread_once */
  WAIT_FOR_THREAD, /* for the end of one */
  WAIT_IS_OVER,    /* it has ended */
};

struct thread {
  struct thread *next; /* in the order of their creation */
  int number;
  const char *name;
  sem_t turn;
  pthread_t id;
  bool is_detached;
  void *(*function)(void *);
  void *argument;

  enum wait wait;
  struct pollfd *fds; /* WAIT_FOR_POLL */
  nfds_t count;
  int ready;        /* so many of them are: poll's result */
  int64_t deadline; /* NEVER: it has none */
  const void *object;
  int64_t stalled_until;

  const void *held[HELD_MAX]; /* mutexes, and pthread_once under way */
  int held_count;
};

extern struct thread thread_first; /* the one that the process began with */

struct thread *thread_new(const char *name); /* NULL: no memory */
void thread_free(struct thread *thread);
/* Adopts the first thread. */
void thread_init(void);
/* After a fork: forgets all but this one. */
void thread_keep_only(struct thread *kept);

/* NULL: none; a thread that has ended still has its number. */
struct thread *thread_find(pthread_t id);
/* NULL: none has this mutex, or runs this pthread_once. */
struct thread *thread_holder(const void *object);
/* Those that wait for this object can run. */
void thread_wake(const void *object);
int thread_count(void); /* of those that have not ended */
/* Joins and frees detached threads that have ended: nothing of them is left when
 * the program counts its threads. */
void thread_bury(void);
/* To stderr, a line for each. */
void thread_describe_all(void);

#pragma GCC visibility pop

#endif
