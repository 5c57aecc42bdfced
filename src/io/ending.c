/* Ends the sessions, and then the process, when a signal arrives. Safety
 * depends on the order of three steps. First, the thread that runs Lua stops
 * for ever, inside the signal handler. So its critical section does not run at
 * the same time as the next holder's. Second, another thread of zklock makes
 * the I/O threads end their sessions. Last, that thread lets the signal take
 * its default action.
 *
 * The stopped thread can hold any lock, including malloc's lock. So the handler
 * calls no function that takes a lock. The I/O threads take no lock that the
 * Lua thread can hold: see `end` in io_thread.c. If an I/O thread blocks
 * nevertheless, the process ends after PATIENCE. */
#include "ending.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <unistd.h>

#include "descriptors.h"
#include "registry.h"

/* The state of signal handling. It is global because signal handlers belong to
 * the whole process. The Lua thread writes it before it installs a handler. The
 * handlers and the thread that runs `end` read it. */
static struct {
  pid_t owner;       /* the process of these threads; 0: not set up */
  pthread_t stopped; /* the thread that runs Lua, to stop */
  int read_fd, write_fd;
} watched;

static const int64_t PATIENCE = INT64_C(2000000000);

static void be_default(int signal) {
  struct sigaction action = {.sa_handler = SIG_DFL};
  sigaction(signal, &action, NULL);
}

static void handle(int signal) {
  int problem = errno;
  if (watched.owner != getpid()) {
    be_default(signal); /* a child of fork has no other thread */
    raise(signal);      /* the signal is delivered when the handler returns */
  } else if (!pthread_equal(pthread_self(), watched.stopped)) {
    pthread_kill(watched.stopped, signal);
  } else {
    unsigned char byte = (unsigned char)signal;
    while (write(watched.write_fd, &byte, 1) < 0 && errno == EINTR) continue;
    for (;;) pause();
  }
  errno = problem;
}

static void *end(void *unused) {
  (void)unused;
  unsigned char byte;
  while (read(watched.read_fd, &byte, 1) != 1)
    if (errno != EINTR) return NULL;
  registry_end_all(PATIENCE);
  be_default(byte);
  sigset_t one;
  sigemptyset(&one);
  sigaddset(&one, byte);
  pthread_sigmask(SIG_UNBLOCK, &one, NULL);
  raise(byte);
  /* Reached only in the first process of a container, because a signal's
   * default action does not end that process. */
  _exit(128 + byte);
}

static bool start(void) {
  int fds[2];
  if (!descriptors_pipe(fds)) return false;
  int flags = fcntl(fds[0], F_GETFL);
  fcntl(fds[0], F_SETFL, flags & ~O_NONBLOCK);
  watched.read_fd = fds[0];
  watched.write_fd = fds[1];
  pthread_t thread;
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  int rc = pthread_create(&thread, NULL, end, NULL);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (rc == 0) {
    pthread_detach(thread);
    watched.owner = getpid();
    return true;
  }
  close(fds[0]);
  close(fds[1]);
  errno = rc;
  return false;
}

bool ending_watch(int signal) {
  struct sigaction old, action = {.sa_handler = handle};
  if (sigaction(signal, NULL, &old) != 0) return false;
  if (old.sa_handler == SIG_IGN) return true;
  if (watched.owner != getpid() && !start()) return false;
  watched.stopped = pthread_self();
  sigfillset(&action.sa_mask);
  return sigaction(signal, &action, NULL) == 0;
}
