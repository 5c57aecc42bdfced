#include "virtual/schedule.h"

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"
#include "virtual/posix.h"

ABOUT("The scheduler of virtual time");

#define SECOND INT64_C(1000000000)

static void sleep_for(int64_t pause) {
  posix_poll_until(NULL, 0, schedule_now() + pause);
}

static pthread_t start(void *(*function)(void *), void *argument) {
  pthread_t thread;
  CHECK_INT(0, posix_create(&thread, NULL, function, argument, "a thread"));
  return thread;
}

static void join(pthread_t thread) { CHECK_INT(0, posix_join(thread, NULL)); }

/* ---- Descriptors ---------------------------------------------------------- */

static void *await_byte(void *argument) {
  struct pollfd fds = {.fd = *(int *)argument, .events = POLLIN};
  CHECK_INT(1, posix_poll(&fds, 1, -1));
  return NULL;
}

TEST("looks at the descriptors of hundreds of threads") {
  enum { MANY = 300 };
  static int ends[MANY][2];
  static pthread_t threads[MANY];
  for (int i = 0; i < MANY; i++) {
    CHECK_INT(0, pipe(ends[i]));
    threads[i] = start(await_byte, &ends[i][0]);
  }
  sleep_for(SECOND);
  for (int i = MANY; i-- > 0;) {
    CHECK_INT(1, write(ends[i][1], "!", 1));
    join(threads[i]);
  }
}

/* ---- Chance --------------------------------------------------------------- */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int unguarded;

static void *increment(void *argument) {
  const bool *guarded = argument;
  for (int i = 0; i < 20; i++) {
    if (*guarded) posix_lock(&mutex);
    int seen = unguarded;
    schedule_point();
    unguarded = seen + 1;
    if (*guarded) posix_unlock(&mutex);
  }
  return NULL;
}

static int count_with(uint64_t seed, uint64_t switches, bool guarded) {
  struct schedule_exploration exploration = {.switches = switches};
  schedule_seed(seed);
  schedule_explore(&exploration);
  unguarded = 0;
  pthread_t one = start(increment, &guarded),
            other = start(increment, &guarded);
  join(one);
  join(other);
  exploration.switches = 0;
  schedule_explore(&exploration);
  return unguarded;
}

TEST("finds a lost update where it explores, and none behind a mutex") {
  int lost = 0;
  for (uint64_t seed = 1; seed <= 20; seed++) {
    CHECK_INT(40, count_with(seed, 0, false));
    CHECK_INT(40, count_with(seed, 3, true));
    lost += count_with(seed, 3, false) < 40;
  }
  CHECK(lost > 10);
}

TEST("stalls threads for so long, where it explores") {
  struct schedule_exploration exploration = {.stalls = 1, .stall = SECOND};
  int64_t begun = schedule_now();
  schedule_seed(1);
  schedule_explore(&exploration);
  for (int i = 0; i < 100; i++) posix_yield();
  CHECK(schedule_now() > begun + 20 * SECOND);
  CHECK(schedule_now() < begun + 100 * SECOND);
}

static void *set(void *argument) {
  *(bool *)argument = true;
  return NULL;
}

TEST("takes the turn away from a thread that spins") {
  bool is_set = false;
  pthread_t thread = start(set, &is_set);
  while (!is_set) schedule_point();
  join(thread);
}

/* ---- What cannot go on ---------------------------------------------------- */

static char complaint[4000];

/* What a process says that ends by abort(). */
static const char *complaint_of(void (*function)(void)) {
  int ends[2], status;
  size_t size = 0;
  ssize_t n;
  CHECK_INT(0, pipe(ends));
  pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], 2);
    alarm(120);
    function();
    _exit(0);
  }
  close(ends[1]);
  while ((n = read(ends[0], complaint + size, sizeof complaint - 1 - size)) > 0)
    size += (size_t)n;
  close(ends[0]);
  waitpid(child, &status, 0);
  CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
  return complaint;
}

static void expect(const char *text, const char *part) {
  if (!strstr(text, part)) test_fail("'%s' is not in '%s'", part, text);
}

static void *call(void *argument) {
  (void)argument;
  posix_yield();
  return NULL;
}

static void call_on_a_strange_thread(void) {
  pthread_t thread;
  posix_yield();
  pthread_create(&thread, NULL, call, NULL);
  pthread_join(thread, NULL);
}

TEST("refuses threads that it has not started") {
  expect(complaint_of(call_on_a_strange_thread),
         "a thread that zklock has not started");
}

static void *sleep_a_while(void *argument) {
  sleep_for(SECOND);
  return argument;
}

TEST("goes on in the child of a fork, with the thread that has forked") {
  pthread_t thread = start(sleep_a_while, NULL);
  int status;
  pid_t child = fork();
  if (child == 0) {
    int64_t begun = schedule_now();
    sleep_for(10 * SECOND);
    _exit(thread_count() == 1 && schedule_now() == begun + 10 * SECOND ? 0 : 1);
  }
  waitpid(child, &status, 0);
  CHECK_INT(0, status);
  join(thread);
}
