/* The connection below a handle. src/io polls a real descriptor: one end of a
 * socket pair, which is readable while an arrival is unread. It can be shut
 * down, duplicated and closed, as a connection to a server can. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "arena.h"
#include "client_inside.h"
#include "schedule.h"
#include "world.h"

/* The lines that have outlived their handles. */
static struct line *farewells;

static void append(struct line *line, struct arrival *arrival) {
  if (line->client_fd < 0) {
    arrival_free(arrival);
    return;
  }
  if (!line->arrivals.first)
    send(line->server_fd, "!", 1, MSG_DONTWAIT | MSG_NOSIGNAL);
  arrivals_append(&line->arrivals, arrival);
}

static void on_accepted(void *self, int server) {
  (void)server;
  append(self, arrival_of_acceptance());
}

static void on_connected(void *self, const struct zk_session *session) {
  append(self, arrival_of_session(session));
}

static void on_reply(void *self, const struct zk_reply *reply) {
  append(self, arrival_of_reply(reply));
}

static void on_event(void *self, const struct zk_event *event) {
  append(self, arrival_of_event(event));
}

static void on_ended(void *self, enum zk_end end) {
  struct line *line = self;
  append(line, arrival_of_end(end));
  line->connection = NULL;
  close(line->server_fd);
  line->server_fd = -1;
}

static bool make_ends(struct line *line) {
  int fds[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds) !=
      0)
    return false;
  line->client_fd = fds[0];
  line->server_fd = fds[1];
  return true;
}

struct line *line_open(const char *address, const struct zk_hello *hello) {
  struct ensemble *ensemble = world_find(address);
  struct line *line = fresh(sizeof *line);
  struct zk_client client = {.self = line,
                             .accepted = on_accepted,
                             .connected = on_connected,
                             .reply = on_reply,
                             .event = on_event,
                             .ended = on_ended};
  line->ensemble = ensemble;
  arrivals_init(&line->arrivals);
  int problem = ensemble ? 0 : ECONNREFUSED;
  if (ensemble && !make_ends(line)) problem = errno;
  if (problem == 0) {
    line->connection =
        ensemble_open(ensemble, schedule_now(), address, hello, &client);
    return line;
  }
  free(line);
  errno = problem;
  return NULL;
}

void line_send(struct line *line, const struct zk_request *request) {
  if (line->connection)
    ensemble_send(line->ensemble, schedule_now(), line->connection, request);
}

struct arrival *line_read(struct line *line) {
  char byte;
  struct arrival *arrival = arrivals_take(&line->arrivals);
  if (arrival && !line->arrivals.first)
    recv(line->client_fd, &byte, 1, MSG_DONTWAIT);
  return arrival;
}

/* Returns true if the other end is closed or shut down. */
static bool hangs(const struct line *line) {
  struct pollfd end = {.fd = line->server_fd};
  return (poll)(&end, 1, 0) > 0 && end.revents & POLLHUP;
}

bool line_is_shut(const struct line *line) {
  return !line->connection || hangs(line);
}

static void hang_up(struct line *line) {
  if (!line->connection) return;
  ensemble_hang_up(line->ensemble, schedule_now(), line->connection);
  line->connection = NULL;
  close(line->server_fd);
}

/* Frees each line that has outlived its handle, once its connection has ended
 * or its last descriptor is closed. */
static void look_after_farewells(void) {
  for (struct line **link = &farewells; *link;) {
    struct line *line = *link;
    if (line->connection && !hangs(line)) {
      link = &line->next;
      continue;
    }
    *link = line->next;
    hang_up(line);
    free(line);
  }
}

void line_close(struct line *line) {
  close(line->client_fd);
  line->client_fd = -1;
  arrivals_clear(&line->arrivals);
  if (line->connection && !hangs(line)) { /* a duplicate is open */
    line->next = farewells;
    farewells = line;
    world_call(look_after_farewells);
    return;
  }
  hang_up(line);
  free(line);
}
