/* The state of an ensemble, as its parts know it, from below:
 *
 *   log          the transactions that a server has
 *   link         what a connection passes through, and its traps
 *   connection   a client and a server, and the two lanes between them
 *   faults       what a test does to links
 *   read         what a server answers by itself
 *   server       its connections, and their requests in order
 *   apply        what it does with what is committed
 *   peers        the lanes between a leader and those that follow it
 *   leader       proposals, acknowledgements, sessions that expire
 *   follower     what comes from the leader, and what goes there
 *   election     which server leads, and how others join it
 *   words        what a server tells an operator who asks
 *   operate      what a test does to servers, and sees
 *
 * A part calls those below it; what those have to tell it they tell by hooks. */
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

/* ---- A connection ----------------------------------------------------------- */

/* A request that its server has read and not answered. */
struct pending {
  struct pending *next;
  uint64_t number;
  struct arena *arena;
  const struct zk_request *request;
  struct acl_list *identities; /* those of the moment when it was read */
  bool waits;                  /* for the leader */
  bool silent;
};

enum up { UP_CONNECT, UP_HELLO, UP_REQUEST, UP_END };
enum down { DOWN_ACCEPTED, DOWN_CONNECTED, DOWN_REPLY, DOWN_EVENT, DOWN_END };

struct zk_connection {
  struct ensemble *ensemble;
  struct zk_connection *next;
  uint64_t order; /* in which they were opened */
  struct zk_link *link;
  struct zk_client client;
  struct zk_hello hello;
  bool client_has_it, server_has_it;
  bool severed; /* nothing passes any more, in either direction */
  bool broken;  /* a message was dropped */
  bool muted;   /* nothing more reaches the client */
  int requested,
      treated;       /* requests, and answers of the kind that is treated */
  struct alarm fuse; /* when it ends by its link's manners */
  struct lane up, down;
  /* The server's. */
  struct server *server; /* NULL: not yet */
  int64_t session;
  int32_t timeout_ms;
  bool established;
  int64_t heard;
  int received, sent; /* packets */
  struct acl_list *identities;
  struct pending *first, *last;
  uint64_t requests;
};

/* ---- A link ----------------------------------------------------------------- */

enum { KINDS_MAX = 16 };

struct zk_link {
  struct ensemble *ensemble;
  struct zk_link *next;
  char *address;
  int client; /* the only one that has it; 0: all others */
  int *servers, server_count, next_server;
  bool refuses, frozen, drops_requests, drops_replies, mutes_events;
  int64_t delay;
  struct zk_manners manners;
  struct zk_visits visits;
  int lost_kind, last_kind, left;
  int kept_kinds[KINDS_MAX], kept_count;
  struct arena *kept_arena;
  const struct zk_request *kept;
  int64_t kept_session;
  unsigned sprung;
};

/* ---- A server --------------------------------------------------------------- */

enum role { LOOKING, FOLLOWING, LEADING };

/* A request on its way to the leader, or back. */
struct forward {
  enum zk_op op; /* ZK_PING: may this session go on? */
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

/* A sync that waits at the leader for what it had proposed before. */
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
  uint64_t session_count; /* that it has begun */
  int64_t received, sent; /* packets */
  /* Its log: what it has of it, and how much of that is safe. */
  struct txn **log;
  int log_count, log_room;
  int64_t logged, committed;
  int64_t epoch;
  struct lane disk, applying;
  struct alarm tick, joining;
  /* A follower's. */
  struct server *leader;
  struct lane to_leader, from_leader;
  int64_t heard_leader;
  struct session_record *touched;
  int touched_count, touched_room;
  /* What its leader knows of it. */
  int64_t acknowledged, heard_by_leader;
  /* A leader's. */
  struct tree *head; /* in which all is done that was proposed */
  int64_t zxid;
  bool overran; /* a counter in `head` has gone past its end */
  struct tracker tracker;
  struct alarm expiry, containers;
  struct waiting_sync *syncs;
};

/* ---- Hooks -------------------------------------------------------------------- */

/* What a part tells those above it. */
struct hooks {
  /* Of a client: it has connected, sent a request, or gone. */
  void (*greets)(struct server *server, struct zk_connection *connection,
                 int64_t now);
  void (*reads)(struct server *server, struct zk_connection *connection,
                struct message *message, int64_t now);
  void (*forgets)(struct server *server, struct zk_connection *connection);
  /* A request is for the leader; a session has been heard of. */
  void (*forwards)(struct server *server, const struct forward *forward,
                   int64_t now);
  void (*touches)(struct server *server, int64_t session, int32_t timeout_ms,
                  int64_t now);
  /* May a session be served here?  ZK_OK, or why it may not. */
  int (*checks)(struct server *server, int64_t session);
  /* A leader has lost its majority, or a follower its leader. */
  void (*steps_down)(struct server *server, int64_t now);
};

/* ---- The ensemble ----------------------------------------------------------- */

struct ensemble {
  struct ensemble_settings settings;
  const struct hooks *hooks;
  struct agenda agenda;
  int64_t now;
  struct chance latencies, choices;
  uint64_t secret; /* of which passwords are made */
  uint64_t orders;
  struct server *servers;
  struct zk_link *links;
  struct zk_connection *connections, **connections_end;
  unsigned sprung;
  int64_t epoch;
  struct alarm election;
  int candidate; /* which the operator has chosen; -1: none */
  int applied;   /* since the logs were shortened */
};

static inline int64_t latency_of(struct ensemble *ensemble,
                                 const struct zk_latency *latency) {
  uint64_t span = (uint64_t)(latency->most - latency->least) + 1;
  return latency->least + (int64_t)chance_below(&ensemble->latencies, span);
}

#pragma GCC visibility pop

#endif
