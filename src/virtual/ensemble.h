/* A ZooKeeper ensemble in memory. It is a discrete-event simulation without
 * threads, clocks or I/O. The caller passes the time as `now`. The results
 * depend only on the calls, their times and the seed.
 *
 *   messages.h   requests, replies, events: the messages of clients and servers
 *   ensemble.h   an ensemble, its time, and the connections of clients
 *   operator.h   a test's actions on links, servers and sessions
 *
 * Times are nanoseconds of a clock that never goes back. Only ensemble_run
 * calls the functions of a client (struct zk_client). They may call
 * ensemble_open, _send, _hang_up and the functions of operator.h, but not
 * ensemble_run or _free. If memory runs out, the process ends with a
 * message. */
#ifndef ZKLOCK_VIRTUAL_ENSEMBLE_H
#define ZKLOCK_VIRTUAL_ENSEMBLE_H

#include "messages.h"

#pragma GCC visibility push(hidden)

struct ensemble;
struct zk_connection;

/* A range of delays. Each message gets a random delay from `least` to `most`,
 * but the messages of one connection stay in order. */
struct zk_latency {
  int64_t least, most;
};

struct ensemble_settings {
  int servers;
  int observers;          /* how many servers, the last ones, do not vote */
  int64_t epoch_ms;       /* the time of day at time 0 */
  int32_t tick_ms;        /* tickTime */
  int32_t min_timeout_ms; /* shortest session timeout; 0 means two ticks */
  int32_t max_timeout_ms; /* longest session timeout; 0 means twenty ticks */
  /* A follower leaves its leader after this many ticks without contact to it. A
   * leader steps down after as many ticks without contact to a majority. */
  int32_t sync_limit;
  int32_t max_buffer;      /* jute.maxbuffer */
  int32_t max_connections; /* maximum for one server; 0 means no limit */
  /* Servers hide nodes from sessions that may not read them. `hides_events`:
   * they send such a session no events of the node. Servers do so since 3.8.4
   * and 3.9.2, and in Debian 12. `hides_nodes`: they also refuse the request
   * exists. Servers do so since 3.8.4 and 3.9.2. */
  bool hides_events, hides_nodes;
  bool multi_create2;            /* a multi can contain a create2: since 3.9 */
  bool containers;               /* servers have containers: since 3.5 */
  bool ttl;                      /* zookeeper.extendedTypesEnabled */
  bool enforces_quotas;          /* zookeeper.enforceQuota, since 3.7 */
  int32_t container_interval_ms; /* time between searches for containers */
  struct zk_latency client;   /* delay of messages between client and server */
  struct zk_latency server;   /* delay of messages between two servers */
  struct zk_latency disk;     /* delay of logging a transaction */
  struct zk_latency election; /* time from the loss of a leader to the next */
};

/* Returns the settings of one standalone server as in Debian 12: version 3.8.0
 * with the fixes of 2024, and a tick of 2 s. */
struct ensemble_settings ensemble_defaults(void);

struct ensemble *ensemble_new(const struct ensemble_settings *settings,
                              uint64_t seed, int64_t now);
void ensemble_free(struct ensemble *ensemble);

/* Returns the time of the ensemble's next action, or INT64_MAX if there is
 * none. */
int64_t ensemble_next(const struct ensemble *ensemble);
/* Performs all actions that are due at `now` or earlier, in order. */
void ensemble_run(struct ensemble *ensemble, int64_t now);

/* ---- A client ------------------------------------------------------------ */

enum zk_end {
  ZK_REFUSED, /* no server accepts the connection */
  ZK_CLOSED,  /* the server closed the connection after its last message */
  ZK_BROKEN,  /* the connection was reset */
};

enum zk_tls_part {
  ZK_TLS_HEAD,    /* the beginning of a record */
  ZK_TLS_SHAKEN,  /* the server's part of the handshake */
  ZK_TLS_ALERT,   /* an alert: the server fails */
  ZK_TLS_REFUSAL, /* an alert about a certificate */
};

/* The functions of a client. The ensemble calls them to deliver messages to the
 * client, in the order of arrival. */
struct zk_client {
  void *self;
  /* Called when a server has accepted the connection; `server` is its number.
   * When this server has answered the hello, the first message, `connected` is
   * called. */
  void (*accepted)(void *self, int server); /* `accepted` can be NULL */
  /* Called when a part of a TLS record has arrived, if the connection's hello
   * has `secure`. Exception: the last part of a record that contains a message
   * goes to one of the functions below instead. `text` is the text of an alert,
   * otherwise NULL. */
  void (*tls)(void *self, enum zk_tls_part part, const char *text);
  void (*connected)(void *self, const struct zk_session *session);
  void (*reply)(void *self, const struct zk_reply *reply);
  void (*event)(void *self, const struct zk_event *event);
  /* The last call for a connection. The ensemble then frees the connection. */
  void (*ended)(void *self, enum zk_end end);
};

/* The first message that a client sends on a connection. */
struct zk_hello {
  int64_t session; /* 0 for a new session */
  char password[16];
  int32_t timeout_ms;
  int64_t seen; /* the newest zxid that the client has seen */
  int client;   /* the client's number in tests; 0 if it has none */
  bool secure;  /* ensemble_greet sends the hello, after a TLS handshake */
};

/* Opens a connection to an address ("127.0.0.1:2181"), over the link that has
 * this address. If no link has it, the client's `ended` is called with
 * ZK_REFUSED. */
struct zk_connection *ensemble_open(struct ensemble *ensemble, int64_t now,
                                    const char *address,
                                    const struct zk_hello *hello,
                                    const struct zk_client *client);
/* Sends the hello of a connection that was opened with `secure`. The client
 * must call this after the TLS handshake. */
void ensemble_greet(struct ensemble *ensemble, int64_t now,
                    struct zk_connection *connection);
/* Sends a request, even before the session is established. The call never
 * fails: later the client receives the reply, or the end of the connection. */
void ensemble_send(struct ensemble *ensemble, int64_t now,
                   struct zk_connection *connection,
                   const struct zk_request *request);
/* Closes a connection at the client. The client's functions are not called any
 * more. The server is notified of the end, unless the link drops that message.
 * The session is not closed. */
void ensemble_hang_up(struct ensemble *ensemble, int64_t now,
                      struct zk_connection *connection);

#pragma GCC visibility pop

#endif
