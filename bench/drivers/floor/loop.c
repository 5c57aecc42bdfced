#include "loop.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#define BATCH 256
#define PING_SECONDS 5

static int epoll, timer_fd;
static void (*timer_fn)(void *);
static void *timer_context;
static struct client *dirty;
static struct client **clients;
static size_t client_count, client_room;
static double next_ping;
static bool input_ready;

double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

void touch(struct client *client) {
  if (client->dirty) return;
  client->dirty = true;
  client->next_dirty = dirty;
  dirty = client;
}

static void flush_all(void) {
  while (dirty) {
    struct client *client = dirty;
    dirty = client->next_dirty;
    client->dirty = false;
    client->kind->flush(client);
  }
}

// The two that are no clients are known by their address.
static void watch(int fd, void *who) {
  struct epoll_event event = {.events = EPOLLIN, .data.ptr = who};
  if (epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) != 0)
    die("epoll: %s", strerror(errno));
}

void loop_begin(void) {
  epoll = epoll_create1(EPOLL_CLOEXEC);
  timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
  watch(timer_fd, &timer_fd);
  watch(STDIN_FILENO, &input_ready);
}

void loop_add(struct client *client) {
  if (client_count == client_room) {
    client_room = client_room ? 2 * client_room : 64;
    clients = realloc(clients, client_room * sizeof *clients);
    if (!clients) die("no memory");
  }
  clients[client_count++] = client;
  watch(client->fd, client);
}

void loop_forget(struct client *client) {
  size_t i;
  flush_all();
  for (i = 0; clients[i] != client; i++) continue;
  clients[i] = clients[--client_count];
  epoll_ctl(epoll, EPOLL_CTL_DEL, client->fd, NULL);
}

void loop_after(double seconds, void (*fn)(void *), void *context) {
  struct itimerspec time = {0};
  time.it_value.tv_sec = (time_t)seconds;
  time.it_value.tv_nsec = (long)((seconds - floor(seconds)) * 1e9);
  timer_fn = fn;
  timer_context = context;
  timerfd_settime(timer_fd, 0, &time, NULL);
}

static void take_timer(void) {
  unsigned long long times;
  void (*fn)(void *) = timer_fn;
  if (read(timer_fd, &times, sizeof times) != sizeof times || !fn) return;
  timer_fn = NULL;
  fn(timer_context);
}

static void ping_all(void) {
  size_t i;
  if (now() < next_ping) return;
  for (i = 0; i < client_count; i++) clients[i]->kind->ping(clients[i]);
  next_ping = now() + PING_SECONDS;
}

static void turn(int patience_ms) {
  struct epoll_event events[BATCH];
  int i, count;
  flush_all();
  count = epoll_wait(epoll, events, BATCH, patience_ms);
  if (count < 0 && errno != EINTR) die("epoll: %s", strerror(errno));
  for (i = 0; i < count; i++) {
    void *who = events[i].data.ptr;
    struct client *client = who;
    if (who == &timer_fd)
      take_timer();
    else if (who == &input_ready)
      input_ready = true;
    else
      client->kind->read(client);
  }
  ping_all();
  flush_all();
}

void loop_until(double moment, bool (*condition)(void)) {
  while (!(condition && condition())) {
    double rest = moment - now();
    if (rest <= 0) return;
    turn(rest > 1 ? 1000 : (int)ceil(rest * 1000));
  }
}

bool loop_line(char *line, size_t size) {
  size_t used = 0;
  char byte;
  input_ready = false;
  while (!input_ready) turn(1000 * PING_SECONDS);
  // By bytes: what is behind the line is the next one's.
  while (read(STDIN_FILENO, &byte, 1) == 1) {
    if (byte == '\n') {
      line[used] = 0;
      return true;
    }
    if (used + 1 < size) line[used++] = byte;
  }
  return false;
}
