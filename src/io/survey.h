/* A survey: who contends for a path?  How many children its directories have is
 * asked first, of each contender its Stat, and only then the data, as far as
 * there is room for them: what strangers have put there must not cost what they
 * like.  Of an election only the head is asked about, for many may want to know it,
 * and at the same moment. */
#ifndef ZKLOCK_SURVEY_H
#define ZKLOCK_SURVEY_H

#include "query.h"

#pragma GCC visibility push(hidden)

enum {
  SURVEY_CHILDREN = 50000, /* of a directory; none with more is listed */
  /* Of a child's name and the list's own parts, as it travels; about. */
  SURVEY_CHILD_BYTES = 64,
  /* A node's data of so many bytes are small.  Those are read first, as long as
   * all that was read is not more than the second. */
  SURVEY_SMALL = 64 * 1024,
  SURVEY_ALL_SMALL = 16 * 1024 * 1024,
  /* Data of more bytes than any lock's are not read; larger ones only while all
   * that was read is not more than the second. */
  SURVEY_LARGE = 1000000,
  SURVEY_ALL_LARGE = 4 * 1024 * 1024,
};

/* `with_data`: are they wanted?  NULL: no memory. */
struct query *survey_new(const char *chroot, const char *path, bool with_data);

/* The first of this role that a session owns; all, where their numbers do not tell
 * who is first. */
struct query *survey_of_head(const char *chroot, const char *path,
                             enum role role);

/* What reading so many bytes of a node takes of the window.  They may have
 * become more meanwhile, a packet's size at most: so sixteen of them are under
 * way, and what they bring is 16 MiB at worst. */
static inline int survey_cost(int size) {
  enum { LEAST = WINDOW_BYTES / 16 };
  return size > LEAST ? size : LEAST;
}

#pragma GCC visibility pop

#endif
