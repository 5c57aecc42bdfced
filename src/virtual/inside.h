/* The ensemble's parts, as they know each other:
 *
 *   connection   a client and a server, and the two lanes between them
 *   link         what a connection passes through, with its faults
 *   server       connections, requests in their order; read: what a server
 *                answers by itself; apply: what it does when it is committed
 *   leader       proposals, acknowledgements, sessions that expire
 *   follower     what comes from the leader, and what goes there
 *   election     which server leads, and how others join it */
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
  struct lane up, down;
  /* The server's. */
  struct server *server; /* NULL: not yet */
  int64_t session;
  int32_t timeout_ms;
  bool established;
  int64_t heard;
  struct acl_list *identities;
  struct pending *first, *last;
  uint64_t requests;
};

void connection_deliver_up(void *self, struct message *message, int64_t now);
void connection_deliver_down(void *self, struct message *message, int64_t now);
/* From the server to the client. */
void connection_tell(struct zk_connection *connection, struct message *message,
                     int64_t now);
/* By the link: both ends see it closed; or the server alone. */
void connection_cut(struct zk_connection *connection, int64_t now,
                    bool client_too);
/* By its server, in order. */
void connection_drop(struct zk_connection *connection, int64_t now);
bool connection_is_over(const struct zk_connection *connection);
void connection_free(struct zk_connection *connection);

/* ---- A link ----------------------------------------------------------------- */

enum { KINDS_MAX = 16 };

struct zk_link {
  struct ensemble *ensemble;
  struct zk_link *next;
  char *address;
  int *servers, server_count, next_server;
  bool refuses, frozen, drops_requests, drops_replies;
  int64_t delay;
  int lost_kind, last_kind, left;
  int kept_kinds[KINDS_MAX], kept_count;
  struct arena *kept_arena;
  const struct zk_request *kept;
  int64_t kept_session;
  unsigned sprung;
};

/* What becomes of a message; false: it goes no further. */
bool link_passes_up(struct zk_link *link, struct zk_connection *connection,
                    const struct message *message, int64_t now);
bool link_passes_down(struct zk_link *link, struct zk_connection *connection,
                      const struct message *message, int64_t now);
void link_passed_down(struct zk_link *link, struct zk_connection *connection,
                      const struct message *message, int64_t now);
struct server *link_next_server(struct zk_link *link);
void link_free(struct zk_link *link);

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
  struct tracker tracker;
  struct alarm expiry, containers;
  struct waiting_sync *syncs;
};

void server_init(struct server *server, struct ensemble *ensemble, int number);
void server_free(struct server *server);
/* What its client sent. */
void server_greets(struct server *server, struct zk_connection *connection,
                   int64_t now);
void server_reads(struct server *server, struct zk_connection *connection,
                  struct message *message, int64_t now);
void server_forgets(struct server *server, struct zk_connection *connection);
/* It serves no longer: all its connections are closed. */
void server_steps_down(struct server *server, int64_t now);
/* What the leader decided of a client's request. */
void server_answers(struct server *server, const struct forward *answer,
                    int64_t now);
struct zk_connection *server_connection(const struct server *server,
                                        const struct origin *origin);
/* The first of its requests has been answered. */
void server_finishes(struct server *server, struct zk_connection *connection,
                     int64_t now);
void server_progresses(struct server *server, struct zk_connection *connection,
                       int64_t now);
void server_establishes(struct server *server, struct zk_connection *connection,
                        bool valid, int64_t now);
bool server_reaches(const struct server *server, const struct server *other);
int64_t server_time_ms(const struct server *server, int64_t now);

/* A reply that is being made. */
struct zk_reply *reply_new(struct message **message,
                           const struct pending *pending);
void read_answer(struct server *server, struct zk_connection *connection,
                 const struct pending *pending, int64_t now);
void event_send(struct server *server, struct zk_connection *connection,
                enum zk_event_type type, const char *path, int64_t zxid,
                int64_t now);

/* Applies what is committed, until this zxid. */
void apply_until(struct server *server, int64_t zxid, int64_t now);

/* ---- The log ---------------------------------------------------------------- */

int64_t log_last(const struct server *server);
int log_place(const struct server *server,
              int64_t zxid); /* of the first after it */
void log_append(struct server *server, struct txn *txn);
/* Makes the log of a follower that of its leader. */
void log_adopt(struct server *server, const struct server *leader);
void log_forget(struct ensemble *ensemble); /* what all have applied */

/* ---- Leaders and followers -------------------------------------------------- */

void leader_begins(struct server *leader, int64_t now);
void leader_takes(struct server *leader, const struct forward *forward,
                  int64_t now);
void leader_touches(struct server *leader, int64_t session, int32_t timeout_ms,
                    int64_t now);
/* ZK_OK, ZK_SESSION_EXPIRED or ZK_SESSION_MOVED. */
int leader_checks(struct server *leader, int64_t session, int server);
void leader_hears(struct server *leader, struct server *follower,
                  struct message *message, int64_t now);
void leader_commits(struct server *leader, int64_t now);
void leader_applied(struct server *leader, const struct txn *txn, int64_t now);
void leader_init(struct server *server);
void leader_ends(struct server *leader);
void leader_ticks(struct server *leader, int64_t now);
bool leader_ends_session(struct server *leader, int64_t session, int64_t now);

void follower_forwards(struct server *server, const struct forward *forward,
                       int64_t now);
void follower_begins(struct server *server, struct server *leader, int64_t now);
void follower_init(struct server *server);
/* Its alarms, from now on. */
void server_wakes(struct server *server, int64_t now);
void follower_tell(struct server *follower, struct message *message,
                   int64_t now);

int majority_of(const struct ensemble *ensemble);
void election_init(struct ensemble *ensemble);
/* At the beginning: all servers have found each other. */
void election_is_over(struct ensemble *ensemble, int64_t now);
/* After anything by which a leader may be lost or found. */
void election_considers(struct ensemble *ensemble, int64_t now);

/* ---- The ensemble ----------------------------------------------------------- */

struct ensemble {
  struct ensemble_settings settings;
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

int64_t ensemble_latency(struct ensemble *ensemble,
                         const struct zk_latency *latency);

#pragma GCC visibility pop

#endif
