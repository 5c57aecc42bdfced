/* What the library hands over, before anybody believes it: is it what was asked
 * for, and can it be true?  A server that says otherwise is broken, or none; its
 * connection is given up (library.c), and whatever is unanswered is unknown.
 * What a server says of others' nodes is its word, and is believed: here is only
 * what contradicts itself. */
#ifndef ZKLOCK_LIBRARY_ANSWERS_H
#define ZKLOCK_LIBRARY_ANSWERS_H

#include <zookeeper/zookeeper.h>

#include "library_inbox.h"
#include "protocol/name.h"

#pragma GCC visibility push(hidden)

/* One of ZooKeeper's, of whatever version; what is none is a system error: the
 * words of others are the operating system's, or ours (op.h). */
int answers_code(int rc);

/* Each gives NULL, or what is wrong in words.  These look at what the library
 * has read, on whatever thread: it says "ok", too, where a vector or a buffer
 * ends before its time. */
const char *answers_doubt_names(const struct String_vector *names);
const char *answers_doubt_listing(const struct listing *listing);
const char *answers_doubt_stat(const struct Stat *stat);
const char *answers_doubt_data(const char *value, int length,
                               const struct Stat *stat);

/* What one connection must answer: the contenders' creates that are under way,
 * in order.  (All of it is the I/O thread's.) */
struct answers {
  struct expected *first, **end, **last;
  int64_t session;
  int64_t newest; /* czxid of a node of ours that it has told of; 0: of none */
};

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
