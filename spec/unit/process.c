#include "io/process.h"

#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"

ABOUT("The number of the process");

/* The child's word: does it know itself, whatever its parent has asked? */
static void check_child(pid_t child) {
  int status;
  if (child == 0) {
    bool first = process_id() == getpid(), again = process_id() == getpid();
    _exit(first && again ? 0 : 1);
  }
  CHECK(child > 0);
  CHECK_INT(child, waitpid(child, &status, 0));
  CHECK_INT(0, status);
  CHECK_INT(getpid(), process_id());
}

TEST("is its own in a child, and in a child of that") {
  CHECK_INT(getpid(), process_id());
  pid_t child = fork();
  if (child == 0) check_child(fork());
  check_child(child);
}

#ifdef SYS_clone
TEST("is its own in a child that no handler of a fork has seen") {
  CHECK_INT(getpid(), process_id());
  check_child((pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL));
}
#endif

static void *ask(void *argument) {
  bool *known = argument;
  *known = process_id() == getpid();
  return NULL;
}

TEST("is the same on every thread") {
  pthread_t threads[4];
  bool known[4] = {false};
  for (int i = 0; i < 4; i++)
    CHECK_INT(0, pthread_create(&threads[i], NULL, ask, &known[i]));
  for (int i = 0; i < 4; i++) {
    pthread_join(threads[i], NULL);
    CHECK(known[i]);
  }
}
