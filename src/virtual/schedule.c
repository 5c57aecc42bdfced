/* Implements the scheduler, which decides which thread runs, and what time it
 * is. */
#include "schedule.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "chance.h"
#include "trace.h"

#define MICROSECOND INT64_C(1000)
#define START (INT64_C(1000) * 1000000000)

enum { STREAM_OF_TURNS = 1, STREAM_OF_BYTES = 2 };
enum { BATCH = 256 };
/* After this many points without a wait, a thread has used up its time slice,
 * and another thread runs. A real system would also preempt a thread that
 * spins. */
enum { SLICE = 1000 };
#define SLICE_TIME (10 * MICROSECOND)

static struct thread *running; /* NULL until a thread calls */
static _Thread_local struct thread *self;

static int64_t now = START, limit = NEVER;
static struct schedule_device device;
static struct schedule_exploration exploration;
static uint64_t seed;
static bool is_seeded;
static struct chance turns, bytes;
static uint64_t digest;
static int points; /* number of points since the last turn */

/* ---- Messages ------------------------------------------------------------ */

void schedule_die(const char *format, ...) {
  va_list arguments;
  fprintf(stderr, "zklock in virtual time: ");
  va_start(arguments, format);
  vfprintf(stderr, format, arguments);
  va_end(arguments);
  fprintf(stderr, ", at %.6f s, with the seed %" PRIu64 "\n", (double)now / 1e9,
          seed);
  if (running) thread_describe_all();
  fflush(NULL);
  abort();
}

/* ---- The calling thread -------------------------------------------------- */

/* Called in the child process after a fork. Forgets the other threads, because
 * only the thread that has forked exists there. */
static void in_child(void) {
  if (self) thread_keep_only(self);
}

static void adopt(void) {
  self = running = &thread_first;
  thread_init();
  if (!is_seeded) schedule_seed(0);
  pthread_atfork(NULL, NULL, in_child);
}

bool schedule_knows_caller(void) { return !running || self; }

struct thread *schedule_self(void) {
  if (!running) adopt();
  if (!self) schedule_die("a thread that zklock has not started calls zklock");
  if (running != self)
    schedule_die(
        "thread %d calls, and it is thread %d's turn: in a signal "
        "handler?",
        self->number, running->number);
  return self;
}

/* ---- Turns --------------------------------------------------------------- */

struct batch {
  struct pollfd fds[BATCH];
  struct pollfd *from[BATCH];
  struct thread *of[BATCH];
  nfds_t count;
};

static void look(struct batch *batch) {
  int n;
  do n = (poll)(batch->fds, batch->count, 0);
  while (n < 0 && errno == EINTR);
  for (nfds_t i = 0; i < batch->count; i++) {
    batch->from[i]->revents = n > 0 ? batch->fds[i].revents : 0;
    batch->of[i]->ready += batch->from[i]->revents != 0;
  }
  batch->count = 0;
}

static void look_at_descriptors(void) {
  struct batch batch;
  batch.count = 0;
  for (struct thread *t = &thread_first; t; t = t->next) {
    t->ready = 0;
    if (t->wait != WAIT_FOR_POLL) continue;
    for (nfds_t i = 0; i < t->count; i++) {
      if (batch.count == BATCH) look(&batch);
      batch.of[batch.count] = t;
      batch.from[batch.count] = &t->fds[i];
      batch.fds[batch.count++] = t->fds[i];
    }
  }
  if (batch.count > 0) look(&batch);
}

/* Returns the time from which a thread can run. Returns NEVER if it waits for
 * something that has no known time. */
static int64_t runs_at(const struct thread *t) {
  int64_t at = NEVER;
  if (t->wait == WAIT_FOR_TURN || t->ready > 0)
    at = INT64_MIN;
  else if (t->wait == WAIT_FOR_POLL)
    at = t->deadline;
  return at < t->stalled_until ? t->stalled_until : at;
}

static bool run_device(void) {
  if (!device.run || device.next(device.self) > now) return false;
  device.run(device.self, now);
  assert(device.next(device.self) > now);
  return true;
}

static void jump(void) {
  int64_t least = device.next ? device.next(device.self) : NEVER;
  for (const struct thread *t = &thread_first; t; t = t->next)
    if (runs_at(t) < least) least = runs_at(t);
  if (least == NEVER) schedule_die("all threads wait for ever");
  if (least > limit) schedule_die("the limit of time is reached");
  if (least > now) now = least;
}

static struct thread *nth_that_runs(uint64_t n) {
  struct thread *t = &thread_first;
  while (runs_at(t) > now || n-- > 0) t = t->next;
  return t;
}

/* Chooses the next thread. Advances the clock until a thread can run. Meanwhile
 * no thread runs, so only the device can make descriptors ready. So the
 * descriptors are polled only at the beginning, and after each run of the
 * device. */
static struct thread *choose(void) {
  for (bool begins = true;; begins = false) {
    uint64_t n = 0;
    if (run_device() || begins) look_at_descriptors();
    for (const struct thread *t = &thread_first; t; t = t->next)
      n += runs_at(t) <= now;
    if (n > 0) return nth_that_runs(chance_below(&turns, n));
    jump();
  }
}

static void note(const struct thread *from, const struct thread *to,
                 const char *why) {
  digest = (digest ^ (uint64_t)now ^ (uint64_t)to->number << 48) *
           UINT64_C(0x100000001b3);
  if (from != to) trace(now, "%d %s: %d runs", from->number, why, to->number);
}

static void await_turn(struct thread *t) {
  while (sem_wait(&t->turn) != 0) continue;
}

static void stall(struct thread *t) {
  if (!chance_one_in(&turns, exploration.stalls)) return;
  t->stalled_until =
      now + (int64_t)chance_below(&turns, (uint64_t)exploration.stall);
  trace(now, "%d is stalled", t->number);
}

void schedule_hand_over(struct thread *t, enum wait wait, const char *why) {
  t->wait = wait;
  points = 0;
  stall(t);
  struct thread *next = choose();
  note(t, next, why);
  if (next != t) {
    running = next;
    sem_post(&next->turn);
    await_turn(t);
  }
  t->wait = WAIT_FOR_TURN;
  thread_bury();
}

void schedule_end(struct thread *t) {
  t->wait = WAIT_IS_OVER;
  t->stalled_until = 0;
  thread_wake(t);
  struct thread *next = choose();
  note(t, next, "ends");
  running = next;
  sem_post(&next->turn);
}

void schedule_begin(struct thread *t) {
  await_turn(t);
  self = t;
  t->wait = WAIT_FOR_TURN;
  thread_bury();
}

void schedule_point(void) {
  bool is_over = ++points >= SLICE;
  if (!is_over && exploration.switches == 0) return;
  if (self && self != running) return; /* a signal handler calls this */
  struct thread *t = schedule_self();
  if (!is_over && !chance_one_in(&turns, exploration.switches)) return;
  /* Advances the clock, because a thread that spins until a certain time would
   * otherwise spin for ever. */
  now += is_over ? SLICE_TIME : MICROSECOND;
  schedule_hand_over(t, WAIT_FOR_TURN, "passes a point");
}

/* ---- Time and random choices --------------------------------------------- */

int64_t schedule_now(void) { return now; }
int64_t schedule_tick(void) { return now += MICROSECOND; }
void schedule_jump(int64_t by) { now += by; }
void schedule_limit(int64_t moment) { limit = moment; }

void schedule_attach(const struct schedule_device *attached) {
  device = *attached;
}

void schedule_seed(uint64_t chosen) {
  seed = chosen;
  is_seeded = true;
  turns = chance_stream(seed, STREAM_OF_TURNS);
  bytes = chance_stream(seed, STREAM_OF_BYTES);
  digest = seed;
}

void schedule_random(void *to, size_t size) {
  for (size_t i = 0; i < size; i++)
    ((unsigned char *)to)[i] = (unsigned char)(chance_next(&bytes) >> 56);
}

void schedule_explore(const struct schedule_exploration *chosen) {
  exploration = *chosen;
}

uint64_t schedule_digest(void) { return digest; }
