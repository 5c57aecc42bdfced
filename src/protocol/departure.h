/* A departure: a member leaves a double barrier together with all other
 * members.  The protocol is that of Curator's DistributedDoubleBarrier;
 * departure.c lists the differences. */
#ifndef ZKLOCK_DEPARTURE_H
#define ZKLOCK_DEPARTURE_H

#include "vigil.h"

#pragma GCC visibility push(hidden)

struct departure;

struct departure_owner {
  void *self;
  /* Called when the member's node is not needed any more: the hold ends now. */
  void (*release)(void *self);
  /* Called at the end.  `all`: all members have left.  Otherwise `d->verdict`
   * and `d->reason` say why the wait was given up.  The node was released
   * before. */
  void (*ended)(void *self, bool all);
  /* Called last: the memory belongs to the owner again. */
  void (*forgotten)(void *self);
};

enum departure_state {
  DEPARTURE_LISTS, /* lists the members */
  DEPARTURE_WAITS, /* waits until another member's node is gone */
  DEPARTURE_SHUTS, /* is the last member: deletes `ready` */
  DEPARTURE_OVER,
};

struct departure {
  /* Of the barrier; `path` and `own` stay valid until `ended`. */
  const char *path;
  const char *own; /* the name of the member's node */
  int64_t until;
  bool patient; /* false: does not wait for others */
  struct departure_owner owner;
  enum verdict verdict;
  int reason;

  /* Private to departure.c: */
  struct departures *of;
  struct departure *next, **link;
  struct chore end; /* at the end of the step: may it be forgotten? */
  enum departure_state state;
  bool inside; /* its node was not released yet */
  struct deadline deadline;
  struct op op;
  struct op proof; /* a committed no-op before the first list */
  bool proved;     /* `proof` was committed */
  struct refusals backoff;
  struct vigil vigil;
  struct listing *others; /* the members to wait for; NULL: not listed yet */
  char *spot;             /* the path of the awaited node, or of `ready` */
};

/* The departures of a session. */
struct departures {
  struct vigils *vigils;
  struct departure *first;
};

void departures_init(struct departures *all, struct vigils *vigils);
/* Begins a departure.  The caller has filled the public fields. */
void departure_begin(struct departures *all, struct departure *d);
/* Gives up the wait for the other members, unless the departure is over. */
void departure_refuse(struct departure *d, enum verdict why, int reason);
/* Sends what is due.  Called in a new connection, and when a request that
 * failed can be sent again. */
void departures_drive(struct departures *all);
/* Ends the departures that do not wait: the connection is lost. */
void departures_disconnected(struct departures *all);
void departures_refuse(struct departures *all, enum verdict why, int reason);

#pragma GCC visibility pop

#endif
