/* What a session asks of the servers beside the protocol: is this hold still
 * good, who contends for this path, and that a holder let go.  A query runs on
 * the I/O thread and is answered by one event. */
#ifndef ZKLOCK_QUERY_H
#define ZKLOCK_QUERY_H

#include "claim.h"

#pragma GCC visibility push(hidden)

enum query_kind {
  QUERY_VERIFY,     /* of a claim: is its node there, and ours? */
  QUERY_CONTENDERS, /* of a path: who contends? */
  QUERY_REVOKE,     /* of a node: write data that ask its owner to let go, if
                       their version is still this */
};

/* A contender, as a server knows it. */
struct item {
  struct query *query;
  struct op read;
  char *path; /* whole */
  enum role role;
  int32_t sequence;
  bool there; /* a server has told what follows */
  int64_t czxid, owner, ctime_ms;
  int version;
  char *data; /* NULL: none */
  int size;
};

/* (c) constant after core_ask  (i) the I/O thread, until it posts the answer;
 * then the Lua thread, which frees it */
struct query {
  struct message ask, answer;
  enum query_kind kind; /* (c) */
  uint64_t number;      /* (c) what the event calls it */
  struct claim *claim;  /* (c) QUERY_VERIFY */
  char *path;           /* (c) */
  char *data;           /* (c) QUERY_REVOKE, with the next two */
  int size, version;    /* (c) */

  struct session *session;                       /* (i) */
  void (*done)(void *self, struct query *query); /* (i) */
  void *self;                                    /* (i) */
  struct op ops[4];                              /* (i) */
  char *paths[4];                                /* (i) of these */
  int pending;                                   /* (i) answers */
  bool reading;                                  /* (i) items are asked for */
  struct item *items;                            /* (i) QUERY_CONTENDERS */
  int count;                                     /* (i) of them */

  int rc;       /* (i) the last refusal; REPLY_LOST: nobody answered */
  bool gone;    /* (i) of a node: it is not there, or not ours */
  bool missing; /* (i) QUERY_CONTENDERS: the path does not exist */
};

/* NULL: no memory. */
struct query *query_to_verify(struct claim *claim);
struct query *query_for_contenders(const char *chroot, const char *path);
struct query *query_to_revoke(const char *chroot, const char *path,
                              const void *data, size_t size, int version);
void query_free(struct query *query);
/* On the I/O thread; `done` is called once, perhaps at once. */
void query_start(struct query *query, struct session *session,
                 void (*done)(void *self, struct query *query), void *self);

#pragma GCC visibility pop

#endif
