/* The record of a handle of the client library, shared by the files that
 * library.h lists. No other file includes this. There is one handle at a time.
 *
 * The inbox: the client library may call back while it cleans up after a lost
 * connection. A request made then would be lost, too. So callbacks only append
 * to the inbox, and the protocol runs when the inbox is emptied. */
#ifndef ZKLOCK_LIBRARY_HANDLE_H
#define ZKLOCK_LIBRARY_HANDLE_H

#include <zookeeper/zookeeper.h>

#include "certificates.h"
#include "library_listener.h"
#include "settings.h"
#include "stream.h"

#pragma GCC visibility push(hidden)

#define MILLISECOND INT64_C(1000000)

/* A report of the library. */
struct incident {
  struct incident *next;
  enum { INCIDENT_REPLY, INCIDENT_WATCH, INCIDENT_STATE } kind;
  uint64_t serial;
  int code; /* rc, type or state */
  int64_t czxid, owner, ctime_ms, mtime_ms;
  int version, length, children;
  bool revoked;
  const char *doubt; /* what is wrong with it; NULL: nothing */
  struct listing *listing;
  int size;    /* of the data; -1: none */
  char text[]; /* the path, or the data */
};

/* The replies that a connection owes: the contenders' creates in flight, in
 * order. */
struct answers {
  struct expected *first, **end, **last;
  int64_t session;
  int64_t newest; /* greatest czxid of our nodes so far; 0: none */
};

struct library {
  const struct settings *settings;
  struct library_listener listener;
  struct certificates certificates;
  struct ACL *acl_entries;
  struct ACL_vector acl;        /* of nodes for this client ... */
  struct ACL_vector acl_shared; /* ... and for other clients, too */

  zhandle_t *handle; /* NULL: none */
  char server[80];   /* its address */
  int64_t began;     /* see library_began */
  bool connected;    /* `connected` was called, `over` not yet */
  bool parting;      /* ends once the inbox is delivered */
  bool stranger;     /* the server requires other credentials */
  bool answered;     /* a request sent after the credentials was answered */

  int fd;               /* the socket; the library owns it: has_socket */
  int64_t due;          /* when to run it again */
  int unread;           /* unread bytes after the last idle turn */
  int idle;             /* idle turns in a row with no fewer bytes */
  struct stream stream; /* buffers `fd` where imports are rewritten */

  struct incident *first, **end;    /* the inbox */
  bool overflow;                    /* there was no memory for an incident */
  struct transaction *transactions; /* see transactions_submit */
  struct answers answers;
};

/* The library whose callbacks run on this thread. Completions get one pointer
 * only, and that carries the request's serial. */
extern _Thread_local struct library *library_current;

/* Returns a new incident. `text` is a path or data; a NUL is appended. Returns
 * NULL if there is no memory. */
struct incident *incident_new(int kind, int code, const char *text,
                              size_t size);
void incident_free(struct incident *incident);
/* Takes ownership of the incident. NULL: there was no memory for it. */
void inbox_append(struct library *library, struct incident *incident);
/* Returns all incidents, in order; the caller frees each. `*overflow`: some are
 * missing. */
struct incident *inbox_take(struct library *library, bool *overflow);
/* Reports an error of the handle's server. */
void handle_tell_error(struct library *library, const char *text);

/* library_connection.c */
void connection_init(struct library *library);
/* Makes the next connection speak TLS, if settings say so. Returns false if
 * that fails; the error was reported. */
bool connection_secure(struct library *library, const char *names);
void connection_begin(struct library *library); /* starts the attempt */
/* Called when a server has accepted the connection. */
void connection_greeted(struct library *library);
/* Closes the handle, if there is one. It reports nothing any more. */
void connection_close(struct library *library);
/* Closes the handle after the server has received the end of the session, and
 * ensures that nothing prevents it from receiving that. */
void connection_farewell(struct library *library);
/* Ends the handle. The handle's state says how; a healthy one counts as
 * lost. */
void connection_end(struct library *library);
/* Checks, after all incidents were delivered, whether the connection has
 * ended. */
void connection_look(struct library *library);
int64_t connection_prepare(struct library *library, int *fd, short *events);
void connection_process(struct library *library, short events);

/* library_requests.c */

/* Returns false if nothing was sent. */
bool requests_submit(struct library *library, const struct op *op,
                     const struct op *before);
/* The one callback for all watches and for changes of the connection. Its
 * context is the library. */
void requests_on_event(zhandle_t *handle, int type, int state, const char *path,
                       void *context);

/* library_transactions.c: these return ZOK, or why nothing was sent. */

/* Sends a heartbeat. It changes nothing, and its reply proves that a quorum has
 * committed it. */
int transaction_heartbeat(struct library *library, const struct op *op);
/* Tests whether a directory with our ACL would be usable by ourselves. A server
 * creates it, checks it, creates a child, and deletes both, in one transaction.
 * No other client sees any of it. */
int transaction_rehearse(struct library *library, const struct op *op);
/* Deletes a node of ours and creates another, in one transaction. Reports a
 * reply for each of the two. */
int transaction_exchange(struct library *library, const struct op *create,
                         const struct op *remove);
/* Sends an OP_CREATE or OP_REMOVE of a node together with the node `beside`. */
int transaction_pair(struct library *library, const struct op *op);
/* Sends an OP_REMOVE on the condition that no node was created in the
 * directory. */
int transaction_counted(struct library *l, const struct op *op);
/* Sends an OP_MKDIR of a persistent node, OP_WRITE or OP_REMOVE, on the
 * condition that the node `provided` exists. */
int transaction_conditional(struct library *library, const struct op *op);
/* Frees the transactions that were answered; `all`: all of them. */
void transactions_free(struct library *library, bool all);

/* library_answers.c checks what the client library returns: does it match the
 * request, and can it be true? If not, the server is broken, or not a ZooKeeper
 * server. Then the connection is closed, and the outcome of unanswered requests
 * is unknown. Only contradictions are rejected: what a server says about other
 * sessions' nodes is believed. */

/* Returns `rc` if it is a code of some ZooKeeper version, otherwise a system
 * error. Other numbers belong to the operating system or to zklock (op.h). */
int answers_code(int rc);

/* Each returns NULL, or a text that says what is wrong. They check what the
 * library has parsed, because it also reports success for a truncated vector or
 * buffer. */
const char *answers_doubt_names(const struct String_vector *names);
const char *answers_doubt_listing(const struct listing *listing);
const char *answers_doubt_stat(const struct Stat *stat);
const char *answers_doubt_data(const char *value, int length,
                               const struct Stat *stat);

void answers_init(struct answers *answers);
/* Forgets the creates of an earlier connection: they get no reply any more. */
void answers_begin(struct answers *answers, int64_t session);
/* Returns false if there is no memory. `bare`: the reply has a path but no
 * Stat. */
bool answers_expect(struct answers *answers, const struct op *create,
                    bool bare);
/* Removes the last expected create, because it was not sent. */
void answers_expect_not(struct answers *answers);
/* Checks a reply; returns NULL, or a text that tells what is wrong. */
const char *answers_doubt(struct answers *answers,
                          const struct incident *incident);

#pragma GCC visibility pop

#endif
