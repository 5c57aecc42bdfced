#include "io/stream.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "test.h"

ABOUT("A stream");

static struct stream stream;

/* The library's end, which the stream is of, and the server's. */
struct pipeline {
  int library, server;
};

static struct pipeline pipeline_of(int type) {
  int fds[2];
  CHECK_INT(0, socketpair(AF_UNIX, type | SOCK_NONBLOCK, 0, fds));
  return (struct pipeline){fds[0], fds[1]};
}

static struct pipeline streaming_of(int type) {
  struct pipeline pipeline = pipeline_of(type);
  stream_reset(&stream);
  stream_use(&stream);
  stream_bind(pipeline.library);
  return pipeline;
}

static struct pipeline streaming(void) { return streaming_of(SOCK_STREAM); }

static int unread_of(int fd) {
  int unread = -1;
  CHECK_INT(0, ioctl(fd, FIONREAD, &unread));
  return unread;
}

static void say(int fd, const char *text) {
  CHECK_INT(strlen(text), write(fd, text, strlen(text)));
}

/* What `fd` has to read at once is this. */
static void expect_at(int fd, const char *text) {
  char heard[200] = "";
  CHECK_INT(strlen(text), read(fd, heard, sizeof heard - 1));
  CHECK_TEXT(text, heard);
}

static void expect(const struct pipeline *pipeline, const char *text) {
  char heard[200] = "";
  CHECK_INT(strlen(text),
            stream_recv(pipeline->library, heard, strlen(text), 0));
  CHECK_TEXT(text, heard);
}

static void expect_problem(int problem, const struct pipeline *pipeline) {
  char byte;
  CHECK_INT(-1, stream_recv(pipeline->library, &byte, 1, 0));
  CHECK_INT(problem, errno);
}

static void send_text(const struct pipeline *pipeline, const char *text) {
  CHECK_INT(strlen(text),
            stream_send(pipeline->library, text, strlen(text), MSG_NOSIGNAL));
}

TEST("sends in one piece what one turn has brought") {
  struct pipeline pipeline =
      streaming_of(SOCK_SEQPACKET); /* which keeps pieces apart */
  send_text(&pipeline, "length");
  send_text(&pipeline, " packet ");
  send_text(&pipeline, "length");
  send_text(&pipeline, " packet");
  CHECK(stream_wants_write(&stream));
  CHECK_INT(0, unread_of(pipeline.server));
  stream_flush(&stream);
  CHECK(!stream_wants_write(&stream));
  expect_at(pipeline.server, "length packet length packet");
}

TEST("reads in one piece what comes at once") {
  struct pipeline pipeline = streaming();
  say(pipeline.server, "one two three");
  expect(&pipeline, "one");
  CHECK_INT(0, unread_of(pipeline.library));
  CHECK_INT(10, stream_unread(&stream));
  CHECK(stream_has_input(&stream));
  expect(&pipeline, " two");
  expect(&pipeline, " three");
  CHECK(!stream_has_input(&stream));
  expect_problem(EAGAIN, &pipeline);
}

TEST("that has read all looks no more before the next poll") {
  struct pipeline pipeline = streaming();
  say(pipeline.server, "first");
  expect(&pipeline, "first");
  say(pipeline.server, "second");
  expect_problem(EAGAIN, &pipeline);
  CHECK_INT(6, unread_of(pipeline.library));
  stream_allow_reads(&stream);
  expect(&pipeline, "second");
}

TEST("that is full of what was read goes on where that ends") {
  static char said[3 * STREAM_SIZE], heard[sizeof said];
  struct pipeline pipeline = streaming();
  for (size_t i = 0; i < sizeof said; i++) said[i] = (char)(i % 251);
  CHECK_INT(sizeof said, write(pipeline.server, said, sizeof said));
  for (size_t at = 0, size; at < sizeof said; at += size) {
    size = at % 5 * 40 + 1;
    if (size > sizeof said - at) size = sizeof said - at;
    CHECK_INT(size, stream_recv(pipeline.library, heard + at, size, 0));
  }
  CHECK(memcmp(said, heard, sizeof said) == 0);
  expect_problem(EAGAIN, &pipeline);
}

TEST("reads what is large straight to where it is wanted") {
  static char said[3 * STREAM_SIZE], heard[sizeof said];
  struct pipeline pipeline = streaming();
  memset(said, 'x', sizeof said);
  CHECK_INT(sizeof said, write(pipeline.server, said, sizeof said));
  CHECK_INT(4, stream_recv(pipeline.library, heard, 4, 0));
  CHECK_INT(sizeof said - 4,
            stream_recv(pipeline.library, heard + 4, sizeof said - 4, 0));
  CHECK(memcmp(said, heard, sizeof said) == 0);
  CHECK_INT(0, stream_unread(&stream));
}

/* Sends as the library does, which sends again what was not taken. */
static void send_all(const struct pipeline *pipeline, const char *data,
                     size_t size, char *heard, size_t *got) {
  size_t at = 0;
  for (int patience = 100000; at < size; patience--) {
    CHECK(patience > 0);
    ssize_t n =
        stream_send(pipeline->library, data + at, size - at, MSG_NOSIGNAL);
    if (n >= 0) {
      at += (size_t)n;
      continue;
    }
    CHECK_INT(EAGAIN, errno);
    n = read(pipeline->server, heard + *got, 5000); /* the server is slow */
    if (n > 0) *got += (size_t)n;
    stream_flush(&stream);
  }
}

TEST("loses nothing and mixes nothing where little can be sent at a time") {
  static char said[1200000], heard[sizeof said + 5000];
  struct pipeline pipeline = streaming();
  size_t got = 0;
  int small = 4096;
  setsockopt(pipeline.library, SOL_SOCKET, SO_SNDBUF, &small, sizeof small);
  for (size_t i = 0; i < sizeof said; i++) said[i] = (char)(i * i % 251);
  size_t at = 0;
  for (size_t size = 4; at + size < sizeof said; size = size * 3 % 100003) {
    send_all(&pipeline, said + at, size, heard, &got);
    at += size;
  }
  send_all(&pipeline, said + at, sizeof said - at, heard, &got);
  for (int i = 0; i < 100000 && got < sizeof said; i++) {
    ssize_t n = read(pipeline.server, heard + got, 5000);
    if (n > 0) got += (size_t)n;
    stream_flush(&stream);
  }
  CHECK_INT(sizeof said, got);
  CHECK(memcmp(said, heard, sizeof said) == 0);
  CHECK(!stream_wants_write(&stream));
}

TEST("takes no more than it has room for while the server reads nothing") {
  static char said[4000];
  struct pipeline pipeline = streaming();
  ssize_t n = 1;
  for (int i = 0; i < 10000 && n > 0; i++)
    n = stream_send(pipeline.library, said, sizeof said, MSG_NOSIGNAL);
  CHECK_INT(-1, n);
  CHECK_INT(EAGAIN, errno);
  CHECK_INT(STREAM_SIZE, stream.out_end);
  CHECK(!stream_has_input(&stream));
}

TEST("tells of a send that has failed, behind what came before it") {
  struct pipeline pipeline = streaming();
  say(pipeline.server, "farewell");
  close(pipeline.server);
  send_text(&pipeline, "too late");
  CHECK(!stream_has_input(&stream));
  stream_flush(&stream);
  CHECK(stream_has_input(&stream)); /* though nobody has read yet */
  CHECK(!stream_wants_write(&stream));
  stream_allow_reads(&stream);
  expect(&pipeline, "farewell");
  stream_allow_reads(&stream);
  expect_problem(EPIPE, &pipeline);
  CHECK_INT(-1, stream_send(pipeline.library, "x", 1, MSG_NOSIGNAL));
  CHECK_INT(EPIPE, errno);
}

TEST("sends what waits before the library polls for the answer") {
  struct pipeline pipeline = streaming();
  struct pollfd p = {.fd = pipeline.library, .events = POLLIN};
  send_text(&pipeline, "question");
  CHECK_INT(0, stream_poll(&p, 1, 0));
  expect_at(pipeline.server, "question");
  say(pipeline.server, "answers");
  CHECK_INT(1, stream_poll(&p, 1, 1000));
  CHECK_INT(POLLIN, p.revents);
  expect(&pipeline, "answer");
  CHECK_INT(1, stream_poll(&p, 1, 0)); /* which the kernel would not say */
  CHECK_INT(POLLIN, p.revents);
  expect(&pipeline, "s");
  CHECK_INT(0, stream_poll(&p, 1, 0));
}

static void *read_slowly(void *argument) {
  static char heard[100000];
  const struct pipeline *pipeline = argument;
  ssize_t n;
  do {
    struct pollfd p = {.fd = pipeline->server, .events = POLLIN};
    poll(&p, 1, 1000);
    n = read(pipeline->server, heard, 1000);
  } while (n > 0 && memchr(heard, '!', (size_t)n) == NULL);
  say(pipeline->server, "heard");
  return NULL;
}

TEST("goes on sending while the library polls for the answer") {
  struct pipeline pipeline = streaming();
  static char said[4000];
  struct pollfd p = {.fd = pipeline.library, .events = POLLIN};
  pthread_t server;
  ssize_t n = 1;
  while (n > 0)
    n = stream_send(pipeline.library, said, sizeof said, MSG_NOSIGNAL);
  CHECK(stream_wants_write(&stream));
  stream.out[stream.out_end - 1] = '!';
  p.events = POLLOUT;
  CHECK_INT(0, stream_poll(&p, 1, 0)); /* there is no room for more */
  p.events = POLLIN;
  CHECK_INT(0, stream_poll(&p, 1, 20)); /* and it has waited for that */
  CHECK_INT(0, pthread_create(&server, NULL, read_slowly, &pipeline));
  CHECK_INT(1, stream_poll(&p, 1, 60000));
  CHECK_INT(POLLIN, p.revents);
  pthread_join(server, NULL);
  expect(&pipeline, "heard");
}

TEST("sends what waits when it is closed, and then the number is anybody's") {
  struct pipeline pipeline = streaming();
  send_text(&pipeline, "farewell");
  say(pipeline.server, "unread");
  CHECK_INT(0, stream_close(pipeline.library));
  expect_at(pipeline.server, "farewell");
  CHECK_INT(-1, stream.fd);
  struct pipeline other = pipeline_of(SOCK_STREAM);
  CHECK_INT(pipeline.library, other.library);
  send_text(&other, "at once");
  expect_at(other.server, "at once");
  say(other.server, "theirs");
  expect(&other, "the");
  CHECK_INT(3, unread_of(other.library));
}

TEST("takes nothing more after its end") {
  struct pipeline pipeline = streaming();
  send_text(&pipeline, "before");
  stream_end(&stream);
  CHECK_INT(-1, stream_send(pipeline.library, "after", 5, MSG_NOSIGNAL));
  CHECK_INT(EPIPE, errno);
  CHECK_INT(0, stream_close(pipeline.library));
  expect_at(pipeline.server, "before");
}

TEST("is of one socket: another of the same thread goes past it") {
  struct pipeline pipeline = streaming(), other = pipeline_of(SOCK_STREAM);
  stream_bind(other.library);
  CHECK_INT(pipeline.library, stream.fd);
  send_text(&pipeline, "waits");
  send_text(&other, "at once");
  expect_at(other.server, "at once");
  CHECK_INT(0, unread_of(pipeline.server));
  struct pollfd p = {.fd = other.library, .events = POLLIN};
  CHECK_INT(0, stream_poll(&p, 1, 0));
  CHECK_INT(0, stream_close(other.library));
  CHECK_INT(0, unread_of(pipeline.server));
}

static void *send_elsewhere(void *argument) {
  send_text(argument, "at once");
  stream_bind(-1);
  return NULL;
}

TEST("is of one thread: on another the library has none") {
  struct pipeline pipeline = streaming();
  pthread_t other;
  send_text(&pipeline, " and later");
  CHECK_INT(0, pthread_create(&other, NULL, send_elsewhere, &pipeline));
  pthread_join(other, NULL);
  expect_at(pipeline.server, "at once");
  stream_flush(&stream);
  expect_at(pipeline.server, " and later");
}

TEST("that is nobody's is bound to no socket") {
  struct pipeline pipeline = pipeline_of(SOCK_STREAM);
  stream_reset(&stream);
  stream_use(NULL);
  stream_bind(pipeline.library);
  send_text(&pipeline, "at once");
  expect_at(pipeline.server, "at once");
}

/* What passes through it may be a credential. */

static bool is_in(const char *buffer, const char *text) {
  size_t length = strlen(text);
  for (size_t i = 0; i + length <= STREAM_SIZE; i++)
    if (memcmp(buffer + i, text, length) == 0) return true;
  return false;
}

TEST("keeps no byte that it has sent") {
  struct pipeline pipeline = streaming();
  send_text(&pipeline, "ann:secret");
  CHECK(is_in(stream.out, "secret"));
  stream_flush(&stream);
  expect_at(pipeline.server, "ann:secret");
  CHECK(!is_in(stream.out, "secret"));
}

TEST("keeps nothing of what could not be sent") {
  struct pipeline pipeline = streaming();
  send_text(&pipeline, "ann:secret");
  close(pipeline.server);
  stream_flush(&stream);
  CHECK(!is_in(stream.out, "secret"));
}

TEST("keeps no copy of what it sends in parts") {
  struct pipeline pipeline = streaming();
  char filler[8192];
  memset(filler, 'x', sizeof filler);
  while (send(pipeline.library, filler, sizeof filler, MSG_DONTWAIT) > 0)
    continue;
  while (send(pipeline.library, "x", 1, MSG_DONTWAIT) > 0) continue;
  send_text(&pipeline, "ann:secret");
  stream_flush(&stream);
  CHECK(stream_wants_write(&stream));
  while (stream_wants_write(&stream)) {
    CHECK(read(pipeline.server, filler, sizeof filler) > 0);
    stream_flush(&stream);
  }
  CHECK(!is_in(stream.out, "secret"));
}

TEST("keeps no byte of a connection that has ended") {
  struct pipeline pipeline = streaming();
  send_text(&pipeline, "ann:secret");
  say(pipeline.server, "the password");
  expect(&pipeline, "the");
  CHECK(is_in(stream.in, "password"));
  stream_reset(&stream);
  CHECK(!is_in(stream.in, "password"));
  CHECK(!is_in(stream.out, "secret"));
}
