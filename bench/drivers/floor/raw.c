// The protocol itself: one socket, one buffer each way, one write a turn.
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "client.h"

// ---- The encoding: big-endian numbers, texts with their length before them ----

struct buffer {
  unsigned char *bytes;
  size_t size, room;
};

// What is read never goes beyond `end`: the program ends instead.
struct cursor {
  const unsigned char *at, *end;
};

static void make_room(struct buffer *buffer, size_t size) {
  if (buffer->size + size <= buffer->room) return;
  buffer->room = 2 * (buffer->size + size);
  buffer->bytes = realloc(buffer->bytes, buffer->room);
  if (!buffer->bytes) die("no memory");
}

static void put_bytes(struct buffer *buffer, const void *bytes, size_t size) {
  make_room(buffer, size);
  memcpy(buffer->bytes + buffer->size, bytes, size);
  buffer->size += size;
}

static void put_byte(struct buffer *buffer, int value) {
  unsigned char byte = (unsigned char)value;
  put_bytes(buffer, &byte, 1);
}

static void put_int(struct buffer *buffer, int32_t value) {
  uint32_t big = htonl((uint32_t)value);
  put_bytes(buffer, &big, sizeof big);
}

static void put_long(struct buffer *buffer, int64_t value) {
  put_int(buffer, (int32_t)(value >> 32));
  put_int(buffer, (int32_t)value);
}

static void put_text(struct buffer *buffer, const char *text) {
  size_t size = strlen(text);
  put_int(buffer, (int32_t)size);
  put_bytes(buffer, text, size);
}

static const unsigned char *take(struct cursor *cursor, size_t size) {
  const unsigned char *at = cursor->at;
  if ((size_t)(cursor->end - at) < size) die("a reply that is too short");
  cursor->at += size;
  return at;
}

static int32_t get_int(struct cursor *cursor) {
  uint32_t big;
  memcpy(&big, take(cursor, sizeof big), sizeof big);
  return (int32_t)ntohl(big);
}

static int64_t get_long(struct cursor *cursor) {
  int64_t high = get_int(cursor);
  return (int64_t)((uint64_t)high << 32 | (uint32_t)get_int(cursor));
}

static struct span get_text(struct cursor *cursor) {
  int32_t size = get_int(cursor);
  struct span span = {NULL, 0};
  if (size <= 0) return span;
  span.size = (size_t)size;
  span.text = (const char *)take(cursor, span.size);
  return span;
}

// ---- A session ---------------------------------------------------------------

enum { CREATE = 1, DELETE = 2, GET_DATA = 4, LIST = 8, PING = 11, CLOSE = -11 };
enum { XID_EVENT = -1, XID_PING = -2 };
enum { ALL_PERMISSIONS = 31 };

struct request {
  int xid, type;
  reply_fn *fn;
  void *context;
};

struct raw {
  struct client client;
  struct buffer out, in;
  size_t sent;               // of `out`
  struct request *requests;  // a ring: replies come in order
  size_t first, room;
  int xid;
};

static struct raw *raw_of(struct client *client) {
  return (struct raw *)client;
}

// ---- Out ---------------------------------------------------------------------

// Writes as much as goes; what does not, goes when there is room again.
static void raw_flush(struct client *client) {
  struct raw *raw = raw_of(client);
  while (raw->sent < raw->out.size) {
    ssize_t count = send(client->fd, raw->out.bytes + raw->sent,
                         raw->out.size - raw->sent, MSG_NOSIGNAL);
    if (count > 0) {
      raw->sent += (size_t)count;
    } else if (errno == EAGAIN) {
      struct pollfd full = {.fd = client->fd, .events = POLLOUT};
      poll(&full, 1, -1);
    } else if (errno != EINTR) {
      die("the connection is lost: %s", strerror(errno));
    }
  }
  raw->sent = raw->out.size = 0;
}

static size_t begin_packet(struct raw *raw) {
  size_t at = raw->out.size;
  put_int(&raw->out, 0);
  return at;
}

static void end_packet(struct raw *raw, size_t at) {
  size_t size = raw->out.size;
  raw->out.size = at;
  put_int(&raw->out, (int32_t)(size - at - 4));
  raw->out.size = size;
}

static void send_packet(struct raw *raw, size_t at) {
  end_packet(raw, at);
  touch(&raw->client);
}

static void grow(struct raw *raw) {
  size_t i, count = raw->client.pending;
  struct request *requests = malloc(2 * raw->room * sizeof *requests);
  if (!requests) die("no memory");
  for (i = 0; i < count; i++)
    requests[i] = raw->requests[(raw->first + i) % raw->room];
  free(raw->requests);
  raw->requests = requests;
  raw->room *= 2;
  raw->first = 0;
}

static size_t begin_request(struct raw *raw, int type, reply_fn *fn,
                            void *context) {
  struct request request = {++raw->xid, type, fn, context};
  size_t at = begin_packet(raw);
  if (raw->client.pending == raw->room) grow(raw);
  raw->requests[(raw->first + raw->client.pending++) % raw->room] = request;
  put_int(&raw->out, request.xid);
  put_int(&raw->out, type);
  return at;
}

static void raw_create(struct client *client, const char *path, int flags,
                       reply_fn *fn, void *context) {
  struct raw *raw = raw_of(client);
  size_t at = begin_request(raw, CREATE, fn, context);
  put_text(&raw->out, path);
  put_text(&raw->out, "");  // data
  put_int(&raw->out, 1);    // an ACL of one entry
  put_int(&raw->out, ALL_PERMISSIONS);
  put_text(&raw->out, "world");
  put_text(&raw->out, "anyone");
  put_int(&raw->out, flags);
  send_packet(raw, at);
}

static void raw_list(struct client *client, const char *path, reply_fn *fn,
                     void *context) {
  struct raw *raw = raw_of(client);
  size_t at = begin_request(raw, LIST, fn, context);
  put_text(&raw->out, path);
  put_byte(&raw->out, false);
  send_packet(raw, at);
}

static void raw_watch(struct client *client, const char *path, reply_fn *fn,
                      void *context) {
  struct raw *raw = raw_of(client);
  size_t at = begin_request(raw, GET_DATA, fn, context);
  put_text(&raw->out, path);
  put_byte(&raw->out, true);
  send_packet(raw, at);
}

static void raw_remove(struct client *client, const char *path, reply_fn *fn,
                       void *context) {
  struct raw *raw = raw_of(client);
  size_t at = begin_request(raw, DELETE, fn, context);
  put_text(&raw->out, path);
  put_int(&raw->out, -1);  // any version
  send_packet(raw, at);
}

static void raw_ping(struct client *client) {
  struct raw *raw = raw_of(client);
  size_t at = begin_packet(raw);
  put_int(&raw->out, XID_PING);
  put_int(&raw->out, PING);
  send_packet(raw, at);
}

// ---- In ----------------------------------------------------------------------

static void read_names(struct cursor *in, struct reply *reply) {
  static struct span *names;
  static size_t room;
  int32_t i, count = get_int(in);
  if (count < 0) count = 0;
  if ((size_t)count > room) {
    room = 2 * (size_t)count;
    names = realloc(names, room * sizeof *names);
    if (!names) die("no memory");
  }
  for (i = 0; i < count; i++) names[i] = get_text(in);
  reply->names = names;
  reply->count = (size_t)count;
}

static void take_packet(struct raw *raw, struct cursor in) {
  int32_t xid = get_int(&in);
  struct reply reply = {0};
  struct request request;
  get_long(&in);  // zxid
  reply.error = get_int(&in);
  if (xid == XID_PING) return;
  if (xid == XID_EVENT) {
    if (raw->client.on_event) raw->client.on_event(raw->client.context);
    return;
  }
  request = raw->requests[raw->first];
  if (raw->client.pending == 0 || request.xid != xid) die("a stray reply");
  raw->first = (raw->first + 1) % raw->room;
  raw->client.pending--;
  if (reply.error == 0 && request.type == CREATE) reply.path = get_text(&in);
  if (reply.error == 0 && request.type == LIST) read_names(&in, &reply);
  if (request.fn) request.fn(request.context, &reply);
}

// Takes each packet that is there as a whole; returns what is left over.
static size_t take_packets(struct raw *raw) {
  size_t at = 0;
  while (raw->in.size - at >= 4) {
    struct cursor in = {raw->in.bytes + at, raw->in.bytes + raw->in.size};
    int32_t size = get_int(&in);
    if (size < 0) die("a packet without a size");
    if ((size_t)(in.end - in.at) < (size_t)size) break;
    in.end = in.at + size;
    at += 4 + (size_t)size;
    take_packet(raw, in);
  }
  return at;
}

static void raw_read(struct client *client) {
  struct raw *raw = raw_of(client);
  ssize_t count;
  size_t taken, room;
  do {
    make_room(&raw->in, 65536);
    room = raw->in.room - raw->in.size;
    count = recv(client->fd, raw->in.bytes + raw->in.size, room, MSG_DONTWAIT);
    if (count == 0) die("the server has closed the connection");
    if (count < 0 && errno != EAGAIN && errno != EINTR)
      die("the connection is lost: %s", strerror(errno));
    if (count < 0) break;
    raw->in.size += (size_t)count;
  } while ((size_t)count == room);
  taken = take_packets(raw);
  memmove(raw->in.bytes, raw->in.bytes + taken, raw->in.size - taken);
  raw->in.size -= taken;
}

// ---- Begin and end -------------------------------------------------------------

static int dial(const char *hosts) {
  struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *found;
  char host[256], port[16];
  int fd, one = 1;
  pick_host(hosts, host, sizeof host, port, sizeof port);
  if (getaddrinfo(host, port, &hints, &found) != 0)
    die("no such host: %s", host);
  fd = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0 || connect(fd, found->ai_addr, found->ai_addrlen) != 0)
    die("no connection to %s:%s: %s", host, port, strerror(errno));
  freeaddrinfo(found);
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  return fd;
}

static void receive(int fd, void *bytes, size_t size) {
  if (recv(fd, bytes, size, MSG_WAITALL) != (ssize_t)size)
    die("the server does not greet us");
}

static void greet(struct raw *raw) {
  static const char no_password[16];
  unsigned char head[4], greeting[256];
  struct cursor in = {head, head + sizeof head};
  size_t at = begin_packet(raw);
  int32_t size;
  put_int(&raw->out, 0);   // version
  put_long(&raw->out, 0);  // zxid
  put_int(&raw->out, SESSION_TIMEOUT_MS);
  put_long(&raw->out, 0);  // session
  put_int(&raw->out, sizeof no_password);
  put_bytes(&raw->out, no_password, sizeof no_password);
  put_byte(&raw->out, false);  // read-only
  end_packet(raw, at);
  raw_flush(&raw->client);
  receive(raw->client.fd, head, sizeof head);
  size = get_int(&in);
  if (size < 0 || (size_t)size > sizeof greeting) die("a strange greeting");
  receive(raw->client.fd, greeting, (size_t)size);
}

static struct client *raw_open(const char *hosts) {
  struct raw *raw = calloc(1, sizeof *raw);
  if (!raw) die("no memory");
  raw->room = 8;
  raw->requests = malloc(raw->room * sizeof *raw->requests);
  if (!raw->requests) die("no memory");
  raw->client.kind = &raw_client;
  raw->client.fd = dial(hosts);
  greet(raw);
  return &raw->client;
}

// The server closes the connection when the session is closed.
static void raw_close(struct client *client) {
  struct raw *raw = raw_of(client);
  char rest[4096];
  end_packet(raw, begin_request(raw, CLOSE, NULL, NULL));
  raw_flush(client);
  shutdown(client->fd, SHUT_WR);
  while (recv(client->fd, rest, sizeof rest, 0) > 0) continue;
  close(client->fd);
  free(raw->out.bytes);
  free(raw->in.bytes);
  free(raw->requests);
  free(raw);
}

const struct client_kind raw_client = {
    .name = "raw",
    .open = raw_open,
    .close = raw_close,
    .create = raw_create,
    .list = raw_list,
    .watch = raw_watch,
    .remove = raw_remove,
    .read = raw_read,
    .flush = raw_flush,
    .ping = raw_ping,
};
