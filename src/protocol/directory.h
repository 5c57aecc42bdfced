/* A directory at ZooKeeper, as this session sees it: its list of children and
 * the watch of that, the watches of single children, nodes of ours that nobody
 * knows; making it, and beginning anew where its counter has come to an end.
 * Whose it is hears of all that through a table of functions. */
#ifndef ZKLOCK_DIRECTORY_H
#define ZKLOCK_DIRECTORY_H

#include "bystander.h"

#pragma GCC visibility push(hidden)

struct directory;
struct stray;

struct directory_owner {
  /* What the children were after the request that was numbered `serial`.  No
   * such directory: no children. */
  void (*listed)(struct directory *d, const struct listing *listing,
                 uint64_t serial);
  /* Nobody has heard what the list would have told. */
  void (*unlisted)(struct directory *d);
  /* Nobody can be served here: it `what`, because of `rc`. */
  void (*refused)(struct directory *d, const char *what, int rc);
  void (*made)(struct directory *d);
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

/* Nodes of ours that nobody knows, being removed. */
struct strays {
  struct stray *first, **end;
  struct stray *waiting; /* the first of them that is not being deleted yet */
  int known, flying;
  bool more;          /* the list had others */
  bool refused;       /* one of them is there still */
  int64_t not_before; /* then no more are taken */
};

struct directory {
  const struct directory_owner *owner;
  struct wire *wire;
  struct chore *flush; /* at the end of the batch: calls directory_flush */
  struct watches watches;
  struct strays strays;
  struct bystanders bystanders;

  /* A list answers every contender whose create was sent before it, so one is
   * enough for all; two may be in flight, so that a newcomer need not wait for
   * a list that was sent before its create. */
  struct op lists[2];
  bool list_wanted;
  int children_wanted;        /* so many wait for any change here */
  unsigned children_armed_in; /* the connection whose server will tell it */
  struct op unwatch;

  struct op mkdir, renew;
  enum renewal renewal;
  int64_t renewal_begun;
  bool missing;
  size_t mkdir_length; /* how much of `path` is being made */
  char *mkdir_path;    /* that much of it */
  char *path;          /* chroot included; both are the owner's memory */
  size_t length;
};

/* The memory for a path of this length, and for as much of it again. */
size_t directory_size(size_t length);
/* `memory`: so much, zeroed; `flush`: of the owner. */
void directory_init(struct directory *d, const struct directory_owner *owner,
                    struct wire *wire, struct quota *quota, struct chore *flush,
                    char *memory, const char *path);
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

/* Lists are asked for again at each change: one more wants that, or one less. */
void directory_watch_children(struct directory *d, bool more);
void directory_unwatch_children(struct directory *d);
void directory_children_changed(struct directory *d);

/* This child has our mark, and nobody of us knows it.  Are any taken just now? */
bool directory_takes_strays(struct directory *d);
void directory_remove_stray(struct directory *d, const char *name);

/* The child that this watcher watches is of nobody, and is not to be waited for:
 * watches it from now on, and lists show it as `unowned` for as long as that
 * watch is armed.  False: it has to be waited for (there is no memory or room,
 * or it is not of nobody, after all). */
bool directory_pass_over(struct directory *d, const struct watcher *watcher);
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
