/* Threads in virtual time: a scheduler that runs the real threads of a process
 * one at a time.
 *
 * A thread *hands over*, which ends its turn, in poll, sleep, sched_yield and
 * join, and when it waits for a mutex. In exploring mode it also hands over at
 * random in any schedule_point. The scheduler draws the next thread among those
 * that can run. When none can run, the clock jumps to the next deadline of a
 * thread or of a device. What happens depends only on the seed and on what the
 * threads do.
 *
 * Threads wait only by the functions of posix.h. Only one thread runs, so the
 * state has no lock: a thread passes the state on together with the turn. The
 * scheduler knows the first thread that calls it and those that posix_create
 * makes. When another thread calls, the process ends with a message. The
 * scheduler polls descriptors without waiting, because its clock cannot wait
 * for what another process does at their other ends. */
#ifndef ZKLOCK_VIRTUAL_SCHEDULE_H
#define ZKLOCK_VIRTUAL_SCHEDULE_H

#include <stddef.h>

#include "point.h"
#include "thread.h"

#pragma GCC visibility push(hidden)

/* ---- The clock ----------------------------------------------------------- */

int64_t schedule_now(void);  /* returns nanoseconds */
int64_t schedule_tick(void); /* advances the time by a microsecond */
/* Advances the clock and runs no thread, as a suspend of the machine does. */
void schedule_jump(int64_t by);
/* Sets the time at which the process ends with a message, as it does when all
 * threads wait for ever. INT64_MAX, the default, means never. */
void schedule_limit(int64_t moment);

/* A device acts at its own times. `next` returns the next of these times, or
 * INT64_MAX if there is none. `run` performs all actions that are due. The
 * thread that is about to hand over calls both functions, which must not
 * wait. */
struct schedule_device {
  int64_t (*next)(void *self);
  void (*run)(void *self, int64_t now);
  void *self;
};
void schedule_attach(const struct schedule_device *device); /* at most once */

/* ---- Random choices ------------------------------------------------------ */

/* Restarts all random choices with this seed. */
void schedule_seed(uint64_t seed);
/* Writes random bytes for the program, from a stream of their own. */
void schedule_random(void *bytes, size_t size);

struct schedule_exploration {
  /* A thread hands over at one of so many points on average; 0 means never. */
  uint64_t switches;
  /* One in so many hand-overs stalls the thread; 0 means that none does. */
  uint64_t stalls;
  int64_t stall; /* the longest stall, in nanoseconds */
};
void schedule_explore(const struct schedule_exploration *exploration);

/* Returns a hash of all turns so far. Two runs have the same hash only if the
 * same threads had their turns at the same times. */
uint64_t schedule_digest(void);

/* ---- For posix.c --------------------------------------------------------- */

/* Returns true if the scheduler knows the calling thread, or no thread yet. */
bool schedule_knows_caller(void);
/* Returns the calling thread. Ends the process if it is not this thread's
 * turn. */
struct thread *schedule_self(void);
/* Ends the turn of `self`, and returns when `self` has its next turn, which can
 * be at once. `wait` says what `self` waits for; `why` is for the trace. */
void schedule_hand_over(struct thread *self, enum wait wait, const char *why);
/* schedule_begin waits for a new thread's first turn; schedule_end ends its
 * last turn. */
void schedule_begin(struct thread *self);
void schedule_end(struct thread *self);
_Noreturn void schedule_die(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

#pragma GCC visibility pop

#endif
