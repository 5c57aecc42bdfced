/* ZooKeeper's client library in virtual time: the functions of zookeeper.h that
 * src/io calls, over an ensemble in memory.
 *
 *   client.c           handles: they connect, tell the time, and are closed
 *   client_line.c      the connection below a handle, and its descriptor
 *   client_requests.c  the functions that send a request
 *   client_send.c      what is sent
 *   client_answers.c   what comes back: completions and watch events
 *   client_watches.c   which paths a handle watches
 *   client_names.c     constants and the words for codes
 *
 * It behaves as the single-threaded library does in the hands of src/io: each
 * handle is given one address, and is closed when its connection has ended; all
 * watches have the handle's own function and context. */
#ifndef ZKLOCK_VIRTUAL_CLIENT_INSIDE_H
#define ZKLOCK_VIRTUAL_CLIENT_INSIDE_H

#include <stdbool.h>
#include <stddef.h>
#include <zookeeper/zookeeper.h>

#include "arena.h"
#include "arrival.h"

#pragma GCC visibility push(hidden)

/* ---- A connection ----------------------------------------------------------- */

/* It may outlive its handle: a server has yet to read the end of the session. */
struct line {
  struct line *next; /* among those that have outlived it */
  struct ensemble *ensemble;
  struct zk_connection *connection; /* NULL: it has ended */
  int client_fd; /* what the handle's owner polls; -1: it is closed */
  int server_fd; /* its other end: has a byte while something is unread */
  struct arrivals arrivals;
};

/* Sends `hello`.  NULL: errno has the reason. */
struct line *line_open(const char *address, const struct zk_hello *hello);
void line_send(struct line *line, const struct zk_request *request);
/* The next arrival, which is the caller's; NULL: there is none. */
struct arrival *line_read(struct line *line);
/* The handle has done with it: its descriptor is closed, and the connection, if
 * there is no duplicate of the descriptor. */
void line_close(struct line *line);
/* Has the descriptor been shut down?  Then nothing can be sent any more. */
bool line_is_shut(const struct line *line);
/* ---- Requests under way ------------------------------------------------------ */

struct outstanding {
  struct outstanding *next;
  int32_t xid;
  enum zk_op op;
  int watch; /* the kinds of watches that an answer may set or remove */
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
  int part_count;       /* of a ZK_MULTI */
  struct zoo_op *parts; /* for the caller's buffers that they have */
  zoo_op_result_t *results;
};

/* ---- Watches ----------------------------------------------------------------- */

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
/* Which of these kinds are watched? */
int watched_find(struct watched_paths *paths, const char *path, int kinds);
void watched_remove(struct watched_paths *paths, const char *path, int kinds);
void watched_clear(struct watched_paths *paths);

/* ---- A handle ---------------------------------------------------------------- */

struct auth {
  struct auth *next;
  char *scheme, *secret;
  int32_t size;
};

struct _zhandle {
  int number; /* in traces */
  char address[80];
  watcher_fn watcher;
  void *context;
  clientid_t id;
  int state;
  int recv_timeout; /* milliseconds: as asked for, then as granted */
  int64_t last_sent, last_received;
  int32_t xid;
  struct line *line;                /* NULL: not connected */
  struct auth *auths;               /* in the order in which they were added */
  struct outstanding *first, **end; /* in the order in which they were sent */
  struct watched_paths watches;
};

/* Numbers that no request has. */
enum { XID_PING = -2, XID_AUTH = -4 };

bool client_is_connected(const zhandle_t *zh);
/* Sends it, if there is a connection. */
void client_send(zhandle_t *zh, const struct zk_request *request);
void client_send_auth(zhandle_t *zh, const struct auth *auth);
/* A session event. */
void client_tell_state(zhandle_t *zh, int state);
/* Calls the completion of the oldest request, and frees it. */
void client_answer(zhandle_t *zh, const struct zk_reply *reply);
/* What is told in place of an answer; NULL: each answer is told as it is. */
extern const struct zk_reply *(*client_lie)(const struct outstanding *asked,
                                            const struct zk_reply *reply,
                                            struct arena *arena);
/* Answers that no server has given. */
void client_answer_all(zhandle_t *zh, int rc);
/* Calls the watcher, if the event's path is watched. */
void client_hear(zhandle_t *zh, const struct zk_event *event);

#pragma GCC visibility pop

#endif
