#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "io/handshake.h"
#include "io/stream.h"
#include "test.h"
#include "tls/link.h"
#include "tls_server.h"

ABOUT("A stream with TLS");

static struct stream stream;

/* The library's end, which the stream is of, and the server's. */
struct pipeline {
  int library, socket;
  struct tls_server server;
};

static struct pipeline pipeline_to(bool wants) {
  static const struct issue issue = {.name = "zk1"};
  char error[TLS_TEXT];
  int fds[2];
  tls_begin();
  struct tls_context *context = link_module.read(&files, error);
  CHECK_INT(0, socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds));
  struct pipeline pipeline = {fds[0], fds[1],
                              tls_server_of(&ours, &issue, wants)};
  stream_secure(&stream, NULL, NULL);
  stream_reset(&stream);
  stream_secure(&stream, &link_module, link_module.open(context, "zk1"));
  stream_use(&stream);
  stream_bind(pipeline.library);
  handshake_expect(-1);
  link_module.release(context);
  return pipeline;
}

static void end(struct pipeline *pipeline) {
  stream_close(pipeline->library);
  close(pipeline->socket);
  tls_server_free(&pipeline->server);
  stream_secure(&stream, NULL, NULL);
}

/* The server takes what has arrived, and sends what it has to say. */
static void serve(struct pipeline *pipeline) {
  char piece[20000];
  ssize_t n;
  while ((n = read(pipeline->socket, piece, sizeof piece)) > 0)
    CHECK_INT(n, BIO_write(pipeline->server.in, piece, (int)n));
  if (!SSL_is_init_finished(pipeline->server.ssl))
    SSL_do_handshake(pipeline->server.ssl);
  while ((n = BIO_read(pipeline->server.out, piece, sizeof piece)) > 0)
    send(pipeline->socket, piece, (size_t)n, MSG_NOSIGNAL); /* if it is open */
}

static enum tls_state shake(struct pipeline *pipeline) {
  enum tls_state state = TLS_WAITS;
  for (int i = 0; i < 10 && state == TLS_WAITS; i++) {
    state = stream_handshake(&stream);
    serve(pipeline);
  }
  return state;
}

static struct pipeline shaken(bool wants) {
  struct pipeline pipeline = pipeline_to(wants);
  CHECK_INT(TLS_DONE, shake(&pipeline));
  CHECK(!stream_is_in_handshake(&stream));
  return pipeline;
}

static void say(struct pipeline *pipeline, const char *text) {
  CHECK_INT(strlen(text),
            SSL_write(pipeline->server.ssl, text, (int)strlen(text)));
}

static void expect(const struct pipeline *pipeline, const char *text) {
  char heard[200] = "";
  CHECK_INT(strlen(text),
            stream_recv(pipeline->library, heard, strlen(text), 0));
  CHECK_TEXT(text, heard);
}

static void expect_problem(int problem, const struct pipeline *pipeline) {
  char byte;
  stream_allow_reads(&stream);
  CHECK_INT(-1, stream_recv(pipeline->library, &byte, 1, 0));
  CHECK_INT(problem, errno);
}

static void expect_at_server(struct pipeline *pipeline, const char *text) {
  char heard[200] = "";
  serve(pipeline);
  CHECK_INT(strlen(text),
            SSL_read(pipeline->server.ssl, heard, sizeof heard - 1));
  CHECK_TEXT(text, heard);
}

static void send_text(const struct pipeline *pipeline, const char *text) {
  CHECK_INT(strlen(text),
            stream_send(pipeline->library, text, strlen(text), 0));
}

TEST("keeps what is sent until the handshake is done") {
  struct pipeline pipeline = pipeline_to(false);
  CHECK(stream_is_in_handshake(&stream));
  CHECK(stream_wants_write(&stream)); /* for the first flight */
  send_text(&pipeline, "ann:secret");
  stream_flush(&stream);
  CHECK_INT(TLS_WAITS, stream_handshake(&stream));
  CHECK(!stream_wants_write(&stream)); /* now the server has to speak */
  CHECK_INT(TLS_DONE, shake(&pipeline));
  CHECK(stream_wants_write(&stream));
  stream_flush(&stream);
  CHECK(!stream_wants_write(&stream));
  expect_at_server(&pipeline, "ann:secret");
  CHECK(memcmp(stream.out, "\0\0\0\0", 4) == 0);
  end(&pipeline);
}

TEST("is readable while there is something that was not decrypted yet") {
  static char text[40000];
  struct pipeline pipeline = shaken(false);
  struct pollfd p = {.fd = pipeline.library, .events = POLLIN};
  stream_allow_reads(&stream);
  expect_problem(EAGAIN, &pipeline); /* (takes the tickets of TLS 1.3) */
  CHECK(!stream_has_input(&stream));
  CHECK_INT(0, stream_poll(&p, 1, 0));
  memset(text, 'x', sizeof text - 1);
  say(&pipeline, text);
  serve(&pipeline);
  CHECK_INT(1, stream_poll(&p, 1, 0));
  for (size_t at = 0, size; at + 1 < sizeof text; at += size) {
    char heard[997];
    int arrived;
    size = sizeof text - 1 - at < sizeof heard ? sizeof text - 1 - at
                                               : sizeof heard;
    CHECK_INT(0, ioctl(pipeline.library, FIONREAD, &arrived));
    CHECK(arrived > 0 || stream_has_input(&stream));
    CHECK_INT(1, stream_poll(&p, 1, 0));
    CHECK_INT(POLLIN, p.revents);
    CHECK_INT(size, stream_recv(pipeline.library, heard, size, 0));
  }
  stream_allow_reads(&stream);
  expect_problem(EAGAIN, &pipeline);
  CHECK(!stream_has_input(&stream));
  CHECK_INT(0, stream_poll(&p, 1, 0));
  end(&pipeline);
}

TEST("reads what is large, in parts of records") {
  static char text[60000], heard[sizeof text];
  struct pipeline pipeline = shaken(false);
  memset(text, 'x', sizeof text - 1);
  say(&pipeline, text);
  size_t got = 0;
  for (int i = 0; i < 100 && got + 1 < sizeof text; i++) {
    char piece[5000];
    int n = BIO_read(pipeline.server.out, piece, sizeof piece);
    if (n > 0) CHECK_INT(n, write(pipeline.socket, piece, (size_t)n));
    stream_allow_reads(&stream);
    ssize_t took =
        stream_recv(pipeline.library, heard + got, sizeof heard - got, 0);
    if (took > 0) got += (size_t)took;
  }
  CHECK_TEXT(text, heard);
  end(&pipeline);
}

TEST("waits until the socket is writable, and loses nothing") {
  static char said[400000], heard[sizeof said];
  struct pipeline pipeline = shaken(false);
  int small = 4096;
  setsockopt(pipeline.library, SOL_SOCKET, SO_SNDBUF, &small, sizeof small);
  for (size_t i = 0; i < sizeof said; i++) said[i] = (char)(i * i % 251);
  size_t at = 0, got = 0, n;
  bool has_waited = false;
  for (int i = 0; i < 100000 && got < sizeof said; i++) {
    ssize_t took =
        stream_send(pipeline.library, said + at, sizeof said - at, 0);
    if (took > 0) at += (size_t)took;
    stream_flush(&stream);
    has_waited |= stream_wants_write(&stream);
    serve(&pipeline);
    while (
        SSL_read_ex(pipeline.server.ssl, heard + got, sizeof heard - got, &n))
      got += n;
  }
  CHECK(has_waited);
  CHECK_INT(sizeof said, got);
  CHECK(memcmp(said, heard, sizeof said) == 0);
  end(&pipeline);
}

TEST("fails if the server asks for replies of TLS, and reads none") {
  struct pipeline pipeline = shaken(false);
  int errors = 0;
  stream_allow_reads(&stream);
  for (int i = 0; i < 100000 && errors == 0; i++) {
    char piece[100], byte;
    CHECK(SSL_key_update(pipeline.server.ssl, SSL_KEY_UPDATE_REQUESTED));
    SSL_do_handshake(pipeline.server.ssl);
    int size = BIO_read(pipeline.server.out, piece, sizeof piece);
    CHECK_INT(size, write(pipeline.socket, piece, (size_t)size));
    CHECK_INT(-1, stream_recv(pipeline.library, &byte, 1, 0));
    if (errno != EAGAIN) errors++;
    stream_allow_reads(&stream);
  }
  CHECK_INT(1, errors);
  CHECK_TEXT("the server asks for replies of TLS and reads none",
             handshake_error());
  end(&pipeline);
}

static void expect_failure(const char *words, struct pipeline *pipeline) {
  CHECK_INT(TLS_FAILED, shake(pipeline));
  CHECK_TEXT(words, handshake_error());
  end(pipeline);
}

TEST("says how a handshake fails") {
  struct pipeline pipeline = pipeline_to(false);
  CHECK_INT(5, write(pipeline.socket, "-ERR ", 5));
  expect_failure(
      "the server speaks no TLS on this port: it answers like Redis (\"-ERR "
      "\")",
      &pipeline);
  pipeline = pipeline_to(false);
  CHECK_INT(TLS_WAITS, stream_handshake(&stream));
  shutdown(pipeline.socket, SHUT_WR);
  expect_failure(
      "the server closed the connection at the beginning of the TLS handshake: "
      "it is starting, or has maxClientCnxns connections from this address, or "
      "speaks no TLS on this port",
      &pipeline);
  pipeline = pipeline_to(false);
  CHECK_INT(3, write(pipeline.socket, "\x16\x03\x03", 3));
  CHECK_INT(TLS_WAITS, stream_handshake(&stream));
  shutdown(pipeline.socket, SHUT_WR);
  expect_failure("the server closed the connection during the TLS handshake",
                 &pipeline);
}

TEST("keeps the reason of a close, which the library reports") {
  struct pipeline pipeline = shaken(false);
  errno = EHOSTDOWN;
  stream_close(pipeline.library);
  CHECK_INT(EHOSTDOWN, errno);
  pipeline.library = -1;
  end(&pipeline);
}

TEST("says why a server refuses, also after the handshake") {
  struct pipeline pipeline = shaken(true);
  expect_problem(EPROTO, &pipeline);
  CHECK(strstr(handshake_error(), "the server wants a client certificate"));
  CHECK(secure_is_refused(&stream.secure));
  end(&pipeline);
  /* also if it has closed the connection, and a send fails first */
  pipeline = shaken(true);
  close(pipeline.socket);
  send_text(&pipeline, "too late");
  stream_flush(&stream);
  CHECK(stream_has_input(&stream));
  expect_problem(EPROTO, &pipeline);
  CHECK(secure_is_refused(&stream.secure));
  pipeline.socket = -1;
  end(&pipeline);
}

TEST("checks that a server speaks ZooKeeper's protocol behind TLS") {
  char heard[4];
  struct pipeline pipeline = shaken(false);
  handshake_expect(pipeline.library);
  expect_problem(EAGAIN, &pipeline);
  say(&pipeline, "HTTP/1.1 400 Bad Request\r\n");
  serve(&pipeline);
  expect_problem(EPROTO, &pipeline);
  CHECK_TEXT(
      "it is no ZooKeeper server: it answers like an HTTP server (\"HTTP/1.1 "
      "400 Bad Request\")",
      handshake_error());
  end(&pipeline);
  pipeline = shaken(false);
  handshake_expect(pipeline.library);
  SSL_write(pipeline.server.ssl, "\0\0\0\x25rest", 8);
  serve(&pipeline);
  stream_allow_reads(&stream);
  CHECK_INT(4, stream_recv(pipeline.library, heard, 4, 0));
  CHECK_INT(0, memcmp(heard, "\0\0\0\x25", 4));
  expect(&pipeline, "rest");
  end(&pipeline);
}

TEST("ends as the server closes it, or with a closure alert of its own") {
  char byte;
  struct pipeline pipeline = shaken(false);
  SSL_shutdown(pipeline.server.ssl);
  serve(&pipeline);
  stream_allow_reads(&stream);
  CHECK_INT(0, stream_recv(pipeline.library, &byte, 1, 0));
  CHECK(stream_has_input(&stream));
  end(&pipeline);
  pipeline = shaken(false);
  send_text(&pipeline, "farewell");
  stream_end(&stream);
  CHECK_INT(-1, stream_send(pipeline.library, "after", 5, 0));
  expect_at_server(&pipeline, "farewell");
  CHECK(SSL_read(pipeline.server.ssl, &byte, 1) <= 0);
  CHECK_INT(SSL_RECEIVED_SHUTDOWN,
            SSL_get_shutdown(pipeline.server.ssl) & SSL_RECEIVED_SHUTDOWN);
  end(&pipeline);
}

TEST("fails if the data were changed on their way") {
  char piece[1000];
  struct pipeline pipeline = shaken(false);
  expect_problem(EAGAIN, &pipeline);
  say(&pipeline, "answer");
  int n = BIO_read(pipeline.server.out, piece, sizeof piece);
  piece[n - 1] ^= 1;
  CHECK_INT(n, write(pipeline.socket, piece, (size_t)n));
  expect_problem(EPROTO, &pipeline);
  CHECK_INT(0, strncmp("TLS fails: ", handshake_error(), 11));
  CHECK(!secure_is_refused(&stream.secure));
  end(&pipeline);
}
