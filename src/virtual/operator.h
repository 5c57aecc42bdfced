/* A test's actions on an ensemble: it disturbs links, stops servers and ends
 * sessions. It can also observe what the ensemble has committed. */
#ifndef ZKLOCK_VIRTUAL_OPERATOR_H
#define ZKLOCK_VIRTUAL_OPERATOR_H

#include "ensemble.h"

#pragma GCC visibility push(hidden)

/* ---- Links --------------------------------------------------------------- */

/* A link: an address at which clients reach one or more servers. A test can
 * disturb the connections of a link. */
struct zk_link;

/* Adds a link to these servers, which are numbered from 0. New connections go
 * to the running servers in turn. Returns NULL if another link has the
 * address. */
struct zk_link *link_new(struct ensemble *ensemble, const char *address,
                         const int *servers, int count);
struct zk_link *link_find(struct ensemble *ensemble, const char *address);
/* Returns the link that the client with the number `client` (zk_hello.client)
 * uses in place of `link`. So a test can disturb one client alone. If there is
 * no such link yet, adds one. The new link has the servers and faults of
 * `link`, but not its zk_misbehaviour and zk_tls. */
struct zk_link *link_apart(struct zk_link *link, int client);
/* Calls `fault`, such as link_cut, for all links of an address. This includes
 * the links that single clients use (link_apart). */
void link_each(struct ensemble *ensemble, const char *address, int64_t now,
               void (*fault)(struct zk_link *link, int64_t now));

/* Breaks the link's existing connections. New connections are accepted. */
void link_cut(struct zk_link *link, int64_t now);
/* Ends the link's connections at the servers, but does not notify the
 * clients. */
void link_half_open(struct zk_link *link, int64_t now);

/* The faults of the functions below last until link_heal. link_refuse also
 * breaks the existing connections. */
void link_refuse(struct zk_link *link, int64_t now);
void link_freeze(struct zk_link *link, int64_t now); /* no message passes */
void link_delay(struct zk_link *link, int64_t now, int64_t by);
void link_drop_requests(struct zk_link *link, int64_t now);
void link_drop_replies(struct zk_link *link, int64_t now);
void link_mute_events(struct zk_link *link, int64_t now);
/* Ends all faults. Breaks the connections that have lost a message. */
void link_heal(struct zk_link *link, int64_t now);

/* More values for zk_misbehaviour's `kind`, in addition to those that
 * zk_request_kind returns. */
enum {
  LINK_CONNECT = -1, /* the answer to a connection's first message */
  LINK_ANY = -2
};
/* What a misbehaving link does with an answer to a client. */
enum link_treatment {
  LINK_CUT,    /* the answer is lost, and the connection breaks */
  LINK_MUTE,   /* the answer and all later messages are lost */
  LINK_REFUSE, /* an error replaces the answer */
};

/* How the servers behind a link misbehave towards the link's clients. A field
 * that is 0 changes nothing. */
struct zk_misbehaviour {
  bool silent; /* servers accept connections, but answer nothing */
  /* `asks_ms` replaces the session timeout that a client requests. `says_ms`
   * replaces the session timeout that a server grants. */
  int32_t asks_ms, says_ms;
  int forgets;  /* number of returning sessions to call expired */
  bool expires; /* all sessions, even new ones, are called expired */
  int drop_at;  /* number of the request that ends its connection */
  /* Each connection ends this much time after its session was established; -1
   * means at once. */
  int64_t drop_after;
  int64_t largest; /* a larger request, in bytes, ends its connection */
  int kind, count; /* `count` answers of this kind get `treatment`, ... */
  int skip;        /* ... after the first `skip` on each connection */
  enum link_treatment treatment;
  int code; /* the error of LINK_REFUSE */
};

/* The TLS behaviour of a link's servers. It applies only to connections with
 * zk_hello.secure. Each message to a client is a TLS record; the first record
 * is the handshake. A field that is 0 changes nothing. */
struct zk_tls {
  int64_t delay; /* the delay before the handshake's record */
  int64_t split; /* time between the two parts of each record */
  /* The number of the record that breaks off in the middle; then the connection
   * is silent. If a connection has already had as many records, its next record
   * breaks off. -1 means that not even the first record begins. */
  int stops_at;
  int fails_at;    /* the number of the alert's record, like `stops_at` */
  bool is_refusal; /* the alert is about a certificate */
  char text[200];  /* the text of the alert */
};
/* Sets the TLS behaviour of a link's servers, until link_heal. */
void link_secure(struct zk_link *link, const struct zk_tls *tls);

/* Sets the misbehaviour of a link's servers, until link_heal. */
void link_misbehave(struct zk_link *link,
                    const struct zk_misbehaviour *misbehaviour);
/* How many connections a link has had so far. `connections` counts all.
 * `sessions` counts those that requested a new session, and `returns` those
 * that requested an existing one. */
struct zk_visits {
  int connections, sessions, returns;
};
struct zk_visits link_visits(const struct zk_link *link);

/* A trap is a fault that waits for a message of a certain kind. When the
 * message comes, the trap springs: the fault happens once. A trap stays set
 * until it springs or link_disarm removes it. */

enum link_sprung {
  LINK_LOST = 1, /* the reply was lost */
  LINK_KEPT = 2,
  LINK_APPLIED = 4, /* the server has applied or refused the kept request */
  LINK_LAST = 8,    /* a connection was cut after a reply or at a message */
};

/* Sets a trap for the next reply to a request of this kind. The reply is lost,
 * and all connections of the link break. New connections are refused until
 * link_heal. */
void link_lose_reply(struct zk_link *link, int kind);
/* Sets a trap for the next request of one of these kinds. The link keeps the
 * request from the servers until link_apply_late. All connections of the link
 * break. */
void link_keep_request(struct zk_link *link, const int *kinds, int count);
/* Sends the request that link_keep_request has kept, on the current connection
 * of the request's session on this link. The client does not receive the reply.
 * Returns false if there is no such connection. */
bool link_apply_late(struct zk_link *link, int64_t now);
/* Sets a trap: a connection breaks after the next reply to a request of this
 * kind. */
void link_cut_after_reply(struct zk_link *link, int kind);
/* Sets a trap: a connection breaks in the middle of the nth message to a
 * client, counted from this call. The client does not receive this message. */
void link_cut_at(struct zk_link *link, int nth);
void link_disarm(struct zk_link *link);
/* Returns true if the trap `what` has sprung since the last call. */
bool link_has_sprung(struct zk_link *link, enum link_sprung what);
/* Returns a number that increases each time a trap of any link springs. */
unsigned ensemble_sprung(const struct ensemble *ensemble);

/* ---- Servers ------------------------------------------------------------- */

/* Stops a server as kill -9 does: its connections break, but its log
 * remains. */
void server_stop(struct ensemble *ensemble, int64_t now, int server);
void server_start(struct ensemble *ensemble, int64_t now, int server);
/* server_pause pauses a server, as SIGSTOP does; server_resume resumes it, as
 * SIGCONT does. Messages that arrive in between wait until it is resumed. */
void server_pause(struct ensemble *ensemble, int64_t now, int server);
void server_resume(struct ensemble *ensemble, int64_t now, int server);
/* Moves a server to a group. Servers reach each other only within their group,
 * so groups are partitions. At first all servers are in group 0. */
void server_group(struct ensemble *ensemble, int64_t now, int server,
                  int group);
/* From now on, a follower applies each committed transaction later, by the time
 * `lag`. */
void server_lag(struct ensemble *ensemble, int64_t now, int server,
                int64_t lag);
/* Starts an election that this server wins; does nothing if it already leads.
 * Returns false if the server cannot lead, reaches no majority, or reaches a
 * server with a newer log. */
bool server_elect(struct ensemble *ensemble, int64_t now, int server);
/* Returns the number of the leader, or -1 if there is none. */
int ensemble_leader(const struct ensemble *ensemble);
/* Returns the server's answer to a four-letter word, which the caller frees.
 * The words are cons, wchp, mntr and srvr. Returns NULL if the server does not
 * answer. */
char *server_four_letter_word(struct ensemble *ensemble, int server,
                              const char *word);
bool server_is_running(const struct ensemble *ensemble, int server);

/* ---- Sessions ------------------------------------------------------------ */

/* Ends a session, as if its client had ended it or it had expired. Returns
 * false if there is no such session or no leader. */
bool ensemble_end_session(struct ensemble *ensemble, int64_t now,
                          int64_t session);
/* Returns true if the leader considers the session alive. The leader can end a
 * session before the server to which its client is connected learns of it. */
bool ensemble_has_session(const struct ensemble *ensemble, int64_t session);
/* Returns the number of the client (zk_hello.client) that has a connection with
 * this session; 0 if there is none. */
int ensemble_client(const struct ensemble *ensemble, int64_t session);
/* Returns the number of the server to which this client is connected, or -1 if
 * there is none. */
int ensemble_server_of(const struct ensemble *ensemble, int client);
/* Returns true if no client has a connection, or is opening one. */
bool ensemble_is_left(const struct ensemble *ensemble);

/* ---- Nodes and watches --------------------------------------------------- */

/* Gets the Stat and the data of a committed node; both pointers can be NULL.
 * Returns false if the node does not exist. */
bool ensemble_read(const struct ensemble *ensemble, const char *path,
                   struct zk_stat *stat, struct zk_data *data);
/* Calls `each` with the name of each child, in the order of their names. */
void ensemble_children(const struct ensemble *ensemble, const char *path,
                       void (*each)(void *self, const char *name), void *self);
/* Returns the peak number of ephemeral children of a node since the time when
 * it last had none. */
int ensemble_most_children(const struct ensemble *ensemble, const char *path);
/* Returns the number of watches, at all servers, on paths with this prefix.
 * Several watches of the same connection, path and kind count as one. */
int ensemble_watches(const struct ensemble *ensemble, const char *prefix);
int ensemble_connections(const struct ensemble *ensemble, int server);
/* Sets the sequence number of the next sequential child of a node. Returns
 * false if the node does not exist. */
bool ensemble_set_counter(struct ensemble *ensemble, const char *path,
                          int32_t next);

#pragma GCC visibility pop

#endif
