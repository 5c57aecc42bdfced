/* A directory at ZooKeeper, as this session sees it: its list of children and
 * the watch of that, the watches of single children, nodes of ours that nobody
 * knows; making it, and beginning anew where its counter has come to an end.
 * Whose it is hears of all that through a table of functions. */
#ifndef ZKLOCK_DIRECTORY_H
#define ZKLOCK_DIRECTORY_H

#include "backoff.h"
#include "watch.h"

#pragma GCC visibility push(hidden)

struct directory;
struct strays;

struct directory_owner {
  /* What the children were after the request that was numbered `serial`.  No
   * such directory: no children. */
  void (*listed)(struct directory *d, const struct listing *listing,
                 uint64_t serial);
  /* May this child be the node of one of ours, who knows of it? */
  bool (*claims)(struct directory *d, const char *name);
  /* Nobody has heard what the list would have told: it is asked for again. */
  void (*unlisted)(struct directory *d);
  /* Nobody may list, as `rc` says; which comes before it is refused. */
  void (*forbidden)(struct directory *d, int rc);
  /* Nobody can be served here: it `what`, because of `rc`. */
  void (*refused)(struct directory *d, const char *what, int rc);
  void (*made)(struct directory *d);
  /* (Where `rc` may pass it is tried again.) */
  void (*not_made)(struct directory *d, const char *what, int rc);
  /* It is to begin anew, and others are in it. */
  void (*occupied)(struct directory *d);
};

/* The numbers of a directory's children have come to their end: everybody of
 * ours leaves, and whoever finds it empty deletes it, so that it is made anew
 * and counts from 0. */
enum renewal {
  RENEWAL_NONE,
  RENEWAL_LOOK,     /* has the directory data of somebody's? */
  RENEWAL_DELETE,   /* it has none */
  RENEWAL_OCCUPIED, /* it was not empty: once more, after a while */
};

/* What a directory asks for itself.  They are there while it does, for of the
 * thousands of locks that a session may hold hardly one asks for anything. */
struct errands {
  /* A list answers every contender whose create was sent before it, so one is
   * enough for all; two may be in flight, so that a newcomer need not wait for
   * a list that was sent before its create. */
  struct op lists[2];
  struct op unwatch, mkdir, renew;
  char mkdir_path[]; /* so much of the path as is being made */
};

struct directory {
  const struct directory_owner *owner;
  struct wire *wire;
  struct watches watches; /* which know its path, and by what it is woken */

  struct strays *strays;      /* NULL: none yet */
  struct errands *errands;    /* NULL: nothing is under way */
  int children_wanted;        /* so many wait for any change here */
  unsigned children_armed_in; /* the connection whose server will tell it */
  unsigned children_left_in;  /* ... that may, though nobody wants it */
  struct refusals making;  /* of what is made and deleted here: it or a node */
  struct refusals listing; /* of lists, and of taking their watch away */
  bool list_wanted;
  bool missing;
  enum renewal renewal;
  int64_t renewal_begun;
  size_t mkdir_length;    /* how much of its path is to be made */
  struct backoff backoff; /* of lists and makings, where a server's answers
                             contradict each other */
};

/* `path`: chroot included, alive as long as the directory; `flush`: of the owner,
 * at the end of the batch, calls directory_flush. */
void directory_init(struct directory *d, const struct directory_owner *owner,
                    struct wire *wire, struct chore *flush, const char *path);
static inline const char *directory_path(const struct directory *d) {
  return d->watches.path;
}
static inline size_t directory_length(const struct directory *d) {
  return d->watches.length;
}
/* Its end: it is idle. */
void directory_free(struct directory *d);
/* Nothing is under way, and nothing is watched. */
bool directory_is_idle(const struct directory *d);

/* Something is to be looked at when the batch ends. */
void directory_wake(struct directory *d);
/* Sends what is wanted.  `vacant`: nobody of ours has a node here, and somebody
 * wants one. */
void directory_flush(struct directory *d, bool vacant);
/* A new connection: nothing of the last one's watches and lists is left. */
void directory_connected(struct directory *d);
/* The session is over: nothing is sent any more. */
void directory_closed(struct directory *d);

/* A list is wanted that is sent after the op numbered `after`. */
void directory_list(struct directory *d, uint64_t after);
/* The same, after all ops so far: what they have told may be stale. */
void directory_list_anew(struct directory *d);

/* A server has contradicted itself: what is asked next waits, if it does so again and
 * again. */
void directory_doubt(struct directory *d);

/* Lists are asked for again at each change: one more wants that, or one less. */
void directory_watch_children(struct directory *d, bool more);
void directory_unwatch_children(struct directory *d);
void directory_children_changed(struct directory *d);
/* Would we be told of a change since the last list? */
bool directory_sees_children(const struct directory *d);

/* This child's name is as ours are, and nobody of us knows it: if its owner is
 * our session, it goes.  Are any taken just now? */
bool directory_takes_strays(struct directory *d);
void directory_remove_stray(struct directory *d, const char *name);

/* Nobody of ours is here any more. */
void directory_leave(struct directory *d);

/* It does not exist: makes it, and what is above it. */
void directory_make(struct directory *d);
/* Its counter is at its end. */
void directory_renew(struct directory *d);
static inline bool directory_is_renewing(const struct directory *d) {
  return d->renewal != RENEWAL_NONE;
}

#pragma GCC visibility pop

#endif
