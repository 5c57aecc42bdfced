/* Threads in virtual time: a scheduler that lets only one of the process's real
 * threads run at a time.
 *
 * A thread *hands over* when it ends its turn, so that another thread can run.
 * It does so in poll, sleep, sched_yield and join, and when it waits for a
 * mutex. In exploring mode it also hands over at random in any schedule_point.
 * The scheduler then draws the next thread among those that can run. If none
 * can run, the clock jumps to the next deadline of a thread or of the device.
 * The order of turns depends only on the seed and on the threads' actions.
 *
 * Threads wait only in the functions of posix.h. The scheduler's state needs no
 * lock, because only the thread whose turn it is runs and uses the state. The
 * scheduler knows the first thread that calls it, and those that posix_create
 * makes. If another thread calls it, the process ends with a message. The
 * scheduler polls descriptors without waiting. So another process must not be
 * at their other ends: the virtual clock would not wait for it. */
#ifndef ZKLOCK_VIRTUAL_SCHEDULE_H
#define ZKLOCK_VIRTUAL_SCHEDULE_H

#include <stddef.h>

#include "point.h"
#include "thread.h"

#pragma GCC visibility push(hidden)

/* ---- The clock ----------------------------------------------------------- */

int64_t schedule_now(void);  /* returns nanoseconds */
int64_t schedule_tick(void); /* advances the time by a microsecond */
/* Advances the clock without running any thread, as when the machine is
 * suspended. */
void schedule_jump(int64_t by);
/* Sets the time at which the process ends with a message; INT64_MAX, the
 * default, means never. The process also ends with a message when all threads
 * wait for ever. */
void schedule_limit(int64_t moment);

/* A device has actions at certain times. The only device is in world.c; it runs
 * the ensembles. `next` returns the time of its next action, or INT64_MAX if
 * there is none. `run` performs all actions that are due. A thread calls both
 * functions when it hands over; they must not wait. */
struct schedule_device {
  int64_t (*next)(void *self);
  void (*run)(void *self, int64_t now);
  void *self;
};
void schedule_attach(const struct schedule_device *device); /* at most once */

/* ---- Random choices ------------------------------------------------------ */

/* Restarts all random choices with this seed. */
void schedule_seed(uint64_t seed);
/* Writes random bytes for the program. They come from a separate stream of
 * random numbers, so they do not change the scheduler's choices. */
void schedule_random(void *bytes, size_t size);

struct schedule_exploration {
  /* On average, a thread hands over at one in `switches` points; 0 means
   * never. */
  uint64_t switches;
  /* On average, one in `stalls` hand-overs stalls the thread, so that it cannot
   * run for some time. 0 means that none does. */
  uint64_t stalls;
  int64_t stall; /* the longest stall, in nanoseconds */
};
void schedule_explore(const struct schedule_exploration *exploration);

/* Returns a hash of all turns so far. If two runs have the same hash, the same
 * threads had their turns at the same times. */
uint64_t schedule_digest(void);

/* ---- For posix.c --------------------------------------------------------- */

/* Returns true if the scheduler knows the calling thread, or if no thread has
 * called it yet. */
bool schedule_knows_caller(void);
/* Returns the calling thread. If it is another thread's turn, the process ends
 * with a message. */
struct thread *schedule_self(void);
/* Ends the turn of `self`, and returns when `self` has its next turn, which can
 * be at once. `wait`: what `self` waits for; `why`: the text for the trace. */
void schedule_hand_over(struct thread *self, enum wait wait, const char *why);
/* schedule_begin waits for a new thread's first turn; schedule_end ends its
 * last turn. */
void schedule_begin(struct thread *self);
void schedule_end(struct thread *self);
_Noreturn void schedule_die(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

#pragma GCC visibility pop

#endif
