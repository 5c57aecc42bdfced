/* A lane: this session's contenders on one path, in order of arrival, and the
 * requests that serve them all: one list, one parent. */
#ifndef ZKLOCK_LANE_H
#define ZKLOCK_LANE_H

#include "contender.h"
#include "watch.h"

#pragma GCC visibility push(hidden)

struct session;
struct stray;

/* Of one lane only so many contenders have a node; the others queue here,
 * in order.  So they do where the session has no room (room.h). */
enum { LANE_ENTERED_MAX = 1000 };

/* The numbers of a directory's children have come to their end: everybody of
 * ours leaves, and whoever finds it empty deletes it, so that it is made anew
 * and counts from 0. */
enum renewal {
  RENEWAL_NONE,
  RENEWAL_LOOK,    /* has the directory data of somebody's? */
  RENEWAL_DELETE,  /* it has none */
  RENEWAL_CROWDED, /* it was not empty: again, after a while */
};

struct lane {
  struct session *session;
  struct lane *next;          /* in its bucket of the session's table */
  struct lane *older, *newer; /* lanes of the session */
  struct lane *dirty_next;    /* in the session's list of lanes to flush */
  bool dirty;
  bool crowded, urgent; /* somebody waits for room, urgently: see room.h */
  struct lane *crowded_next, *crowded_previous; /* likewise */

  int64_t creates_from; /* none is sent before: one of them may be too large */

  struct contender *first, *last;
  struct contender *parked; /* nobody before it is parked */
  int entered;
  int impatient; /* parked ones that do not wait for others */
  int sharing;   /* of them, those that have a node for several in turn */
  struct watch *watches;
  struct stray *strays; /* nodes of ours that nobody knows, being removed */

  /* Lists.  A list answers every contender whose create was sent before it,
   * so one is enough for all; two may be in flight, so that a newcomer need
   * not wait for a list that was sent before its create. */
  struct op lists[2];
  bool list_wanted;
  int children_wanted;        /* contenders that wait for any change here */
  unsigned children_armed_in; /* the connection whose server will tell it */
  struct op unwatch;

  /* The directory. */
  struct op mkdir, renew;
  enum renewal renewal;
  bool parent_missing;
  size_t mkdir_length; /* how much of `path` is being made */
  char *mkdir_path;    /* that much of it */

  size_t length;
  char path[]; /* the directory, chroot included; mkdir_path follows it */
};

struct lane *lane_new(struct session *session, const char *path);
bool lane_idle(const struct lane *lane); /* nothing left: may be freed */
void lane_free(struct lane *lane);

void lane_add(struct lane *lane, struct contender *c);
void lane_drop(struct lane *lane, struct contender *c);
/* The first parked contender that may take a shared node over. */
struct contender *lane_next_sharing(const struct lane *lane);
/* Lets parked contenders enter as far as there is room. */
void lane_admit(struct lane *lane);

/* A list is wanted that is sent after the op numbered `after`. */
void lane_want_list(struct lane *lane, uint64_t after);
/* The same, after all ops so far: what they have told may be stale. */
void lane_want_new_list(struct lane *lane);
/* Lists are asked for again at each change of the directory. */
void lane_watch_children(struct lane *lane, struct contender *c);
void lane_unwatch_children(struct lane *lane, struct contender *c);
void lane_children_changed(struct lane *lane);
void lane_want_parent(struct lane *lane);
void lane_renew(struct lane *lane);
void lane_flush(struct lane *lane);

void lane_connected(struct lane *lane);
void lane_drive(struct lane *lane);
/* The one that holds; NULL: nobody of ours. */
const struct contender *lane_holder(const struct lane *lane);
struct contender *lane_find(const struct lane *lane, uint64_t id);

#pragma GCC visibility pop

#endif
