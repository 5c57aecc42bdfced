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
  WAIT_FOR_TURN,   /* the thread can run */
  WAIT_FOR_POLL,   /* the thread waits for `fds` or `deadline` */
  WAIT_FOR_OBJECT, /* the thread waits for the mutex or once `object` */
  WAIT_FOR_THREAD, /* the thread waits for the end of the thread `object` */
  WAIT_IS_OVER,    /* the thread has ended */
};

struct thread {
  struct thread *next; /* the next thread, in the order of creation */
  int number;
  const char *name;
  sem_t turn;
  pthread_t id;
  bool is_detached;
  void *(*function)(void *);
  void *argument;

  enum wait wait;
  struct pollfd *fds; /* only for WAIT_FOR_POLL */
  nfds_t count;
  int ready;        /* number of ready descriptors */
  int64_t deadline; /* NEVER if the wait has no deadline */
  const void *object;
  int64_t stalled_until;

  const void *held[HELD_MAX]; /* locked mutexes, and pthread_once in progress */
  int held_count;
};

extern struct thread thread_first; /* the first of the process */

struct thread *thread_new(const char *name); /* NULL if there is no memory */
void thread_free(struct thread *thread);
/* Initializes the first thread. */
void thread_init(void);
/* Removes all threads but `kept` from the list. Called after a fork, when only
 * the thread that forked is left. */
void thread_keep_only(struct thread *kept);

/* Returns the thread with this id, or NULL. Also finds a thread that has ended,
 * because it keeps its id. */
struct thread *thread_find(pthread_t id);
/* Returns the thread that has locked this mutex or runs this pthread_once, or
 * NULL. */
struct thread *thread_holder(const void *object);
/* Lets the threads that wait for this object run again. */
void thread_wake(const void *object);
int thread_count(void); /* counts threads that have not ended */
/* Joins and frees detached threads that have ended. Otherwise the program,
 * which counts its own threads, would still find them. */
void thread_bury(void);
/* Writes a line for each thread to stderr. */
void thread_describe_all(void);

#pragma GCC visibility pop

#endif
