/* Threads in virtual time: a scheduler that runs the real threads of a process
 * one at a time.
 *
 * A thread hands over in poll, sleep, sched_yield and join, and where it waits
 * for a mutex; in exploring mode also by chance in any schedule_point.  The next
 * thread is drawn among those that can run.  When no thread can run, the clock
 * jumps to the next deadline of a thread or of a device.  Everything depends on
 * the seed and on what the threads do, and on nothing else.
 *
 * Where a thread waits, it waits by the functions of posix.h.  Only one thread runs, so the state has no lock: a thread
 * passes it on together with its turn.  The first thread that calls is the
 * scheduler's, and so is each that posix_create has made; calls by others end
 * the process with a message.  Descriptors are looked at without waiting for
 * them: what another process does with their other ends no clock can wait for. */
#ifndef ZKLOCK_VIRTUAL_SCHEDULE_H
#define ZKLOCK_VIRTUAL_SCHEDULE_H

#include <stddef.h>

#include "thread.h"

#pragma GCC visibility push(hidden)

/* ---- The clock ------------------------------------------------------------ */

int64_t schedule_now(void);  /* nanoseconds */
int64_t schedule_tick(void); /* the same, but a microsecond later each time */
/* As after a suspend of the machine: no thread has run meanwhile. */
void schedule_jump(int64_t by);
/* A process whose clock comes to this moment is ended with a message, as one
 * whose threads all wait for ever.  INT64_MAX: never, as at first. */
void schedule_limit(int64_t moment);

/* What acts at moments of its own, on whatever thread is about to hand over.
 * `next` returns the next such moment (INT64_MAX: there is none), and `run` does
 * all that is due.  Neither may wait. */
struct schedule_device {
  int64_t (*next)(void *self);
  void (*run)(void *self, int64_t now);
  void *self;
};
void schedule_attach(const struct schedule_device *device); /* one at most */

/* ---- Chance --------------------------------------------------------------- */

/* Chance begins anew with this seed. */
void schedule_seed(uint64_t seed);
/* Random bytes for the program, from a stream of their own. */
void schedule_random(void *bytes, size_t size);

struct schedule_exploration {
  uint64_t
      switches;    /* at one point in so many the thread hands over; 0: none */
  uint64_t stalls; /* at one hand-over in so many the thread is not run ... */
  int64_t stall;   /* ... before so much time has passed, at most */
};
void schedule_explore(const struct schedule_exploration *exploration);
/* Here another thread may run, in exploring mode; and one that has passed a
 * thousand of these without a wait hands over in any mode. */
void schedule_point(void);

/* A number that two runs have in common only if the same threads had their turns
 * at the same times. */
uint64_t schedule_digest(void);

/* ---- For posix.c ---------------------------------------------------------- */

/* The calling thread, whose turn it is. */
struct thread *schedule_self(void);
/* Lets another thread run, or this one, if what it waits for is there. */
void schedule_hand_over(struct thread *self, enum wait wait, const char *why);
/* The first turn of the calling thread, and its end. */
void schedule_begin(struct thread *self);
void schedule_end(struct thread *self);
_Noreturn void schedule_die(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

#pragma GCC visibility pop

#endif
