/* A vigil: a wait for a change of a node, without a node of its own.  It is
 * used at a barrier, for the end of a leader, and for the other members of a
 * double barrier to leave.
 *
 * All vigils of a session at one node share one watch (watch.h), with each
 * other and with contenders. */
#ifndef ZKLOCK_VIGIL_H
#define ZKLOCK_VIGIL_H

#include "contender.h"

#pragma GCC visibility push(hidden)

enum vigil_kind {
  VIGIL_GONE,  /* until the node is missing, or was for a moment */
  VIGIL_THERE, /* until the node exists */
  VIGIL_CROWD, /* until the number of contenders is not `known` */
};

/* The deadline of a vigil or a departure. */
struct deadline {
  struct timer timer;
  void (*due)(struct deadline *deadline);
};

struct vigil;

/* Called at the end.  `met`: the wait has succeeded; otherwise `v->verdict` and
 * `v->reason` say why not.  It may begin another vigil: the memory is the
 * owner's again. */
typedef void vigil_handler(struct vigil *v, bool met);

struct vigil {
  const char *path; /* valid until it ends */
  enum vigil_kind kind;
  int known;    /* the count of VIGIL_CROWD, which ignores the next two */
  bool proves;  /* only reads behind a round committed since it began count */
  bool patient; /* false: ends if the first read does not meet it */
  int64_t until;
  vigil_handler *ended;
  void *owner;
  enum verdict verdict;
  int reason; /* ZooKeeper's code, zklock's, or 0 */

  /* Private to vigil.c: */
  struct vigils *of; /* NULL: it has ended */
  struct vigil *next, **link;
  struct deadline deadline;
  struct queue *queue;    /* of the directory that has the node, or is it */
  struct watcher watcher; /* VIGIL_CROWD: used while the directory is missing */
  struct onlooker onlooker; /* for VIGIL_CROWD */
  bool looks;               /* must read the node at the end of the batch */
  bool unlisted;  /* CROWD: a read found the directory, no list has yet */
  bool stale;     /* the read in flight was sent before it began */
  uint64_t since; /* VIGIL_CROWD: ignore lists with this serial or less */
  int64_t seen;   /* czxid of the node that it has seen first; 0: none */
};

/* The vigils of a session. */
struct vigils {
  struct contenders *all;
  struct timers timers; /* of deadlines */
  struct vigil *first;
  struct chore flush;      /* at the end of a batch */
  struct op proof;         /* a committed no-op before the reads */
  struct refusals proving; /* after refusals of `proof` */
};

void vigils_init(struct vigils *vigils, struct contenders *all);

/* Begins a vigil.  The caller has filled the public fields.  False: no
 * memory. */
bool vigil_begin(struct vigils *vigils, struct vigil *v);
/* Ends the vigil, unless it has ended. */
void vigil_refuse(struct vigil *v, enum verdict why, int reason);

void deadline_set(struct vigils *vigils, struct deadline *deadline,
                  int64_t due);
/* Returns the verdict for a wait whose deadline has passed. */
enum verdict vigils_too_late(const struct vigils *vigils);
void vigils_run(struct vigils *vigils);
static inline int64_t vigils_due(const struct vigils *vigils) {
  return timers_due(&vigils->timers);
}

/* Reads all nodes again: in a new connection nothing is watched. */
void vigils_connected(struct vigils *vigils);
/* Ends the vigils that do not wait: the connection is lost. */
void vigils_disconnected(struct vigils *vigils);
/* Sends again the requests that could not be sent. */
void vigils_drive(struct vigils *vigils);
void vigils_refuse(struct vigils *vigils, enum verdict why, int reason);

#pragma GCC visibility pop

#endif
