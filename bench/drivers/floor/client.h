// A ZooKeeper client that does what it is told and nothing else.  There are two:
// `raw` speaks the protocol itself, `st` is the C client library.  What a turn
// of the loop asks for is gathered and goes out at its end, as far as the client
// can do that.
#ifndef FLOOR_CLIENT_H
#define FLOOR_CLIENT_H

#include <stdbool.h>
#include <stddef.h>

#define NO_NODE (-101)
#define NODE_EXISTS (-110)

// Text that is not ended by a zero.
struct span {
  const char *text;
  size_t size;
};

struct reply {
  int error;                 // 0, or ZooKeeper's code
  struct span path;          // of create
  const struct span *names;  // of list
  size_t count;
};

typedef void reply_fn(void *context, const struct reply *reply);

struct client {
  const struct client_kind *kind;
  int fd;
  size_t pending;             // requests without a reply
  bool dirty;                 // it is in the list of those to be flushed
  struct client *next_dirty;  //
  void (*on_event)(void *);   // a watch has fired
  void *context;              // of on_event
};

enum { PERSISTENT = 0, EPHEMERAL_SEQUENTIAL = 3 };

// Both end the program if there is an error that a floor need not know.
struct client_kind {
  const char *name;
  struct client *(*open)(const char *hosts);
  void (*close)(struct client *);
  void (*create)(struct client *, const char *path, int flags, reply_fn *,
                 void *);
  void (*list)(struct client *, const char *path, reply_fn *, void *);
  // Looks at a node, which is watched if it is there.
  void (*watch)(struct client *, const char *path, reply_fn *, void *);
  void (*remove)(struct client *, const char *path, reply_fn *, void *);
  void (*read)(struct client *);   // its descriptor is readable
  void (*flush)(struct client *);  // a turn ends
  void (*ping)(struct client *);   // every few seconds
};

extern const struct client_kind raw_client, library_client;

#define SESSION_TIMEOUT_MS 60000

// The loop's: to be flushed when the turn ends.
void touch(struct client *client);
_Noreturn void die(const char *format, ...);
// The host and port of one in a list, the next one at each call.
void pick_host(const char *hosts, char *host, size_t size, char *port,
               size_t port_size);

#endif
