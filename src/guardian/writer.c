#include "writer.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CAPACITY = 65536, AT_ONCE = 4096, STACK = 262144, RETRY = 20 };

/* A writer's ring buffer. Callers append bytes at its end. The writer's thread
 * writes the bytes at its beginning, and then removes them. */
struct writer {
  pthread_mutex_t lock;
  pthread_cond_t filled;
  int fd;
  int problem;
  size_t begin, size;
  char bytes[CAPACITY];
};

static size_t least(size_t a, size_t b) { return a < b ? a : b; }

/* Writes some bytes from the beginning of the buffer, and removes them. Called
 * with `lock` held, which is released during the write. That is safe: only this
 * function changes `begin`, and the others only append bytes. */
static void write_some(struct writer *writer) {
  const char *from = writer->bytes + writer->begin;
  size_t size = least(least(writer->size, AT_ONCE), CAPACITY - writer->begin);
  pthread_mutex_unlock(&writer->lock);
  ssize_t written = write(writer->fd, from, size);
  int problem = written < 0 ? errno : 0;
  if (problem == EAGAIN) { /* O_NONBLOCK was set by another process */
    struct pollfd fd = {.fd = writer->fd, .events = POLLOUT};
    poll(&fd, 1, RETRY);
  }
  pthread_mutex_lock(&writer->lock);
  if (written > 0) {
    writer->begin = (writer->begin + (size_t)written) % CAPACITY;
    writer->size -= (size_t)written;
  } else if (problem && problem != EAGAIN && problem != EINTR) {
    writer->problem = problem;
    writer->size = 0;
  }
}

static void *run(void *argument) {
  struct writer *writer = argument;
  pthread_mutex_lock(&writer->lock);
  for (;;) {
    while (writer->size == 0) pthread_cond_wait(&writer->filled, &writer->lock);
    write_some(writer);
  }
  return NULL;
}

/* Starts the writer's thread with all signals blocked, so that the program's
 * other threads handle them. Blocking SIGTTOU also lets the thread write to a
 * terminal from the background. Returns 0 or an errno. */
static int start_thread(struct writer *writer) {
  pthread_attr_t attributes;
  pthread_t thread;
  sigset_t all, kept;
  sigfillset(&all);
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_attr_setstacksize(&attributes, STACK);
  pthread_sigmask(SIG_SETMASK, &all, &kept);
  int problem = pthread_create(&thread, &attributes, run, writer);
  pthread_sigmask(SIG_SETMASK, &kept, NULL);
  pthread_attr_destroy(&attributes);
  return problem;
}

struct writer *writer_start(int fd) {
  struct writer *writer = calloc(1, sizeof *writer);
  if (!writer) return NULL;
  writer->fd = fd;
  pthread_mutex_init(&writer->lock, NULL);
  pthread_cond_init(&writer->filled, NULL);
  if (start_thread(writer) == 0) return writer;
  free(writer);
  return NULL;
}

size_t writer_take(struct writer *writer, const char *text, size_t size,
                   bool whole) {
  pthread_mutex_lock(&writer->lock);
  size_t room = CAPACITY - writer->size;
  if (size > room) size = whole ? 0 : room;
  size_t end = (writer->begin + writer->size) % CAPACITY;
  size_t first = least(size, CAPACITY - end);
  memcpy(writer->bytes + end, text, first);
  memcpy(writer->bytes, text + first, size - first);
  writer->size += size;
  pthread_cond_signal(&writer->filled);
  pthread_mutex_unlock(&writer->lock);
  return size;
}

bool writer_is_idle(struct writer *writer, int *problem) {
  pthread_mutex_lock(&writer->lock);
  bool is_idle = writer->size == 0;
  *problem = writer->problem;
  writer->problem = 0;
  pthread_mutex_unlock(&writer->lock);
  return is_idle;
}

void writer_finish(struct writer *writer, int milliseconds) {
  int problem;
  while (!writer_is_idle(writer, &problem) && milliseconds-- > 0)
    poll(NULL, 0, 1);
}
