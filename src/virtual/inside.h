/* The state of an ensemble, which its parts share. The parts are, from the
 * lowest:
 *
 *   log          the transactions of a server
 *   link         passes or drops the messages of connections, and its traps
 *   connection   a client and a server, and the two lanes between them
 *   faults       a test's actions on links
 *   read         the requests that a server answers alone
 *   server       a server's connections, and their requests in order
 *   apply        applies committed transactions
 *   peers        the lanes between a leader and its followers
 *   leader       proposals, acknowledgements, sessions that expire
 *   follower     messages to and from the leader
 *   election     elects the leader, and makes the other servers follow it
 *   four_letter_words  the answers to `srvr`, `mntr` and others
 *   operate      a test's actions on servers, and its observations
 *
 * A part calls lower parts directly, and higher parts only by struct hooks. */
#ifndef ZKLOCK_VIRTUAL_INSIDE_H
#define ZKLOCK_VIRTUAL_INSIDE_H

#include "acl.h"
#include "agenda.h"
#include "arena.h"
#include "chance.h"
#include "ensemble.h"
#include "lane.h"
#include "operator.h"
#include "tracker.h"
#include "tree.h"
#include "txn.h"
#include "watches.h"

#pragma GCC visibility push(hidden)

#define MILLISECOND INT64_C(1000000)

/* ---- A connection -------------------------------------------------------- */

/* A request that its server has read, but not answered yet. */
struct pending {
  struct pending *next;
  uint64_t number;
  struct arena *arena;
  const struct zk_request *request;
  struct acl_list *identities; /* the identities when the request was read */
  bool waits;                  /* waits for the leader's decision */
  bool silent;
};

enum up { UP_CONNECT, UP_HELLO, UP_REQUEST, UP_END };
enum down {
  DOWN_ACCEPTED,
  DOWN_TLS,
  DOWN_CONNECTED,
  DOWN_REPLY,
  DOWN_EVENT,
  DOWN_END
};

struct zk_connection {
  struct ensemble *ensemble;
  struct zk_connection *next;
  uint64_t order; /* the connection's number */
  struct zk_link *link;
  struct zk_client client;
  struct zk_hello hello;
  bool client_has_it, server_has_it;
  bool severed; /* no message passes in either direction */
  bool broken;  /* a message was dropped */
  bool muted;   /* no further message reaches the client */
  /* `requested`: the number of requests so far. `treated`: the number of
   * answers so far whose kind is zk_misbehaviour's `kind`. */
  int requested, treated;
  int records;       /* number of TLS records; -1 if no more are sent */
  struct alarm fuse; /* expires when the link's `drop_after` is over */
  struct lane up, down;
  /* The server's side. */
  struct server *server; /* NULL until a server accepts the connection */
  int64_t session;
  int32_t timeout_ms;
  bool established;
  int64_t heard;
  int received, sent; /* numbers of packets */
  struct acl_list *identities;
  struct pending *first, *last;
  uint64_t requests;
};

/* ---- A link -------------------------------------------------------------- */

enum { KINDS_MAX = 16 };

struct link_faults {
  bool refuses, frozen, drops_requests, drops_replies, mutes_events;
  int64_t delay;
  struct zk_misbehaviour misbehaviour;
  struct zk_tls tls;
};

struct zk_link {
  struct ensemble *ensemble;
  struct zk_link *next;
  char *address;
  int client; /* the link's only client; 0 for clients without own link */
  int *servers, server_count, next_server;
  struct link_faults faults;
  struct zk_visits visits;
  int lost_kind, last_kind, left;
  int kept_kinds[KINDS_MAX], kept_count;
  struct arena *kept_arena;
  const struct zk_request *kept;
  int64_t kept_session;
  unsigned sprung;
};

/* ---- A server ------------------------------------------------------------ */

enum role { LOOKING, FOLLOWING, LEADING };

/* A request that a server forwards to the leader, or the leader's answer. */
struct forward {
  enum zk_op op; /* ZK_PING asks whether the session is valid */
  struct origin origin;
  int64_t session;
  int32_t timeout_ms;
  struct acl_list *identities;
  const struct zk_request *request;
  bool valid;
};

enum to_leader { TO_LEADER_FORWARD, TO_LEADER_ACK, TO_LEADER_TOUCHED };
enum from_leader {
  FROM_LEADER_PROPOSAL,
  FROM_LEADER_COMMIT,
  FROM_LEADER_ANSWER,
  FROM_LEADER_PING
};

/* A sync request that waits at the leader. The leader answers it when it has
 * committed all proposals up to `zxid`. */
struct waiting_sync {
  struct waiting_sync *next;
  int64_t zxid;
  struct origin origin;
};

struct server {
  struct ensemble *ensemble;
  int number;
  bool running, paused, observer, serving;
  enum role role;
  int group;
  int64_t lag;
  struct tree *tree;
  struct watches watches;
  uint64_t session_count; /* counts the ids of new sessions */
  int64_t received, sent; /* numbers of packets */
  /* The server's log. `logged`: the zxid of the newest transaction on the
   * server's disk. `committed`: the zxid of the newest transaction that the
   * server knows to be committed. */
  struct txn **log;
  int log_count, log_room;
  int64_t logged, committed;
  int64_t epoch;
  struct lane disk, applying;
  struct alarm tick, joining;
  /* As a follower. */
  struct server *leader;
  struct lane to_leader, from_leader;
  int64_t heard_leader;
  struct session_record *touched;
  int touched_count, touched_room;
  /* What the leader that this server follows knows about this server. */
  int64_t acknowledged, heard_by_leader;
  /* As a leader. */
  struct tree *head; /* the tree after all proposals */
  int64_t zxid;
  bool overran; /* a counter in `head` has overflowed */
  struct tracker tracker;
  struct alarm expiry, containers;
  struct waiting_sync *syncs;
};

/* ---- Hooks --------------------------------------------------------------- */

/* The functions by which a part calls parts above it (see the list at the
 * top). */
struct hooks {
  /* `greets` is called when a client has sent its hello, and `reads` when it
   * has sent a request. `forgets` is called when a client's connection has
   * ended. */
  void (*greets)(struct server *server, struct zk_connection *connection,
                 int64_t now);
  void (*reads)(struct server *server, struct zk_connection *connection,
                struct message *message, int64_t now);
  void (*forgets)(struct server *server, struct zk_connection *connection);
  /* `forwards` passes a request to the leader. `touches` reports to the leader
   * that a session has sent a request. The leader then extends the session. */
  void (*forwards)(struct server *server, const struct forward *forward,
                   int64_t now);
  void (*touches)(struct server *server, int64_t session, int32_t timeout_ms,
                  int64_t now);
  /* Returns ZK_OK if the server may serve the session; otherwise the error
   * code. */
  int (*checks)(struct server *server, int64_t session);
  /* Called when a leader has lost its majority, or when a follower has lost its
   * leader. */
  void (*steps_down)(struct server *server, int64_t now);
};

/* ---- The ensemble -------------------------------------------------------- */

struct ensemble {
  struct ensemble_settings settings;
  const struct hooks *hooks;
  struct agenda agenda;
  int64_t now;
  struct chance latencies, choices;
  uint64_t secret; /* the seed of all passwords */
  uint64_t orders;
  struct server *servers;
  struct zk_link *links;
  struct zk_connection *connections, **connections_end;
  unsigned sprung;
  int64_t epoch;
  struct alarm election;
  int candidate; /* the server that a test wants as leader; -1: none */
  int applied;   /* calls of apply_until since the logs were shortened */
};

static inline int64_t latency_of(struct ensemble *ensemble,
                                 const struct zk_latency *latency) {
  uint64_t span = (uint64_t)(latency->most - latency->least) + 1;
  return latency->least + (int64_t)chance_below(&ensemble->latencies, span);
}

#pragma GCC visibility pop

#endif
