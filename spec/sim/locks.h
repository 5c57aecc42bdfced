/* The locks of a schedule: the paths that users contend for. */
#ifndef SIM_LOCKS_H
#define SIM_LOCKS_H

#include "protocol/contender.h"

struct world;
struct znode;

#define FAMILIES(X)         \
  X(MUTEX, "mutex")         \
  X(RWLOCK, "rwlock")       \
  X(SEMAPHORE, "semaphore") \
  X(UNFAIR, "unfair")       \
  X(ELECTION, "election")   \
  X(BARRIER, "barrier")     \
  X(DOUBLE, "double-barrier")

enum family {
#define X(name, text) FAMILY_##name,
  FAMILIES(X)
#undef X
      FAMILY_COUNT
};

enum { LOCKS_MAX = 2, LOCK_PATH_MAX = 48 };

struct lock {
  enum family family;
  enum layout layout;
  int permits;     /* FAMILY_DOUBLE: so many members make it complete */
  int local_turns; /* of those whose owner may pass the node on */
  char path[LOCK_PATH_MAX];
  char place[LOCK_PATH_MAX]; /* where its holders' nodes are */
  int directory, gates; /* paths: of `place`, and of a semaphore's mutexes */
  int64_t token, writer_token; /* the newest that were granted */
  bool tampered;               /* somebody has deleted nodes of it */
  bool made;                   /* its directory was there from the beginning */
  int acts_left; /* FAMILY_BARRIER: acts of its keeper yet to come */
};

extern const char *const family_names[FAMILY_COUNT];

/* The lock that this process uses. */
int lock_of_process(struct world *w, int process);
/* Draws the locks, and makes some of their directories. */
void locks_make(struct world *w);
/* The lock whose directory this is; NOBODY: none. */
int lock_of_directory(const struct world *w, int path);

/* By the order of their creation, whatever their numbers: does `other`, which
 * is in the same directory, keep `own` waiting? */
bool node_blocks(const struct znode *own, const struct znode *other);

/* What lets the members of a double barrier in. */
bool is_ready(const struct world *w, const struct znode *node);
/* The members that this directory shows at this view. */
int members_at(const struct world *w, int directory, int view);

#endif
