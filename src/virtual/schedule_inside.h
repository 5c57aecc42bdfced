/* The scheduler's threads, as schedule.c (whose turn it is) and
 * schedule_posix.c (what they wait for) see them. */
#ifndef ZKLOCK_VIRTUAL_SCHEDULE_INSIDE_H
#define ZKLOCK_VIRTUAL_SCHEDULE_INSIDE_H

#include <semaphore.h>

#include "schedule.h"

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
  bool is_ready;    /* one of them is */
  int64_t deadline; /* NEVER: it has none */
  const void *object;
  int64_t stalled_until;

  const void *held[HELD_MAX]; /* mutexes, and pthread_once under way */
  int held_count;
};

/* The calling thread, whose turn it is. */
struct thread *thread_self(void);
/* Lets another thread run, or this one, if what it waits for is there. */
void thread_hand_over(struct thread *self, enum wait wait, const char *why);
/* The first turn of the calling thread, and its end.  (A detached thread is
 * joined for real as soon as it has ended.) */
void thread_begin(struct thread *self);
void thread_end(struct thread *self);

struct thread *thread_new(const char *name); /* NULL: no memory */
void thread_free(struct thread *thread);
/* NULL: none; a thread that has ended still has its number. */
struct thread *thread_find(pthread_t id);
struct thread *thread_holder(const void *object);
/* Those that wait for this object can run. */
void thread_wake(const void *object);

_Noreturn void schedule_die(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

#pragma GCC visibility pop

#endif
