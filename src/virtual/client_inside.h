/* ZooKeeper's client library in virtual time: the functions of zookeeper.h that
 * src/io calls. They reach an ensemble in memory instead of real servers.
 *
 *   client.c           handles: connecting, pings, arrivals, closing
 *   client_line.c      the connection below a handle, and its descriptor
 *   client_requests.c  the functions that send a request
 *   client_send.c      sends and traces requests
 *   client_answers.c   completions and watch events
 *   client_watches.c   the paths that a handle watches
 *   client_names.c     constants, and the texts of error codes
 *
 * These functions behave as the single-threaded library does, but only for the
 * calls that src/io makes. src/io opens each handle with one address, and
 * closes it when its connection has ended. All watches use the handle's watcher
 * function and context. */
#ifndef ZKLOCK_VIRTUAL_CLIENT_INSIDE_H
#define ZKLOCK_VIRTUAL_CLIENT_INSIDE_H

#include <stdbool.h>
#include <stddef.h>
#include <zookeeper/zookeeper.h>

#include "arena.h"
#include "arrival.h"

#pragma GCC visibility push(hidden)

/* ---- A connection -------------------------------------------------------- */

/* The connection that belongs to a handle. It outlives the handle while src/io
 * keeps a duplicate of its descriptor open. So the server still receives the
 * request that closes the session. */
struct line {
  struct line *next; /* next line that has outlived its handle */
  struct ensemble *ensemble;
  struct zk_connection *connection; /* NULL if the connection has ended */
  int client_fd; /* the end that src/io polls; -1 if closed */
  int server_fd; /* the other end: writing to it wakes src/io */
  struct arrivals arrivals;
  struct tls_link *link; /* NULL without TLS, or if the descriptor is closed */
  bool has_head;         /* the first bytes of the next record were sent */
  bool is_greeted;       /* the hello was sent after the TLS handshake */
  char *unsent;          /* bytes of records for which the socket had no room */
  size_t unsent_size;
  size_t got; /* bytes of the current packet that were read */
};

/* Opens a connection, and sends `hello`, its first message. If this thread has
 * just opened a link of the fake TLS (fake_tls.h), the connection uses TLS.
 * Then line_greet sends `hello`, after the handshake. Returns NULL and sets
 * errno if no connection can be opened. */
struct line *line_open(const char *address, const struct zk_hello *hello);
void line_send(struct line *line, const struct zk_request *request);
/* Sends the hello if the TLS handshake is done and the hello was not sent
 * before. Returns true if this call has sent it. */
bool line_greet(struct line *line);
/* Removes and returns the next arrival, which the caller frees. If there is
 * none, returns NULL and sets errno: to EAGAIN, or to another code if TLS has
 * failed. */
struct arrival *line_read(struct line *line);
/* Closes the handle's descriptor. Also closes the connection, unless a
 * duplicate of the descriptor is still open. */
void line_close(struct line *line);
/* Returns true if the line can send nothing any more: the connection has ended
 * or its descriptor was shut down. */
bool line_is_shut(const struct line *line);
/* ---- Requests under way -------------------------------------------------- */

struct outstanding {
  struct outstanding *next;
  int32_t xid;
  enum zk_op op;
  int watch; /* kinds of watches that the answer can set or remove */
  char *path;
  const void *data;
  union {
    void_completion_t on_void;
    stat_completion_t on_stat;
    data_completion_t on_data;
    strings_completion_t on_strings;
    strings_stat_completion_t on_names;
    string_completion_t on_string;
    string_stat_completion_t on_created;
  };
  int part_count;       /* number of parts of a ZK_MULTI */
  struct zoo_op *parts; /* the parts point to the caller's buffers */
  zoo_op_result_t *results;
};

/* ---- Watches ------------------------------------------------------------- */

enum watch_kind { WATCH_DATA = 1, WATCH_EXISTS = 2, WATCH_CHILDREN_OF = 4 };
enum { WATCH_BUCKETS = 64 };

struct watched {
  struct watched *next;
  int kinds;
  char path[];
};

struct watched_paths {
  struct watched *buckets[WATCH_BUCKETS];
};

void watched_add(struct watched_paths *paths, const char *path, int kinds);
/* Returns the kinds of watches that are set on the path, but only those in
 * `kinds`. Both are bits of enum watch_kind. */
int watched_find(struct watched_paths *paths, const char *path, int kinds);
void watched_remove(struct watched_paths *paths, const char *path, int kinds);
void watched_clear(struct watched_paths *paths);

/* ---- A handle ------------------------------------------------------------ */

struct auth {
  struct auth *next;
  char *scheme, *secret;
  int32_t size;
};

struct _zhandle {
  int number; /* the handle's number in traces */
  char address[80];
  watcher_fn watcher;
  void *context;
  clientid_t id;
  int state;
  int recv_timeout; /* in milliseconds: requested, later granted */
  int64_t last_sent, last_received;
  int32_t xid;
  struct line *line;                /* NULL if not connected */
  struct auth *auths;               /* credentials, in the order of the calls */
  struct outstanding *first, **end; /* requests, in the order of sending */
  struct watched_paths watches;
};

/* The xids of pings and credentials. No other request has one of these xids. */
enum { XID_PING = -2, XID_AUTH = -4 };

bool client_is_connected(const zhandle_t *zh);
/* Sends a request to the server; does nothing if there is no connection. */
void client_send(zhandle_t *zh, const struct zk_request *request);
void client_send_auth(zhandle_t *zh, const struct auth *auth);
/* Calls the handle's watcher function with a session event for this state. */
void client_tell_state(zhandle_t *zh, int state);
/* Passes the reply to the completion of the oldest outstanding request, and
 * frees the request. */
void client_answer(zhandle_t *zh, const struct zk_reply *reply);
/* A function that a test has set. It returns the reply that the library
 * receives in place of `reply`. NULL: no test changes replies. */
extern const struct zk_reply *(*client_lie)(const struct outstanding *asked,
                                            const struct zk_reply *reply,
                                            struct arena *arena);
/* Calls the completions of all outstanding requests with the error code `rc`,
 * without a server's reply. */
void client_answer_all(zhandle_t *zh, int rc);
/* Calls the handle's watcher function if the event's path is watched. */
void client_hear(zhandle_t *zh, const struct zk_event *event);

#pragma GCC visibility pop

#endif
