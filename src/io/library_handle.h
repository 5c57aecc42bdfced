/* One handle of the client library at a time, as the files see it that tame it
 * (library.h lists them).  No other file includes this.
 *
 * The inbox: the client library calls back in the middle of its tidying up after
 * a lost connection, where a new request would be lost as well.  So callbacks
 * only append to the inbox, and the protocol runs when it is emptied. */
#ifndef ZKLOCK_LIBRARY_HANDLE_H
#define ZKLOCK_LIBRARY_HANDLE_H

#include <zookeeper/zookeeper.h>

#include "library_listener.h"
#include "settings.h"
#include "stream.h"

#pragma GCC visibility push(hidden)

#define MILLISECOND INT64_C(1000000)

/* Something that the library has reported. */
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

/* What one connection must answer: the contenders' creates that are under way,
 * in order. */
struct answers {
  struct expected *first, **end, **last;
  int64_t session;
  int64_t newest; /* czxid of a node of ours that it has told of; 0: of none */
};

struct library {
  const struct settings *settings;
  struct library_listener listener;
  struct ACL *acl_entries;
  struct ACL_vector acl;        /* of what we make ... */
  struct ACL_vector acl_shared; /* ... and others may use */

  zhandle_t *handle; /* NULL: none */
  char server[80];   /* its address */
  int64_t began;     /* see library_began */
  bool connected;    /* `connected` was told, and not yet `over` */
  bool parting;      /* it ends as soon as what has come is told */
  bool stranger;     /* the server wants authentication that we have not */
  bool answered;     /* a request that was sent behind the credentials */

  int fd;      /* the socket; the library's, so ask for its state first */
  int64_t due; /* when it wants to be turned */
  int unread;  /* bytes, after the last turn that read nothing */
  int idle;    /* such turns in a row, with never fewer of them */
  struct stream stream; /* of `fd`, where there are streams */

  struct incident *first, **end;    /* the inbox */
  bool overflow;                    /* there was no memory for something */
  struct transaction *transactions; /* see transactions_submit */
  struct answers answers;
};

/* Whose callbacks this thread runs: completions are handed one pointer, and that
 * carries the request's serial. */
extern _Thread_local struct library *library_current;

/* `text`: a path, or data; a NUL is put behind it.  NULL: no memory. */
struct incident *incident_new(int kind, int code, const char *text,
                              size_t size);
void incident_free(struct incident *incident);
/* Takes it over; NULL: there was no memory for it. */
void inbox_append(struct library *library, struct incident *incident);
/* All that has come, in order, each to be freed; `*overflow`: not all. */
struct incident *inbox_take(struct library *library, bool *overflow);
/* About the server that the handle has. */
void handle_tell_error(struct library *library, const char *text);

/* library_connection.c */
void connection_init(struct library *library);
void connection_begin(struct library *library); /* the handle's attempt */
/* A server has accepted it. */
void connection_greeted(struct library *library);
/* Closes the handle, if there is one: nothing of it comes any more. */
void connection_close(struct library *library);
/* The same, once the server has heard of the end of the session: so that nothing
 * keeps it from hearing. */
void connection_farewell(struct library *library);
/* Ends the handle: how, its state says; or, if that is well, as lost. */
void connection_end(struct library *library);
/* After everything that has come was told: is it over? */
void connection_look(struct library *library);
int64_t connection_prepare(struct library *library, int *fd, short *events);
void connection_process(struct library *library, short events);

/* library_requests.c */

/* False: nothing was sent. */
bool requests_submit(struct library *library, const struct op *op,
                     const struct op *before);
/* One function and one context, the library, for every watch and for what becomes
 * of the connection. */
void requests_on_event(zhandle_t *handle, int type, int state, const char *path,
                       void *context);

/* library_transactions.c: these give ZOK, or why nothing was sent. */

/* A heartbeat changes nothing, and proves that a quorum has committed it. */
int transaction_heartbeat(struct library *library, const struct op *op);
/* Would a directory that we make be of use to ourselves?  A server makes it, looks
 * into it, makes a child and deletes both: no other client sees any of it. */
int transaction_rehearse(struct library *library, const struct op *op);
/* Deletes a node of ours, and makes another; each of the two is answered. */
int transaction_exchange(struct library *library, const struct op *create,
                         const struct op *remove);
/* OP_CREATE or OP_REMOVE of a node together with the one `beside` it. */
int transaction_pair(struct library *library, const struct op *op);
/* OP_REMOVE on the condition that nothing was made in the directory. */
int transaction_counted(struct library *l, const struct op *op);
/* OP_MKDIR, of a node that stays, OP_WRITE or OP_REMOVE, only if the node
 * `provided` is there. */
int transaction_conditional(struct library *library, const struct op *op);
/* Frees those that are answered; `all`: those that are not, too. */
void transactions_free(struct library *library, bool all);

/* library_answers.c: what the client library hands over is looked at before it is
 * believed.  Is it what was asked for, and can it be true?  A server that says
 * otherwise is broken, or none: its connection is given up, and whatever is
 * unanswered is unknown.  What a server says of others' nodes is its word, and is
 * believed: here is only what contradicts itself. */

/* One of ZooKeeper's, of whatever version; what is none is a system error: the
 * words of others are the operating system's, or ours (op.h). */
int answers_code(int rc);

/* Each gives NULL, or what is wrong in words.  These look at what the library
 * has read: it says "ok", too, where a vector or a buffer ends before its time. */
const char *answers_doubt_names(const struct String_vector *names);
const char *answers_doubt_listing(const struct listing *listing);
const char *answers_doubt_stat(const struct Stat *stat);
const char *answers_doubt_data(const char *value, int length,
                               const struct Stat *stat);

void answers_init(struct answers *answers);
/* Nothing of an earlier connection will be answered any more. */
void answers_begin(struct answers *answers, int64_t session);
/* False: no memory.  `bare`: its answer is a path, and nothing else. */
bool answers_expect(struct answers *answers, const struct op *create,
                    bool bare);
/* The last one was not sent, after all. */
void answers_expect_not(struct answers *answers);
/* A reply has come. */
const char *answers_doubt(struct answers *answers,
                          const struct incident *incident);

#pragma GCC visibility pop

#endif
