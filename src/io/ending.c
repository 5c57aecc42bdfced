/* The order is what matters: first the thread that runs Lua stops, inside the
 * handler and for ever, so that nothing of a critical section runs beside the
 * next holder.  Then a thread of ours has the I/O threads end their sessions.
 * Then it lets the signal do what it does where nobody handles it.
 *
 * The stopped thread may hold any lock, that of malloc included.  So the
 * handler calls nothing that takes a lock, and the I/O threads go a way on which
 * they need none of the Lua thread's: see end in io_thread.c.  Should one be held up
 * all the same, the process ends without it. */
#include "ending.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <unistd.h>

#include "descriptors.h"
#include "registry.h"

/* Of the process, as signals are.  Written by the Lua thread before a handler
 * is there; read by handlers, and by the thread that waits for their word. */
static struct {
  pid_t owner;       /* whose threads these are; 0: nobody watches */
  pthread_t stopped; /* the thread that is to stop */
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
    be_default(signal); /* a child of fork: none of our threads is here */
    raise(signal);      /* when this returns */
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
  /* The first process of a container is not ended by a signal's default. */
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
