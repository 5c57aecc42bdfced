/* A ZooKeeper ensemble in memory: a discrete-event model without threads,
 * clocks or I/O.  The caller says what time it is; what happens depends on the
 * calls, on their times and on the seed, and on nothing else.
 *
 *   messages.h   requests, replies, events: what clients and servers send
 *   ensemble.h   an ensemble, its time, and how a client is connected to it
 *   operator.h   what a test does to links, servers and sessions, and sees
 *
 * Times are nanoseconds of a clock that never goes back.  No function but
 * ensemble_run calls a client's functions; these may call ensemble_open, _send
 * and _hang_up and what operator.h has, but not ensemble_run or _free.
 * Where there is no memory the process is ended, with a message. */
#ifndef ZKLOCK_VIRTUAL_ENSEMBLE_H
#define ZKLOCK_VIRTUAL_ENSEMBLE_H

#include "messages.h"

#pragma GCC visibility push(hidden)

struct ensemble;
struct zk_connection;

/* Each message takes from `least` to `most`, by chance; those of one connection
 * stay in order. */
struct zk_latency {
  int64_t least, most;
};

struct ensemble_settings {
  int servers;
  int observers;           /* the last of the servers: they do not vote */
  int64_t epoch_ms;        /* the time of day at the time 0 */
  int32_t tick_ms;         /* tickTime */
  int32_t min_timeout_ms;  /* of sessions; 0: two ticks */
  int32_t max_timeout_ms;  /* 0: twenty ticks */
  int32_t sync_limit;      /* ticks after which a leader and a follower that do
                              not reach each other give each other up */
  int32_t max_buffer;      /* jute.maxbuffer */
  int32_t max_connections; /* from all clients, to one server; 0: any number */
  /* A session that may not read a node gets no events of it (since 3.8.4 and
   * 3.9.2, and in Debian 12); and exists is refused to it (since 3.8.4, 3.9.2) */
  bool hides_events, hides_nodes;
  bool multi_create2;   /* a part of a multi can be a create2: since 3.9 */
  bool containers;      /* servers since 3.5 */
  bool ttl;             /* zookeeper.extendedTypesEnabled */
  bool enforces_quotas; /* zookeeper.enforceQuota, since 3.7 */
  int32_t container_interval_ms; /* between two looks for empty containers */
  struct zk_latency client;      /* between a client and a server */
  struct zk_latency server;      /* between two servers */
  struct zk_latency disk;        /* until a server has logged a transaction */
  struct zk_latency election;    /* from the loss of a leader to the next one */
};

/* One standalone server as Debian 12 has it: version 3.8.0 with the
 * fixes of 2024, a tick of 2 s. */
struct ensemble_settings ensemble_defaults(void);

struct ensemble *ensemble_new(const struct ensemble_settings *settings,
                              uint64_t seed, int64_t now);
void ensemble_free(struct ensemble *ensemble);

/* When something is due; INT64_MAX: nothing is. */
int64_t ensemble_next(const struct ensemble *ensemble);
/* Does all that is due until `now`, in order. */
void ensemble_run(struct ensemble *ensemble, int64_t now);

/* ---- A client ------------------------------------------------------------- */

enum zk_end {
  ZK_REFUSED, /* no server accepts the connection */
  ZK_CLOSED,  /* the server closed it in order (end of file) */
  ZK_BROKEN,  /* reset */
};

/* What a client receives, in the order in which it came. */
struct zk_client {
  void *self;
  /* A server, by its number, has accepted the connection: what was sent is on
   * its way, and `connected` follows. */
  void (*accepted)(void *self, int server); /* may be NULL */
  void (*connected)(void *self, const struct zk_session *session);
  void (*reply)(void *self, const struct zk_reply *reply);
  void (*event)(void *self, const struct zk_event *event);
  /* The last call: the connection is freed when it returns. */
  void (*ended)(void *self, enum zk_end end);
};

/* The first message of a connection. */
struct zk_hello {
  int64_t session; /* 0: a new one */
  char password[16];
  int32_t timeout_ms;
  int64_t seen; /* the newest zxid that the client has seen */
};

/* Opens a connection to an address ("127.0.0.1:2181"), over the link that has
 * it; without one it is refused. */
struct zk_connection *ensemble_open(struct ensemble *ensemble, int64_t now,
                                    const char *address,
                                    const struct zk_hello *hello,
                                    const struct zk_client *client);
/* A request may be sent at once, before the session is there.  It is never
 * refused: what becomes of it the connection tells. */
void ensemble_send(struct ensemble *ensemble, int64_t now,
                   struct zk_connection *connection,
                   const struct zk_request *request);
/* Closes a connection; its client is called no more.  The server notices by
 * its end, if the link passes it on; the session goes on. */
void ensemble_hang_up(struct ensemble *ensemble, int64_t now,
                      struct zk_connection *connection);

#pragma GCC visibility pop

#endif
