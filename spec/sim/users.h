/* The users: code that acquires locks, holds them for a while and believes
 * that it does, downgrades, gives up, releases. */
#ifndef SIM_USERS_H
#define SIM_USERS_H

#include "protocol/contender.h"

struct world;
struct process;

enum { ACQUISITIONS_MAX = 96, DOWNGRADES_UNTIL = 48 };

struct acquisition {
  struct contender *contender, *gate; /* NULL: forgotten */
  struct process *process;
  int number;
  int previous; /* of the same process; NOBODY: none */
  int user, lock;
  enum kind kind;
  int writer;       /* the acquisition that it downgrades; NOBODY: none */
  int64_t deadline; /* by the process's clock */
  int64_t hold;
  int64_t max_hold, hold_until;
  int local_turns;
  bool patient, lose_on_suspend;
  bool granted, refused, lost, revoked, uncontended, removed, forgotten;
  bool released;
  bool ended;          /* the user goes on to the next */
  bool departs;        /* a member: it has begun to leave with the others */
  unsigned invited_in; /* the connection that will tell it to come in, */
  int64_t invited_at, invited_as; /* for this node of its; 0: none has to */
  int node;                       /* what it was granted for */
  int64_t token;
  int64_t granted_at;
  unsigned enters_in; /* the connection in which it may have made its node */
  enum contender_state last_state;
  uint64_t last_id; /* of its node, when it last entered */
};

/* By its process's clock as it stands now, even if it is paused: what the
 * code of the user would see in its first microsecond. */
bool believes(const struct world *w, const struct acquisition *a);

void users_reset(struct world *w, struct process *p);
/* Once all are known: is this schedule a concert? */
void users_decide_concert(struct world *w);
/* To act: which user; else: which acquisition. */
void user_wants(struct world *w, struct process *p, int what, int which);
/* The same in a batch that is under way. */
void user_does(struct world *w, struct process *p, int what, int which);
/* One of them gives up. */
void user_cancels(struct world *w);
/* A user's wait has ended; its barrier leave has. */
void user_goes_on(struct world *w, struct process *p, int user, bool at_once);
void user_has_left(struct world *w, int acquisition);
bool users_are_done(const struct world *w, const struct process *p);

#endif
