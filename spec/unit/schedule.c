#include "virtual/schedule.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"
#include "virtual/posix.h"

ABOUT("The scheduler of virtual time");

#define MILLISECOND INT64_C(1000000)
#define SECOND (1000 * MILLISECOND)

static void sleep_until(int64_t moment) { posix_poll_until(NULL, 0, moment); }
static void sleep_for(int64_t pause) { sleep_until(schedule_now() + pause); }

static pthread_t start(void *(*function)(void *), void *argument) {
  pthread_t thread;
  CHECK_INT(0, posix_create(&thread, NULL, function, argument, "a thread"));
  return thread;
}

static void join(pthread_t thread) { CHECK_INT(0, posix_join(thread, NULL)); }

/* What threads have said, in order. */
static char said[2000];

static void say(const char *word) {
  CHECK(strlen(said) + strlen(word) + 2 < sizeof said);
  strcat(said, word);
  strcat(said, " ");
}

/* ---- Time ----------------------------------------------------------------- */

TEST("lets an hour of sleep pass at once, and exactly") {
  struct timespec real, later;
  int64_t begun = schedule_now();
  clock_gettime(CLOCK_MONOTONIC, &real);
  sleep_until(begun + 3600 * SECOND);
  clock_gettime(CLOCK_MONOTONIC, &later);
  CHECK_INT(begun + 3600 * SECOND, schedule_now());
  CHECK(later.tv_sec - real.tv_sec < 60);
}

TEST("sleeps as POSIX's functions do") {
  struct timespec pause = {2, 500};
  int64_t before = schedule_now();
  CHECK_INT(0, posix_nanosleep(&pause, NULL));
  CHECK_INT(before + 2 * SECOND + 500, schedule_now());
  CHECK_INT(0, posix_usleep(7));
  CHECK_INT(before + 2 * SECOND + 7500, schedule_now());
  CHECK_INT(0, posix_poll(NULL, 0, 3));
  CHECK_INT(before + 2 * SECOND + 7500 + 3 * MILLISECOND, schedule_now());
}

static void *sleep_and_say(void *argument) {
  const int *seconds = argument;
  char word[20];
  sleep_until(2000 * SECOND + *seconds * SECOND);
  snprintf(word, sizeof word, "%d", *seconds);
  say(word);
  return NULL;
}

TEST("wakes sleepers in the order of their deadlines") {
  int pauses[] = {5, 1, 4, 2, 3};
  pthread_t threads[5];
  for (int i = 0; i < 5; i++) threads[i] = start(sleep_and_say, &pauses[i]);
  for (int i = 0; i < 5; i++) join(threads[i]);
  CHECK_TEXT("1 2 3 4 5 ", said);
  CHECK_INT(2005 * SECOND, schedule_now());
}

TEST("runs a thread late for which a suspend was too long") {
  int pause = 1;
  sleep_until(2000 * SECOND);
  pthread_t thread = start(sleep_and_say, &pause);
  sleep_for(MILLISECOND);
  schedule_jump(60 * SECOND);
  CHECK_TEXT("", said);
  join(thread);
  CHECK_TEXT("1 ", said);
  CHECK(schedule_now() >= 2060 * SECOND && schedule_now() < 2061 * SECOND);
}

/* ---- Threads -------------------------------------------------------------- */

static void *answer(void *argument) {
  sleep_for(SECOND);
  return argument;
}

TEST("gives a thread's result to the one that joins it") {
  int number;
  void *result = NULL;
  pthread_t thread = start(answer, &number);
  CHECK_INT(2, thread_count());
  CHECK_INT(0, posix_join(thread, &result));
  CHECK(result == &number);
  CHECK_INT(1, thread_count());
}

TEST("leaves nothing of detached threads") {
  pthread_t one = start(answer, NULL), other = start(answer, NULL), third;
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  CHECK_INT(0, posix_create(&third, &attributes, answer, NULL, "detached"));
  pthread_attr_destroy(&attributes);
  CHECK_INT(0, posix_detach(one));
  sleep_for(2 * SECOND);
  CHECK_INT(0, posix_detach(other));
  CHECK_INT(1, thread_count());
}

/* ---- Descriptors ---------------------------------------------------------- */

static void *write_later(void *argument) {
  const int *fd = argument;
  sleep_for(2 * SECOND);
  CHECK_INT(1, write(*fd, "!", 1));
  return NULL;
}

TEST("ends a poll when another thread has written") {
  int ends[2];
  CHECK_INT(0, pipe(ends));
  struct pollfd fds[2] = {{.fd = -1}, {.fd = ends[0], .events = POLLIN}};
  int64_t begun = schedule_now();
  pthread_t thread = start(write_later, &ends[1]);
  CHECK_INT(0, posix_poll(fds, 2, 1000));
  CHECK(schedule_now() >= begun + SECOND);
  CHECK_INT(1, posix_poll(fds, 2, -1));
  CHECK_INT(POLLIN, fds[1].revents);
  CHECK(schedule_now() < begun + 3 * SECOND);
  join(thread);
}

static void *await_byte(void *argument) {
  struct pollfd fds = {.fd = *(int *)argument, .events = POLLIN};
  CHECK_INT(1, posix_poll(&fds, 1, -1));
  say("woken");
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
  CHECK_INT(1, write(ends[MANY - 1][1], "!", 1));
  join(threads[MANY - 1]);
  CHECK_TEXT("woken ", said);
  for (int i = 0; i < MANY - 1; i++) {
    CHECK_INT(1, write(ends[i][1], "!", 1));
    join(threads[i]);
  }
}

/* ---- Mutexes -------------------------------------------------------------- */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int counter;

static void *hold_and_sleep(void *argument) {
  (void)argument;
  for (int i = 0; i < 10; i++) {
    CHECK_INT(0, posix_lock(&mutex));
    int seen = counter;
    sleep_for(SECOND);
    counter = seen + 1;
    CHECK_INT(0, posix_unlock(&mutex));
  }
  return NULL;
}

TEST("lets one thread have a mutex, though its holder sleeps") {
  int64_t begun = schedule_now();
  pthread_t one = start(hold_and_sleep, NULL),
            other = start(hold_and_sleep, NULL);
  sleep_for(MILLISECOND);
  CHECK_INT(EBUSY, posix_trylock(&mutex));
  join(one);
  join(other);
  CHECK_INT(20, counter);
  CHECK(schedule_now() >= begun + 20 * SECOND);
  CHECK_INT(0, posix_trylock(&mutex));
  CHECK_INT(0, posix_unlock(&mutex));
}

static pthread_once_t once = PTHREAD_ONCE_INIT;

static void prepare(void) {
  sleep_for(SECOND);
  say("prepared");
}

static void *need(void *argument) {
  (void)argument;
  CHECK_INT(0, posix_once(&once, prepare));
  say("goes on");
  return NULL;
}

TEST("has the others wait for a pthread_once that sleeps") {
  pthread_t one = start(need, NULL), other = start(need, NULL);
  join(one);
  join(other);
  CHECK_TEXT("prepared goes on goes on ", said);
}

/* ---- A device ------------------------------------------------------------- */

static int64_t device_due;
static int device_runs;

static int64_t device_next(void *self) {
  (void)self;
  return device_due;
}

static void device_run(void *self, int64_t now) {
  CHECK(self == &device_due && now >= device_due);
  device_runs++;
  device_due = device_runs < 5 ? device_due + SECOND : INT64_MAX;
}

TEST("runs a device when its time has come") {
  struct schedule_device device = {device_next, device_run, &device_due};
  int64_t begun = schedule_now();
  device_due = begun + SECOND;
  schedule_attach(&device);
  sleep_until(begun + 2 * SECOND + MILLISECOND);
  CHECK_INT(2, device_runs);
  sleep_until(begun + 20 * SECOND);
  CHECK_INT(5, device_runs);
}

/* ---- Chance --------------------------------------------------------------- */

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
    alarm(20);
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

static void *wait_for_ever(void *argument) {
  struct pollfd fds = {.fd = *(int *)argument, .events = POLLIN};
  posix_lock(&mutex);
  posix_poll(&fds, 1, -1);
  return NULL;
}

static void *wait_for_mutex(void *argument) {
  (void)argument;
  posix_lock(&mutex);
  return NULL;
}

static void wait_all(void) {
  int ends[2];
  if (pipe(ends) != 0) _exit(1);
  pthread_t thread = start(wait_for_ever, ends);
  posix_usleep(1);
  start(wait_for_mutex, NULL);
  posix_join(thread, NULL);
}

TEST("ends a process whose threads all wait for ever, and says for what") {
  const char *text = complaint_of(wait_all);
  expect(text, "all threads wait for ever");
  expect(text, "thread 1 (the first) joins thread 2");
  expect(text, "thread 2 (a thread) polls descriptors");
  expect(text, "thread 3 (a thread) waits for a mutex that thread 2 holds");
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

TEST("goes on in the child of a fork, with the thread that has forked") {
  pthread_t thread = start(answer, NULL);
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
