/* Declares the record of a handle of the client library, for the files that
 * library.h lists. Only these files include it. There is at most one handle at
 * a time.
 *
 * The inbox is a queue of the library's reports. The library can call a
 * callback while it cleans up after a lost connection. If the callback sent a
 * request, the library would drop that request, too. So callbacks only append
 * to the inbox. The protocol runs later, when library_deliver empties the
 * inbox. */
#ifndef ZKLOCK_LIBRARY_HANDLE_H
#define ZKLOCK_LIBRARY_HANDLE_H

#include <zookeeper/zookeeper.h>

#include "certificates.h"
#include "protocol/op.h"
#include "settings.h"
#include "stream.h"

#pragma GCC visibility push(hidden)

#define MILLISECOND INT64_C(1000000)

/* A report of the client library: a reply, a watch event, or a new state. */
struct incident {
  struct incident *next;
  enum { INCIDENT_REPLY, INCIDENT_WATCH, INCIDENT_STATE } kind;
  int code; /* the request's result, the event's type, or the state */
  uint64_t serial;
  const char *fault;  /* what is wrong with the reply; or NULL */
  struct reply reply; /* its `path` and `data` are `text` */
  char text[];        /* the path, or the data */
};

/* The contenders' creates that were sent and not answered yet, in the order in
 * which they were sent. zklock compares each reply to a create with its
 * request. */
struct answers {
  struct expected *first, **end, **last;
  int64_t session;
  int64_t newest; /* the greatest czxid of a created node so far, or 0 */
};

struct library {
  const struct settings *settings;
  const struct library_listener *listener; /* see library.h */
  void *self;                              /* the listener's */
  struct certificates certificates;
  struct ACL *acl_entries;
  struct ACL_vector acl;        /* the ACL of this client's own nodes */
  struct ACL_vector acl_shared; /* the ACL of nodes that other clients use */

  zhandle_t *handle;  /* NULL: there is no handle */
  char server[80];    /* the server's address */
  bool connected;     /* between the calls of `connected` and `over` */
  bool must_end;      /* end the connection when the inbox is empty */
  bool auth_required; /* the server requires other credentials */
  bool answered;      /* the reply to the first request came */

  int fd;               /* the client library's socket: see has_socket */
  int64_t due;          /* when to run the library again */
  int unread;           /* unread bytes after the last pass */
  int idle;             /* number of idle passes in a row */
  struct stream stream; /* buffers `fd` if imports are rewritten */

  struct incident *first, **end;    /* the inbox */
  bool overflow;                    /* an incident was dropped: no memory */
  struct transaction *transactions; /* transactions that are not freed yet */
  struct answers answers;
};

/* The library whose callbacks run on the current thread. A completion callback
 * needs it, because its `data` argument does not refer to the library. `data`
 * is the request's serial number or its transaction. */
extern _Thread_local struct library *library_current;

/* Returns a new incident with a copy of `text`, followed by a NUL. `text` is a
 * path or a node's data, and has `size` bytes. Returns NULL if there is no
 * memory. */
struct incident *incident_new(int kind, int code, const char *text,
                              size_t size);
void incident_free(struct incident *incident);
/* Appends the incident to the inbox, and takes ownership of it. If there is no
 * memory for an incident, the caller passes NULL, which sets `overflow`. */
void inbox_append(struct library *library, struct incident *incident);
/* Removes all incidents from the inbox. Returns the first of the list, or NULL;
 * the caller frees each. Sets `*overflow` to whether incidents were dropped for
 * lack of memory. */
struct incident *inbox_take(struct library *library, bool *overflow);
/* Creates the record, without a listener. Returns NULL if there is no
 * memory. */
struct library *handle_new(const struct settings *settings);
void handle_free(struct library *library);
/* Sets the fields of a library without a handle. */
void handle_reset(struct library *library);

/* library_requests.c defines library_submit and this function. */

/* Appends a watch event, or a change of the connection, to the inbox. The
 * client library calls this function for each of them. `context` is the struct
 * library. */
void requests_on_event(zhandle_t *handle, int type, int state, const char *path,
                       void *context);

/* library_transactions.c defines these functions. */

/* Sends a request that needs a transaction. Reports one reply for `op`, and one
 * for `before` if it is not NULL. Returns ZOK, or a code that says why nothing
 * was sent. */
int transaction_submit(struct library *library, const struct op *op,
                       const struct op *before);
/* Frees the transactions that were answered. `all`: frees the unanswered ones,
 * too. */
void transactions_free(struct library *library, bool all);

/* library_answers.c checks the replies that the client library returns. It
 * rejects a reply if its values are impossible, or if they contradict its
 * request or earlier replies. In these cases the server is broken, or is not a
 * ZooKeeper server. Then zklock closes the connection, and the outcome of
 * unanswered requests is unknown. zklock accepts values that contradict
 * nothing, such as other sessions' data. */

/* Returns the code `rc` of a reply. If no ZooKeeper version has such a code,
 * returns ZSYSTEMERROR. Otherwise zklock would take `rc` for an error of the
 * system, or for one of its own reasons (op.h). */
int answers_code(int rc);

/* Check the values that the client library has parsed. The checks are needed
 * because the library reports success even for a truncated vector or buffer.
 * Each function returns an error text if a value is wrong, else NULL. */
const char *answers_check_names(const struct String_vector *names);
const char *answers_check_listing(const struct listing *listing);
const char *answers_check_stat(const struct Stat *stat);
const char *answers_check_data(const char *value, int length,
                               const struct Stat *stat);

void answers_init(struct answers *answers);
/* Begins the checks for a new connection with this session. Forgets the creates
 * of the last connection, because no replies to them will come. */
void answers_begin(struct answers *answers, int64_t session);
/* Adds a create to the list of creates whose replies are expected. `bare`: the
 * reply will have a path but no Stat. Returns false if there is no memory. */
bool answers_expect(struct answers *answers, const struct op *create,
                    bool bare);
/* Undoes the last answers_expect. Called if the create that it has announced
 * was not sent. */
void answers_cancel_expected(struct answers *answers);
/* Checks the reply `incident`. If it answers an expected create, compares it
 * with that create. Returns an error text if the reply is wrong, else NULL. */
const char *answers_check(struct answers *answers,
                          const struct incident *incident);

#pragma GCC visibility pop

#endif
