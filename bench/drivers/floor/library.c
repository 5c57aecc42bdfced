// The C client library, single-threaded: the same requests, and what it does by
// itself.  It writes each request when it is made, and reads one packet a turn.
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <zookeeper/zookeeper.h>

#include "client.h"

struct library {
  struct client client;
  zhandle_t *handle;
};

struct request {
  struct client *client;
  reply_fn *fn;
  void *context;
};

static zhandle_t *handle_of(struct client *client) {
  return ((struct library *)client)->handle;
}

static struct request *new_request(struct client *client, reply_fn *fn,
                                   void *context) {
  struct request *request = malloc(sizeof *request);
  if (!request) die("no memory");
  *request = (struct request){client, fn, context};
  client->pending++;
  touch(client);
  return request;
}

static void finish(const void *data, const struct reply *reply) {
  struct request request = *(const struct request *)data;
  free((void *)data);
  request.client->pending--;
  if (request.fn) request.fn(request.context, reply);
}

static void on_created(int error, const char *path, const void *data) {
  struct reply reply = {.error = error};
  if (path) reply.path = (struct span){path, strlen(path)};
  finish(data, &reply);
}

static void on_listed(int error, const struct String_vector *names,
                      const void *data) {
  struct reply reply = {.error = error};
  struct span *spans = NULL;
  int32_t i, count = error == ZOK && names ? names->count : 0;
  if (count > 0) {
    spans = malloc((size_t)count * sizeof *spans);
    if (!spans) die("no memory");
  }
  for (i = 0; i < count; i++)
    spans[i] = (struct span){names->data[i], strlen(names->data[i])};
  reply.names = spans;
  reply.count = (size_t)count;
  finish(data, &reply);
  free(spans);
}

static void on_data(int error, const char *value, int size,
                    const struct Stat *stat, const void *data) {
  struct reply reply = {.error = error};
  (void)value, (void)size, (void)stat;
  finish(data, &reply);
}

static void on_removed(int error, const void *data) {
  struct reply reply = {.error = error};
  finish(data, &reply);
}

static void on_watch(zhandle_t *handle, int type, int state, const char *path,
                     void *context) {
  struct client *client = context;
  (void)handle, (void)state, (void)path;
  if (type == ZOO_DELETED_EVENT && client->on_event)
    client->on_event(client->context);
}

static void check(int error) {
  if (error != ZOK) die("the client library refuses: %s", zerror(error));
}

static void library_create(struct client *client, const char *path, int flags,
                           reply_fn *fn, void *context) {
  check(zoo_acreate(handle_of(client), path, "", 0, &ZOO_OPEN_ACL_UNSAFE, flags,
                    on_created, new_request(client, fn, context)));
}

static void library_list(struct client *client, const char *path, reply_fn *fn,
                         void *context) {
  check(zoo_aget_children(handle_of(client), path, 0, on_listed,
                          new_request(client, fn, context)));
}

static void library_watch(struct client *client, const char *path, reply_fn *fn,
                          void *context) {
  check(zoo_awget(handle_of(client), path, on_watch, client, on_data,
                  new_request(client, fn, context)));
}

static void library_remove(struct client *client, const char *path,
                           reply_fn *fn, void *context) {
  check(zoo_adelete(handle_of(client), path, -1, on_removed,
                    new_request(client, fn, context)));
}

// A turn of the library's loop: what it is interested in, and what has come.
static void turn(struct client *client, int events) {
  int fd, interest, error;
  struct timeval patience;
  error = zookeeper_interest(handle_of(client), &fd, &interest, &patience);
  if (error != ZOK) die("the connection is lost: %s", zerror(error));
  client->fd = fd;
  error = zookeeper_process(handle_of(client), events);
  if (error != ZOK && error != ZNOTHING)
    die("the connection is lost: %s", zerror(error));
}

static void library_read(struct client *client) {
  turn(client, ZOOKEEPER_READ);
}

// What it could not write when the request was made.
static void library_flush(struct client *client) {
  int fd, interest;
  struct timeval patience;
  while (zookeeper_interest(handle_of(client), &fd, &interest, &patience) ==
             ZOK &&
         interest & ZOOKEEPER_WRITE) {
    struct pollfd full = {.fd = fd, .events = POLLOUT};
    poll(&full, 1, 1000);
    turn(client, full.revents & POLLOUT ? ZOOKEEPER_WRITE : 0);
  }
}

static struct client *library_open(const char *hosts) {
  struct library *library = calloc(1, sizeof *library);
  char host[256], port[16], address[300];
  if (!library) die("no memory");
  zoo_set_debug_level(ZOO_LOG_LEVEL_ERROR);
  pick_host(hosts, host, sizeof host, port, sizeof port);
  strcat(strcat(strcpy(address, host), ":"), port);
  library->client.kind = &library_client;
  library->handle =
      zookeeper_init(address, NULL, SESSION_TIMEOUT_MS, NULL, NULL, 0);
  if (!library->handle) die("the client library does not begin");
  while (zoo_state(library->handle) != ZOO_CONNECTED_STATE) {
    int fd, interest;
    struct timeval patience;
    struct pollfd ready;
    check(zookeeper_interest(library->handle, &fd, &interest, &patience));
    ready = (struct pollfd){.fd = fd, .events = 0};
    if (interest & ZOOKEEPER_READ) ready.events |= POLLIN;
    if (interest & ZOOKEEPER_WRITE) ready.events |= POLLOUT;
    if (poll(&ready, 1, 10000) <= 0) die("no connection to %s", address);
    interest = ready.revents & POLLIN ? ZOOKEEPER_READ : 0;
    if (ready.revents & (POLLOUT | POLLERR)) interest |= ZOOKEEPER_WRITE;
    turn(&library->client, interest);
  }
  return &library->client;
}

static void library_close(struct client *client) {
  zookeeper_close(handle_of(client));
  free(client);
}

const struct client_kind library_client = {
    .name = "st",
    .open = library_open,
    .close = library_close,
    .create = library_create,
    .list = library_list,
    .watch = library_watch,
    .remove = library_remove,
    .read = library_read,
    .flush = library_flush,
    .ping = library_flush,
};
