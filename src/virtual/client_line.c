/* The connection that belongs to a handle. Its descriptor is real: one end of a
 * socket pair, which src/io polls. It is readable while there is an unread
 * arrival. src/io can shut it down, duplicate it and close it, like the
 * descriptor of a connection to a server. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "arena.h"
#include "client_inside.h"
#include "fake_tls.h"
#include "io/stream.h"
#include "schedule.h"
#include "world.h"

/* The lines that have outlived their handles, because a duplicate of their
 * descriptor is still open. */
static struct line *farewells;

/* ---- TLS ----------------------------------------------------------------- */

static void add_bytes(struct line *line, const char *bytes, size_t size) {
  line->unsent = realloc(line->unsent, line->unsent_size + size);
  if (!line->unsent) abort();
  memcpy(line->unsent + line->unsent_size, bytes, size);
  line->unsent_size += size;
}

static void flush(struct line *line) {
  ssize_t n = send(line->server_fd, line->unsent, line->unsent_size,
                   MSG_DONTWAIT | MSG_NOSIGNAL);
  if (n <= 0) return;
  line->unsent_size -= (size_t)n;
  memmove(line->unsent, line->unsent + n, line->unsent_size);
}

/* Adds the first bytes of a TLS record to the unsent bytes, unless on_tls has
 * already sent them. */
static void add_head(struct line *line) {
  if (!line->has_head) add_bytes(line, FAKE_HEAD, FAKE_HEAD_SIZE);
  line->has_head = true;
}

static void send_record(struct line *line, char kind, const char *data,
                        size_t size) {
  add_head(line);
  add_bytes(line, &kind, 1);
  add_bytes(line, data, size);
  line->has_head = false;
  flush(line);
}

/* ---- Arrivals ------------------------------------------------------------ */

/* Appends an arrival and makes the client's descriptor readable. With TLS,
 * sends one record for each arrival, except the end. */
static void append(struct line *line, struct arrival *arrival) {
  if (line->client_fd < 0) {
    arrival_free(arrival);
    return;
  }
  if (!line->link && !line->arrivals.first)
    send(line->server_fd, "!", 1, MSG_DONTWAIT | MSG_NOSIGNAL);
  if (line->link && arrival->kind != ARRIVAL_END)
    send_record(line, FAKE_DATA, "!", 1);
  arrivals_append(&line->arrivals, arrival);
}

static void on_accepted(void *self, int server) {
  struct line *line = self;
  (void)server;
  if (!line->link) append(line, arrival_of_acceptance());
}

static void on_tls(void *self, enum zk_tls_part part, const char *text) {
  struct line *line = self;
  if (!line->link) return;
  switch (part) {
    case ZK_TLS_HEAD:
      add_head(line);
      flush(line);
      break;
    case ZK_TLS_SHAKEN:
      send_record(line, FAKE_SHAKEN, "!", 1);
      break;
    case ZK_TLS_ALERT:
      send_record(line, FAKE_ALERT, text, strlen(text) + 1);
      break;
    case ZK_TLS_REFUSAL:
      send_record(line, FAKE_REFUSAL, text, strlen(text) + 1);
      break;
  }
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

/* Closes the server's end of the socket pair. First reads all bytes, because
 * closing a socket with unread bytes would reset the connection. */
static void close_server_end(const struct line *line) {
  char bytes[100];
  while (recv(line->server_fd, bytes, sizeof bytes, MSG_DONTWAIT) > 0) continue;
  close(line->server_fd);
}

static void on_ended(void *self, enum zk_end end) {
  struct line *line = self;
  append(line, arrival_of_end(end));
  line->connection = NULL;
  close_server_end(line);
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

struct line *line_open(const char *address, const struct zk_hello *asked) {
  struct ensemble *ensemble = world_find(address);
  struct line *line = fresh(sizeof *line);
  struct zk_hello hello = *asked;
  struct zk_client client = {.self = line,
                             .accepted = on_accepted,
                             .tls = on_tls,
                             .connected = on_connected,
                             .reply = on_reply,
                             .event = on_event,
                             .ended = on_ended};
  line->ensemble = ensemble;
  line->link = fake_tls_take();
  hello.secure = line->link;
  arrivals_init(&line->arrivals);
  int problem = ensemble ? 0 : ECONNREFUSED;
  if (ensemble && !make_ends(line)) problem = errno;
  if (problem == 0) {
    if (line->link) stream_bind(line->client_fd);
    line->connection =
        ensemble_open(ensemble, schedule_now(), address, &hello, &client);
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

bool line_greet(struct line *line) {
  if (!line->link || line->is_greeted || !line->connection ||
      !fake_tls_is_shaken(line->link))
    return false;
  ensemble_greet(line->ensemble, schedule_now(), line->connection);
  return line->is_greeted = true;
}

/* Reads and decrypts one packet. Returns true if a whole packet was read, or if
 * the next arrival is the end of the connection. Otherwise sets errno and
 * returns false. */
static bool decrypt(struct line *line) {
  char packet[FAKE_PACKET];
  ssize_t n;
  do {
    n = stream_recv(line->client_fd, packet, sizeof packet - line->got, 0);
    if (n > 0) line->got += (size_t)n;
  } while (n > 0 && line->got < sizeof packet);
  if (n == 0) errno = EHOSTDOWN;
  if (n > 0) line->got = 0;
  return n > 0 || (n == 0 && line->arrivals.first &&
                   line->arrivals.first->kind == ARRIVAL_END);
}

struct arrival *line_read(struct line *line) {
  char byte;
  if (line->unsent_size > 0) flush(line);
  if (line->link) return decrypt(line) ? arrivals_take(&line->arrivals) : NULL;
  errno = EAGAIN;
  struct arrival *arrival = arrivals_take(&line->arrivals);
  if (arrival && !line->arrivals.first)
    recv(line->client_fd, &byte, 1, MSG_DONTWAIT);
  return arrival;
}

/* Returns true if the client's end of the socket pair, with all its duplicates,
 * is closed or shut down. */
static bool hangs(const struct line *line) {
  struct pollfd end = {.fd = line->server_fd};
  return (poll)(&end, 1, 0) > 0 && end.revents & POLLHUP;
}

bool line_is_shut(const struct line *line) {
  return !line->connection || hangs(line);
}

static void line_free(struct line *line) {
  free(line->unsent);
  free(line);
}

static void hang_up(struct line *line) {
  if (!line->connection) return;
  ensemble_hang_up(line->ensemble, schedule_now(), line->connection);
  line->connection = NULL;
  close(line->server_fd);
}

/* Frees each line in `farewells` whose connection has ended or whose last
 * descriptor was closed. */
static void look_after_farewells(void) {
  for (struct line **link = &farewells; *link;) {
    struct line *line = *link;
    if (line->connection && !hangs(line)) {
      link = &line->next;
      continue;
    }
    *link = line->next;
    hang_up(line);
    line_free(line);
  }
}

void line_close(struct line *line) {
  stream_close(line->client_fd);
  line->link = NULL;
  line->client_fd = -1;
  arrivals_clear(&line->arrivals);
  if (line->connection && !hangs(line)) { /* a duplicate is open */
    line->next = farewells;
    farewells = line;
    world_call(look_after_farewells);
    return;
  }
  hang_up(line);
  line_free(line);
}
