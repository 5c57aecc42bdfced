/* Threads that fork at the same time, beside threads that hold locks; and a
 * fork that fails.  Prints how many children found a lock held. */
#include "../../src/io/fork.c"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WORKERS = 3, FORKERS = 3, FORKS = 150 };

/* As one of the C library's: fork knows nothing of it. */
static pthread_mutex_t foreign = PTHREAD_MUTEX_INITIALIZER;
static _Atomic bool over;
static _Atomic int failures;
static int hooked;

int64_t clock_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_BOOTTIME, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void spin(void) {
  int64_t until = clock_now() + 20000;
  while (clock_now() < until) continue;
}

static void *work(void *unused) {
  while (!over) {
    fork_awake();
    pthread_mutex_lock(&foreign);
    spin();
    pthread_mutex_unlock(&foreign);
    fork_asleep();
    fork_lock();
    spin();
    fork_unlock();
  }
  return unused;
}

static void on_fork(void) { hooked++; }

static int child(void) {
  alarm(120);
  bool ok = pthread_mutex_trylock(&foreign) == 0 && hooked == 1 &&
            !fork_forbids_lookups();
  fork_lock();
  fork_unlock();
  fork_awake();
  fork_asleep();
  fork_lookup_begin();
  fork_lookup_end();
  return ok ? 0 : 1;
}

static void *forks(void *unused) {
  for (int i = 0; i < FORKS; i++) {
    int status = -1;
    pid_t pid = fork();
    if (pid == 0) _exit(child());
    if (pid < 0 || waitpid(pid, &status, 0) != pid || status != 0) failures++;
  }
  return unused;
}

/* Nobody may have one process more. */
static bool fork_that_fails(void) {
  struct rlimit none = {0, 0};
  if (setrlimit(RLIMIT_NPROC, &none) != 0) return false;
  if (getuid() == 0 && setuid(65534) != 0) return false;
  pid_t pid = fork();
  if (pid == 0) _exit(0);
  return pid < 0;
}

int main(void) {
  pthread_t threads[WORKERS + FORKERS];
  fork_watch(on_fork);
  fork_watch(on_fork);
  for (int i = 0; i < WORKERS; i++)
    pthread_create(&threads[i], NULL, work, NULL);
  for (int i = 0; i < FORKERS; i++)
    pthread_create(&threads[WORKERS + i], NULL, forks, NULL);
  for (int i = 0; i < FORKERS; i++) pthread_join(threads[WORKERS + i], NULL);
  over = true;
  for (int i = 0; i < WORKERS; i++) pthread_join(threads[i], NULL);
  printf("%d failures\n", failures);
  alarm(120);
  printf("the last %s\n", fork_that_fails() ? "fails" : "succeeds");
  fork_lock();
  fork_unlock();
  fork_awake();
  fork_asleep();
  puts("free");
}
