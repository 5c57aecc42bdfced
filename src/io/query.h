/* Questions to the servers beside the protocol: is this hold still good, who
 * contends for this path; and one wish, to write a node's data.  A query runs
 * on the I/O thread and is answered by one event. */
#ifndef ZKLOCK_QUERY_H
#define ZKLOCK_QUERY_H

#include "claim.h"

#pragma GCC visibility push(hidden)

enum query_kind {
  QUERY_VERIFY,     /* of a claim: is its node there, and ours? */
  QUERY_CONTENDERS, /* of a path: who contends? */
  QUERY_WRITE,      /* of a path: set the data, if the version is still this */
};

/* A contender, as a server knows it. */
struct item {
  struct query *query;
  struct op read;
  char *path; /* whole */
  enum role role;
  int32_t sequence;
  bool there;
  int64_t czxid, owner, ctime_ms;
  int version;
  char *data; /* NULL: none */
  int size;
};

struct query {
  struct message ask, answer;
  enum query_kind kind;
  uint64_t number;
  struct session *session;
  struct claim *claim; /* QUERY_VERIFY */
  char *path;
  char *data; /* QUERY_WRITE */
  int size, version;

  void (*done)(void *self, struct query *query);
  void *self;
  struct op ops[4];
  char *paths[4];
  int pending;
  bool reading;
  struct item *items;
  int count;

  int rc;       /* the last refusal; REPLY_LOST: nobody answered */
  bool gone;    /* QUERY_VERIFY: the node is not there, or not ours */
  bool missing; /* QUERY_CONTENDERS: the path does not exist */
};

struct query *query_new(enum query_kind kind, const char *chroot,
                        const char *path, const char *data, size_t size,
                        int version, struct claim *claim);
void query_free(struct query *query);
/* On the I/O thread; `done` is called once, perhaps at once. */
void query_start(struct query *query, struct session *session,
                 void (*done)(void *self, struct query *query), void *self);

#pragma GCC visibility pop

#endif
