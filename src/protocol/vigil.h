/* A vigil: somebody waits for what becomes of a node, and has none there: at a
 * barrier, for whoever leads, for the other members of a double barrier to go.
 *
 * All vigils of a session at one node share one watch (watch.h), with each other
 * and with its contenders. */
#ifndef ZKLOCK_VIGIL_H
#define ZKLOCK_VIGIL_H

#include "contender.h"

#pragma GCC visibility push(hidden)

enum vigil_kind {
  VIGIL_GONE,  /* until the node is not there, or was not for a moment */
  VIGIL_THERE, /* until it is there */
  VIGIL_CROWD, /* until the directory has not `known` contenders; gone: none */
};

/* When one that waits, whatever it waits in, has waited for too long. */
struct deadline {
  struct timer timer;
  void (*due)(struct deadline *deadline);
};

struct vigil;

/* Its end: it is met, or `v->verdict` and `v->reason` say why not.  It may begin
 * another; the memory is its owner's again. */
typedef void vigil_handler(struct vigil *v, bool met);

struct vigil {
  const char *path; /* alive until it ends */
  enum vigil_kind kind;
  int known;   /* VIGIL_CROWD, which knows nothing of the next two */
  bool proves; /* what it sees is not older than its beginning, whoever leads */
  bool patient; /* false: an answer that it is not met yet is its end */
  int64_t until;
  vigil_handler *ended;
  void *owner;
  enum verdict verdict;
  int reason; /* ZooKeeper's code, or ours; or 0 */

  /* The rest is vigil.c's. */
  struct vigils *of; /* NULL: it has ended */
  struct vigil *next, **link;
  struct deadline deadline;
  struct queue *queue;      /* of the directory that the node is in, or is */
  struct watcher watcher;   /* (VIGIL_CROWD: while the directory is missing) */
  struct onlooker onlooker; /* VIGIL_CROWD */
  bool looks;               /* asks when the batch ends */
  bool unlisted;  /* CROWD: the directory was there, and had had no list */
  bool stale;     /* what is under way was asked before it had begun */
  uint64_t since; /* VIGIL_CROWD: an earlier list says nothing */
  int64_t seen;   /* the node that it has seen first; 0: none yet */
};

/* Those of a session. */
struct vigils {
  struct contenders *all;
  struct timers timers; /* of deadlines */
  struct vigil *first;
  struct chore flush;      /* at the end of a batch */
  struct op proof;         /* a committed no-op before what is read */
  struct refusals proving; /* where it was not committed */
};

void vigils_init(struct vigils *vigils, struct contenders *all);

/* Begins one, of which the first fields are filled.  False: no memory. */
bool vigil_begin(struct vigils *vigils, struct vigil *v);
/* Ends it, unless it has ended. */
void vigil_refuse(struct vigil *v, enum verdict why, int reason);

void deadline_set(struct vigils *vigils, struct deadline *deadline,
                  int64_t due);
/* What whoever has waited until now is told. */
enum verdict vigils_too_late(const struct vigils *vigils);
void vigils_run(struct vigils *vigils);
static inline int64_t vigils_due(const struct vigils *vigils) {
  return timers_due(&vigils->timers);
}

/* A new connection: nothing is watched any more. */
void vigils_connected(struct vigils *vigils);
/* One that does not wait for what it hopes for waits for no connection either. */
void vigils_disconnected(struct vigils *vigils);
/* What could not be sent may be now. */
void vigils_drive(struct vigils *vigils);
void vigils_refuse(struct vigils *vigils, enum verdict why, int reason);

#pragma GCC visibility pop

#endif
