/* The model of a ZooKeeper ensemble.
 *
 *   client ──requests──► server ──writes, syncs──► leader
 *          ◄──notes────         ◄──transactions──
 *
 * Each arrow is a line: first in, first out, with delays of its own.  The
 * leader (leader.c) puts all transactions into one order.  A server
 * (server.c) applies them some time later and answers from what it has
 * applied; the leader is a server too.  Sessions live and die at the leader
 * alone, which hears of the sessions of other servers by their reports, and
 * with each sign of life for how long from now the session is to live.
 *
 * An observer may have a follower in the leader's place, which hands on all
 * that goes up and down (observerMasterPort). */
#ifndef SIM_ZOO_H
#define SIM_ZOO_H

#include "history.h"
#include "paths.h"
#include "protocol/op.h"

struct world;

enum { THROTTLED = -127 };

enum {
  SERVERS_MAX = 5,
  SESSIONS_MAX = 64, /* so that a set of them is one word */
  CONNECTIONS_MAX = 512,
  REQUESTS_MAX = 32768,
  NOTES_MAX = 65536,
  DELIVERIES_MAX = 32768,
  FORWARDS_MAX = 1024,
  REPORTS_MAX = 8192,
  WAITING_MAX = 128,
};

/* What reaches a server, or the leader. */
enum ask {
  ASK_CONNECT,
  ASK_OP,
  ASK_PING, /* the client library's own */
  ASK_CLOSE,
  ASK_REPORT, /* a server's: the sessions that it has heard of */
};

struct request {
  enum ask ask;
  enum op_kind op;
  bool persistent, exact, watch; /* as in op.h */
  int connection;
  int path; /* ASK_REPORT: its number */
  uint64_t serial;
  /* A create with a delete before it, in one transaction: of what, and which of
   * the two was refused. */
  uint64_t with_serial; /* 0: alone */
  int with_path;
  int beside; /* the path of another node, made or deleted with it; or NOBODY */
  int provided; /* OP_MKDIR: the path of a node that must be there; or NOBODY */
  bool replace, counted;
  int creates;
  enum op_kind refused;
  bool throttled; /* the server does nothing, and says so */
  int64_t asked_at;
  int seen;     /* the newest view that its process had been told of */
  int alone_rc; /* the connected server refuses it by itself; 0: it does not */
};

/* The timeouts that servers may grant, the largest, which the clients ask
 * for, first. */
enum { GRANTS = 3 };

/* Sessions, by the timeout with which they have been heard of. */
struct report {
  uint64_t heard[GRANTS];
};

/* What reaches a client. */
enum note_kind {
  NOTE_CONNECTED,
  NOTE_EXPIRED,
  NOTE_REPLY,
  NOTE_EVENT,
  NOTE_PONG,
  NOTE_CLOSED, /* the connection is gone: nobody's words */
};

struct note {
  enum note_kind kind;
  enum watch_event event;
  int connection;
  int request;
  int rc;
  int path;
  int node;
  int view; /* what the server had applied when it said so */
};

struct zoo_session {
  int64_t id;
  int64_t expires, looks_at;
  int stored; /* the grant of its first connection */
  int least;  /* of all signs of life */
  bool alive;
  bool forced;   /* it did not die of silence, nor of a wish */
  bool given_up; /* by its owner, which cannot tell anybody */
  int server;    /* which speaks for it, as the leader knows it */
  int client;
};

/* Its two ends learn one by one that it is over. */
struct connection {
  int client, server;
  int session; /* NOBODY: not yet */
  bool client_has_it;
  bool server_has_it;
  bool replaced;  /* by another of the same session, at the same server */
  bool up_closed; /* what is sent now gets lost */
  bool up_cut;    /* and so does what is on its way */
  bool down_closed, down_cut;
  int stuck; /* a server's thread has read this request, and stands still */
  int64_t stuck_until;
  int64_t up_until, down_until; /* when the last message of a line arrives */
  int grant;
  struct path_set watches, child_watches;
  int waiting[WAITING_MAX]; /* requests not yet answered, in order */
  unsigned first, last;
};

/* What travels from the leader to a server.  The first two go on to the
 * server's commit processor, which may be late; the others do not wait. */
enum delivery_kind {
  DELIVER_TRANSACTION,
  DELIVER_SYNC,
  DELIVER_SESSION,    /* it is alive */
  DELIVER_NO_SESSION, /* it is not */
  DELIVER_PING,       /* asks for a report */
};

struct delivery {
  int64_t at; /* when it arrives; then: when it is applied */
  enum delivery_kind kind;
  int what; /* a transaction, or a request */
  int to;   /* the observer to hand it on to; NOBODY: it stays */
};

/* And what travels from a server to the leader. */
struct forwarded {
  int64_t at;
  int request;
};

/* What a server does for a client whom a node's ACL does not let read. */
enum privacy {
  TELLS_ALL,     /* before 3.8.4 and 3.9.2: only getData is refused */
  TELLS_READERS, /* the fix of CVE-2024-23944 alone: no event is sent */
  SHOWS_READERS, /* the rest of it (ZOOKEEPER-2590): exists is refused, too */
  PRIVACIES
};

struct server {
  int view;              /* so many transactions are applied */
  int64_t cut_until;     /* off from the leader */
  int64_t stopped_until; /* the whole process */
  int64_t busy_until;    /* it throttles */
  bool deposed;          /* cut off, and still believes that it leads */
  bool asleep;           /* its commit processor waits for the next request */
  enum privacy privacy;
  int64_t pings_at; /* an observer: its master's next */
  int master;       /* an observer's; NOBODY: the leader */
  int observer;     /* a master's; NOBODY: none */
  int grant;        /* it grants no more */
  int connections;
  struct report report; /* since the last one */
  int64_t lag;          /* of the commit processor, at most */
  int64_t up_until, down_until, apply_until;
  int64_t wakes_at;         /* the next delivery's happening */
  int first, arrived, last; /* deliveries: not applied, not arrived, none */
  unsigned up_first, up_last;
  struct forwarded forwards[FORWARDS_MAX];
  struct delivery deliveries[DELIVERIES_MAX];
};

struct zoo {
  int server_count, leader;
  int64_t tick;
  bool no_containers;
  bool has_observer; /* the last server */
  int data_lost_at; /* the view with which the servers came back without data */
  int64_t pings_at; /* the leader's next; NEVER: nobody can tell */
  int64_t grants[GRANTS];
  int session_count, connection_count, request_count, note_count;
  int report_count;
  const char *overflowed;                 /* what was too small */
  struct path_set watched, child_watched; /* by anybody, at any time */
  struct history history;
  struct server servers[SERVERS_MAX];
  struct zoo_session sessions[SESSIONS_MAX];
  struct connection connections[CONNECTIONS_MAX];
  struct request requests[REQUESTS_MAX];
  struct note notes[NOTES_MAX];
  struct report reports[REPORTS_MAX];
};

void zoo_reset(struct world *w, int servers, int64_t tick);

/* For clients. */
int zoo_connect(struct world *w, int client, int server, int session);
int zoo_request(struct world *w, enum ask ask, int connection);
/* Puts a request on its way to the connection's server. */
void zoo_send(struct world *w, int request);

/* Happenings. */
void server_receives(struct world *w, int request);
void server_delivers(struct world *w, int server);
void leader_receives(struct world *w, int server);
void leader_looks_at_session(struct world *w, int session);
void leader_pings(struct world *w);
void master_pings(struct world *w, int observer);

/* Between server and leader. */
/* Whoever is above the server asks for its report. */
void zoo_ping_later(struct world *w, int server, int64_t after);
void server_applies(struct world *w, int server, int transaction);
void server_deliver(struct world *w, int server, enum delivery_kind kind,
                    int what);
void server_catch_up(struct world *w, int server);
void server_drop(struct world *w, struct connection *connection);
/* It has applied the whole log, and knows of nothing that is on its way. */
void server_begins(struct world *w, int server);
void server_hears(struct world *w, int server, const struct report *report);
/* Passes on to the leader what an observer has asked its master for. */
void server_forward(struct world *w, int server, int request);
void leader_takes(struct world *w, int server, int request);
void leader_touch(struct world *w, int session, int grant);

/* Who else acts on the tree: operators, and the leader itself. */
void leader_removes(struct world *w, int node);
void leader_removes_directory(struct world *w, int node);
void leader_writes(struct world *w, int node, bool revoke);
/* `client`: with its ACL; NOBODY: all may read it. */
void leader_makes(struct world *w, const char *path, bool container,
                  int32_t counter, int client);
/* This one, and what is missing of those above it. */
void leader_makes_directory(struct world *w, int path);
void leader_reaps(struct world *w);
/* A contender's node, for a session that has no connection; NO_NODE: there is
 * no directory.  `sequential`: a number follows the path. */
int leader_enters(struct world *w, int session, const char *path,
                  bool sequential);
int leader_opens_session(struct world *w, int client);
void leader_forgets(struct world *w, int node); /* at its owner's wish */
void leader_closes_session(struct world *w, int session, bool forced);

/* Faults of connections, servers and links. */
void connection_breaks(struct world *w, struct connection *c, bool up,
                       bool down, bool silent);
void server_is_configured(struct world *w, int server, int grant);
void server_is_cut_off(struct world *w, int server, int64_t until);
void server_rejoins(struct world *w, int server, bool broken);
void zoo_elects(struct world *w, int server, int64_t until);

/* The node that is there now; NO_NODE: none. */
int zoo_find(struct world *w, int path);

int64_t zoo_session_id(int session);
int zoo_session_number(int64_t id);

#endif
