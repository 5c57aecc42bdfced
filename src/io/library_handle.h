/* The record of a handle of the client library, for the files that library.h
 * lists. No other file includes this. There is one handle at a time.
 *
 * The inbox is a queue of the library's reports. The library can call back
 * while it cleans up after a lost connection. If a callback sent a request,
 * that request would be lost, too. So callbacks only append to the inbox, and
 * the protocol runs when the inbox is emptied. */
#ifndef ZKLOCK_LIBRARY_HANDLE_H
#define ZKLOCK_LIBRARY_HANDLE_H

#include <zookeeper/zookeeper.h>

#include "certificates.h"
#include "library_listener.h"
#include "settings.h"
#include "stream.h"

#pragma GCC visibility push(hidden)

#define MILLISECOND INT64_C(1000000)

/* A report of the client library: a reply, a watch event, or a new state. */
struct incident {
  struct incident *next;
  enum { INCIDENT_REPLY, INCIDENT_WATCH, INCIDENT_STATE } kind;
  uint64_t serial;
  int code; /* the request's result, the event's type, or the state */
  int64_t czxid, owner, ctime_ms, mtime_ms;
  int version, length, children;
  bool revoked;
  const char *fault; /* what is wrong with the reply's values; or NULL */
  struct listing *listing;
  int size;    /* size of the data; -1: there are no data */
  char text[]; /* the path, or the data */
};

/* The contenders' creates in flight, in the order in which they were sent. Each
 * reply to a create is compared with its request. */
struct answers {
  struct expected *first, **end, **last;
  int64_t session;
  int64_t newest; /* the greatest czxid of a created node so far, or 0 */
};

struct library {
  const struct settings *settings;
  struct library_listener listener;
  struct certificates certificates;
  struct ACL *acl_entries;
  struct ACL_vector acl;        /* the ACL of nodes for this client only */
  struct ACL_vector acl_shared; /* the ACL of nodes that other clients use */

  zhandle_t *handle;  /* NULL: there is no handle */
  char server[80];    /* the server's address */
  int64_t began;      /* see library_began */
  bool connected;     /* between the calls of `connected` and `over` */
  bool must_end;      /* true: end the connection when the inbox is empty */
  bool auth_required; /* the server requires other credentials */
  bool answered;      /* the reply that follows the credentials came */

  int fd;               /* the client library's socket: see has_socket */
  int64_t due;          /* when to run the library again */
  int unread;           /* unread bytes after the last idle pass */
  int idle;             /* idle passes in a row with as many bytes or more */
  struct stream stream; /* buffers `fd` if imports are rewritten */

  struct incident *first, **end;    /* the inbox */
  bool overflow;                    /* an incident was dropped: no memory */
  struct transaction *transactions; /* transactions that are not freed yet */
  struct answers answers;
};

/* The library whose callbacks run on this thread. A completion callback needs
 * it, because its only argument carries the request's serial number. */
extern _Thread_local struct library *library_current;

/* Returns a new incident with a copy of `text`, a path or data, and a NUL
 * behind it. Returns NULL if there is no memory. */
struct incident *incident_new(int kind, int code, const char *text,
                              size_t size);
void incident_free(struct incident *incident);
/* Appends the incident to the inbox, and takes ownership of it. If `incident`
 * is NULL, sets `overflow`: there was no memory for the incident. */
void inbox_append(struct library *library, struct incident *incident);
/* Removes and returns all incidents of the inbox, in order; the caller frees
 * each. Sets `*overflow` if incidents were dropped for lack of memory. */
struct incident *inbox_take(struct library *library, bool *overflow);
/* Reports `text` as an error of the handle's server. */
void handle_report_error(struct library *library, const char *text);

/* library_connection.c */
void connection_init(struct library *library);
/* Makes the next connection use TLS if the option `tls` is set. Returns false
 * if that fails, after a report of the error. */
bool connection_secure(struct library *library, const char *names);
void connection_begin(struct library *library); /* begins an attempt */
/* Sends a first request if there are credentials: its reply shows that the
 * server has accepted them. Called when a server has accepted the
 * connection. */
void connection_greeted(struct library *library);
/* Closes the handle, if there is one, and drops its reports. */
void connection_close(struct library *library);
/* Closes the handle, which ends the session. Then waits until the server closes
 * the connection, for at most END_TIMEOUT. Closing the socket earlier could
 * lose the close request. */
void connection_end_session(struct library *library);
/* Closes the handle, and calls `over` with the way in which the handle ended.
 * If nothing has failed, that is LIBRARY_LOST. Keeps the ZooKeeper session. */
void connection_end(struct library *library);
/* Ends the handle if its connection has ended. Otherwise calls `accepted` if
 * the server has just accepted the credentials. Called when no report is left
 * in the inbox. */
void connection_check_end(struct library *library);
int64_t connection_prepare(struct library *library, int *fd, short *events);
void connection_process(struct library *library, short events);

/* library_requests.c */

/* Sends a request; see library_submit. Returns false if nothing was sent. */
bool requests_submit(struct library *library, const struct op *op,
                     const struct op *before);
/* Puts watch events and changes of the connection into the inbox. The client
 * library calls it for all these reports. `context` is the struct library. */
void requests_on_event(zhandle_t *handle, int type, int state, const char *path,
                       void *context);

/* library_transactions.c: the functions that send return ZOK, or the code for
 * why nothing was sent. */

/* Sends a heartbeat: a write that changes nothing. Its reply proves that a
 * quorum has committed it. */
int transaction_heartbeat(struct library *library, const struct op *op);
/* Tests whether this session could use a directory with the ACL of option
 * `acl`. A server creates the directory, checks it, creates a child, and
 * deletes both, in one transaction. No other client sees any of that. */
int transaction_check_acl(struct library *library, const struct op *op);
/* Deletes a node of this session and creates another, in one transaction.
 * Reports a reply for each of the two. */
int transaction_exchange(struct library *library, const struct op *create,
                         const struct op *remove);
/* Creates or deletes (OP_CREATE, OP_REMOVE) a node and the node `beside`, in
 * one transaction. */
int transaction_pair(struct library *library, const struct op *op);
/* Deletes a node (OP_REMOVE) on the condition that no child was created in its
 * directory beyond the first `op->creates`. */
int transaction_counted(struct library *l, const struct op *op);
/* Sends an OP_MKDIR of a persistent node, OP_WRITE or OP_REMOVE, on the
 * condition that the node `provided` exists. */
int transaction_conditional(struct library *library, const struct op *op);
/* Frees the transactions that were answered, or `all` of them. */
void transactions_free(struct library *library, bool all);

/* library_answers.c checks the replies that the client library returns. It
 * rejects a reply if its values are impossible, or contradict its request or
 * earlier replies. Then the server is broken, or not a ZooKeeper server. zklock
 * closes the connection, and the outcome of unanswered requests is unknown.
 * Values that contradict nothing, such as other sessions' data, are
 * accepted. */

/* Returns the code `rc` of a reply, or ZSYSTEMERROR if no ZooKeeper version has
 * such a code. zklock would take such a code for an error of the system, or for
 * a reason of zklock (op.h). */
int answers_code(int rc);

/* Check the values that the library has parsed, because it also reports success
 * for a truncated vector or buffer. Each returns NULL, or a text that says what
 * is wrong. */
const char *answers_check_names(const struct String_vector *names);
const char *answers_check_listing(const struct listing *listing);
const char *answers_check_stat(const struct Stat *stat);
const char *answers_check_data(const char *value, int length,
                               const struct Stat *stat);

void answers_init(struct answers *answers);
/* Begins the checks for a connection with this session. Removes the creates of
 * the last connection: no replies to them will come. */
void answers_begin(struct answers *answers, int64_t session);
/* Adds a create to the list of creates whose replies are expected. `bare`: the
 * reply has a path but no Stat. Returns false if there is no memory. */
bool answers_expect(struct answers *answers, const struct op *create,
                    bool bare);
/* Undoes the last answers_expect, because the create was not sent and no reply
 * will come. */
void answers_cancel_expected(struct answers *answers);
/* Checks a reply against the expected creates. Returns NULL, or a text that
 * says what is wrong. */
const char *answers_check(struct answers *answers,
                          const struct incident *incident);

#pragma GCC visibility pop

#endif
