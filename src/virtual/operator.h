/* What a test does to an ensemble: faults of links, servers that stop, sessions
 * that end; and what it can see of the truth. */
#ifndef ZKLOCK_VIRTUAL_OPERATOR_H
#define ZKLOCK_VIRTUAL_OPERATOR_H

#include "ensemble.h"

#pragma GCC visibility push(hidden)

/* ---- Links ---------------------------------------------------------------- */

/* An address at which servers can be reached. */
struct zk_link;

/* A new connection goes to the next of `servers` (their numbers, from 0) that
 * accepts one.  NULL: the address is taken. */
struct zk_link *link_new(struct ensemble *ensemble, const char *address,
                         const int *servers, int count);
struct zk_link *link_find(struct ensemble *ensemble, const char *address);
/* The link that one client (zk_hello.client) alone has in place of this one, with
 * its servers and its state; made, if there is none yet. */
struct zk_link *link_apart(struct zk_link *link, int client);
/* Does this to all links of an address, those of one client included. */
void link_each(struct ensemble *ensemble, const char *address, int64_t now,
               void (*fault)(struct zk_link *link, int64_t now));

/* Breaks the connections; new ones are welcome. */
void link_cut(struct zk_link *link, int64_t now);
/* The servers see the connections closed, the clients do not. */
void link_half_open(struct zk_link *link, int64_t now);

/* These last until link_heal. */
void link_refuse(struct zk_link *link, int64_t now); /* breaks them, too */
void link_freeze(struct zk_link *link, int64_t now); /* nothing passes */
void link_delay(struct zk_link *link, int64_t now, int64_t by);
void link_drop_requests(struct zk_link *link, int64_t now);
void link_drop_replies(struct zk_link *link, int64_t now);
void link_mute_events(struct zk_link *link, int64_t now);
/* Connections of which a message was dropped break. */
void link_heal(struct zk_link *link, int64_t now);

/* Answers to requests of this kind (zk_request_kind) ... */
enum {
  LINK_CONNECT = -1, /* to a connection's first message */
  LINK_ANY = -2
};
/* ... and what becomes of them. */
enum link_treatment {
  LINK_CUT,    /* lost, with their connection */
  LINK_MUTE,   /* lost, as is all that follows on the connection */
  LINK_REFUSE, /* an error in their place */
};

/* How servers behave that do what they should not; 0: as ever. */
struct zk_manners {
  bool silent; /* they accept connections, and nothing else */
  int32_t asks_ms,
      says_ms;        /* the session's timeout that they are asked for, and
                               that they say they grant */
  int forgets;        /* so many sessions that return have expired */
  bool expires;       /* they have no session, and begin none */
  int drop_at;        /* a connection ends at this request */
  int64_t drop_after; /* ... or so long after its session was told; -1: at
                               once */
  int64_t largest;    /* ... or at a larger request, in bytes */
  int kind, count;    /* so many answers of this kind */
  int skip;           /* ... after so many on each connection */
  enum link_treatment treatment;
  int code; /* that of LINK_REFUSE */
};

/* From now on, in place of what was before; it lasts until link_heal. */
void link_behave(struct zk_link *link, const struct zk_manners *manners);
/* How many connections were accepted so far; of them, how many clients asked for
 * a session, and how many for the one that they had. */
struct zk_visits {
  int connections, sessions, returns;
};
struct zk_visits link_visits(const struct zk_link *link);

/* Traps, which stay set until they are sprung or disarmed. */

enum link_sprung {
  LINK_LOST = 1, /* the reply was lost */
  LINK_KEPT = 2,
  LINK_APPLIED = 4, /* ... or refused, as is known to the server alone */
  LINK_LAST = 8,    /* the last reply, or message, has passed */
};

/* The next reply to a request of this kind is lost, and with it all
 * connections; new ones are refused until link_heal. */
void link_lose_reply(struct zk_link *link, int kind);
/* The next request of one of these kinds reaches no server before
 * link_apply_late, and all connections break. */
void link_keep_request(struct zk_link *link, const int *kinds, int count);
/* It is sent over the connection that its session has now on this link; the
 * client does not receive the reply.  False: there is no such connection. */
bool link_apply_late(struct zk_link *link, int64_t now);
/* The next reply to a request of this kind is the last message that passes on
 * its connection. */
void link_cut_after_reply(struct zk_link *link, int kind);
/* The nth message to a client from now on breaks its connection in its midst:
 * the client does not receive it.  */
void link_cut_at(struct zk_link *link, int nth);
void link_disarm(struct zk_link *link);
/* Has it been sprung since the last time that it was asked? */
bool link_has_sprung(struct zk_link *link, enum link_sprung what);
/* A number that grows whenever a trap of any link has been sprung. */
unsigned ensemble_sprung(const struct ensemble *ensemble);

/* ---- Servers -------------------------------------------------------------- */

/* kill -9: its connections break, its log stays. */
void server_stop(struct ensemble *ensemble, int64_t now, int server);
void server_start(struct ensemble *ensemble, int64_t now, int server);
/* SIGSTOP and SIGCONT: what comes in the meantime waits. */
void server_pause(struct ensemble *ensemble, int64_t now, int server);
void server_resume(struct ensemble *ensemble, int64_t now, int server);
/* Servers of one group reach each other; all are in group 0 at first. */
void server_group(struct ensemble *ensemble, int64_t now, int server,
                  int group);
/* A follower applies what is committed so much later. */
void server_lag(struct ensemble *ensemble, int64_t now, int server,
                int64_t lag);
/* Makes it the leader, by an election that begins now.  False: it has not all
 * that is committed, or no majority reaches it. */
bool server_elect(struct ensemble *ensemble, int64_t now, int server);
int ensemble_leader(const struct ensemble *ensemble); /* -1: there is none */
/* Its answer to a four-letter word: cons, wchp, mntr or srvr; the caller frees it.
 * NULL: it does not answer. */
char *server_word(struct ensemble *ensemble, int server, const char *word);
bool server_is_running(const struct ensemble *ensemble, int server);

/* ---- Sessions ------------------------------------------------------------- */

/* Ends a session, as one that has its password can and as the leader does when
 * it has expired.  False: there is no such session, or no leader. */
bool ensemble_end_session(struct ensemble *ensemble, int64_t now,
                          int64_t session);
/* Is it alive by the log of the leader?  (Where no connection knows it yet, it
 * may have ended already.) */
bool ensemble_has_session(const struct ensemble *ensemble, int64_t session);
/* The client (zk_hello.client) that has this session on a connection; 0: none. */
int ensemble_client(const struct ensemble *ensemble, int64_t session);
/* The server to which this client is connected; -1: none. */
int ensemble_server_of(const struct ensemble *ensemble, int client);
/* Is no client connected, nor about to be? */
bool ensemble_is_left(const struct ensemble *ensemble);

/* ---- What is there --------------------------------------------------------- */

/* What is committed.  False: there is no such node. */
bool ensemble_look(const struct ensemble *ensemble, const char *path,
                   struct zk_stat *stat, struct zk_data *data);
/* Calls `each` with the name of each child, in the order of their names. */
void ensemble_children(const struct ensemble *ensemble, const char *path,
                       void (*each)(void *self, const char *name), void *self);
/* The most ephemeral children that a node has had at once since it had none. */
int ensemble_crowd(const struct ensemble *ensemble, const char *path);
/* Watches at all servers, on paths that begin so; those of one connection, one
 * path and one kind count once. */
int ensemble_watches(const struct ensemble *ensemble, const char *prefix);
int ensemble_connections(const struct ensemble *ensemble, int server);
/* Lets the next sequential child of a node have this number. */
bool ensemble_set_counter(struct ensemble *ensemble, const char *path,
                          int32_t next);

#pragma GCC visibility pop

#endif
