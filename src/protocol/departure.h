/* A departure: a member leaves a double barrier, together with all the others.
 * (The protocol is that of Curator's DistributedDoubleBarrier; departure.c tells
 * where it differs.) */
#ifndef ZKLOCK_DEPARTURE_H
#define ZKLOCK_DEPARTURE_H

#include "vigil.h"

#pragma GCC visibility push(hidden)

struct departure;

struct departure_owner {
  void *self;
  /* Our node is not needed any more: the hold that stands on it ends now. */
  void (*release)(void *self);
  /* All have left; or `d->verdict` and `d->reason` say why nobody waits for the
   * rest.  By then our node was released. */
  void (*ended)(void *self, bool all);
  /* Comes last: the memory is the owner's again. */
  void (*forgotten)(void *self);
};

enum departure_state {
  DEPARTURE_LISTS, /* who is there? */
  DEPARTURE_WAITS, /* one of them must go first */
  DEPARTURE_SHUTS, /* nobody else is left: `ready` goes */
  DEPARTURE_OVER,
};

struct departure {
  const char *path; /* of the barrier; these two are alive until it ends */
  const char *own;  /* the name of our node */
  int64_t until;
  bool patient; /* false: waits for nobody */
  struct departure_owner owner;
  enum verdict verdict;
  int reason;

  /* The rest is departure.c's. */
  struct departures *of;
  struct departure *next, **link;
  struct chore end; /* at the end of the step: is it forgotten? */
  enum departure_state state;
  bool inside; /* our node was not released */
  struct deadline deadline;
  struct op op;
  struct op proof; /* a committed no-op before the first list ... */
  bool proved;     /* ... and that is what it was */
  struct refusals backoff;
  struct vigil vigil;
  struct listing *others; /* whom it waits for; NULL: not known yet */
  char *spot;             /* the path of the one, or of `ready` */
};

/* Those of a session. */
struct departures {
  struct vigils *vigils;
  struct departure *first;
};

void departures_init(struct departures *all, struct vigils *vigils);
/* Begins one, of which the first fields are filled. */
void departure_begin(struct departures *all, struct departure *d);
/* Waits no more for the others, unless it is over. */
void departure_refuse(struct departure *d, enum verdict why, int reason);
/* There is a connection, or something could not be sent and may be now. */
void departures_drive(struct departures *all);
/* There is none any more: one that does not wait is over. */
void departures_disconnected(struct departures *all);
void departures_refuse(struct departures *all, enum verdict why, int reason);

#pragma GCC visibility pop

#endif
