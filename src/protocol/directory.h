/* A directory at ZooKeeper as this session sees it. This module lists and
 * watches the children, watches single children, and deletes orphaned nodes of
 * this session. It also creates the directory, and replaces it when its
 * sequence counter is exhausted. It reports to the directory's owner through a
 * table of functions. */
#ifndef ZKLOCK_DIRECTORY_H
#define ZKLOCK_DIRECTORY_H

#include "watch.h"

#pragma GCC visibility push(hidden)

struct directory;
struct orphans;

struct directory_owner {
  /* Receives the list that the op numbered `serial` has requested. A missing
   * directory has an empty list. */
  void (*on_listed)(struct directory *d, const struct listing *listing,
                    uint64_t serial);
  /* Returns whether the child may be the node of a known contender. */
  bool (*knows)(struct directory *d, const char *name);
  /* Called when a list was refused. If `rc` is transient, it is repeated. */
  void (*on_unlisted)(struct directory *d, const char *what, int rc);
  /* Called when contenders cannot use the directory: the operation `what`
   * failed with `rc`. */
  void (*on_refused)(struct directory *d, const char *what, int rc);
  /* Called when the missing directory was created. */
  void (*on_made)(struct directory *d);
  /* Called when creating the directory failed. If `rc` is transient, the create
   * is repeated. */
  void (*on_not_made)(struct directory *d, const char *what, int rc);
  /* Called when the directory must be replaced (enum replacement), but is not
   * empty. */
  void (*on_occupied)(struct directory *d);
};

/* How zklock replaces a directory whose sequence counter is exhausted: all
 * contenders of this session leave it. The first session that finds the
 * directory empty deletes it. The sequence counter of the new directory begins
 * at 0. */
enum replacement {
  REPLACE_NONE,
  REPLACE_READ,     /* read the directory: zklock deletes none with data */
  REPLACE_DELETE,   /* the directory has no data: delete it */
  REPLACE_OCCUPIED, /* the directory was not empty: try again later */
};

/* The directory's own requests. They are allocated only while a request is
 * needed. A session can have thousands of locks, but few directories need
 * requests at a time. */
struct directory_requests {
  /* One list serves every contender whose create was sent before it. Two lists
   * may be in flight. So a new contender need not wait for the reply to a list
   * that was sent before its create. */
  struct op lists[2];
  struct op unwatch, mkdir, replace;
  char mkdir_path[]; /* the prefix of the path that is created now */
};

struct directory {
  const struct directory_owner *owner;
  struct pipeline *pipeline;
  struct watches
      watches; /* contains the path; calls `flush` when a watch has ended */

  struct orphans *orphans;             /* NULL: none yet */
  struct directory_requests *requests; /* NULL: no request in flight */
  int children_wanted; /* contenders and node waits that list at each change */
  /* The number of the connection in which the watch on the directory's children
   * is armed; 0: none. */
  unsigned children_armed_in;
  struct refusals making;  /* the pause after refused creates or deletes */
  struct refusals listing; /* the pause after refused lists */
  bool list_wanted;
  bool missing;
  enum replacement replacement;
  int64_t replacement_begun;
  size_t mkdir_length;    /* the length of the prefix to create */
  struct refusals doubts; /* the pause after contradictory replies */
};

/* Initializes a directory. `path` includes the chroot and stays valid as long
 * as the directory. `flush` is the owner's deferred call at the end of the
 * batch (session_run). It must call directory_flush. */
void directory_init(struct directory *d, const struct directory_owner *owner,
                    struct pipeline *pipeline, struct deferred_call *flush,
                    const char *path);
static inline const char *directory_path(const struct directory *d) {
  return d->watches.path;
}
static inline size_t directory_length(const struct directory *d) {
  return d->watches.length;
}
/* Frees an idle directory. */
void directory_free(struct directory *d);
/* Returns whether the directory has no request in flight, no watch and no
 * orphans. Only then can it be freed. */
bool directory_is_idle(const struct directory *d);

/* Schedules `flush` for the end of the batch of calls (session_run). */
void directory_wake(struct directory *d);
/* Sends the requests that the functions below have scheduled. `vacant`: a
 * contender of this session wants a node here, and no contender of this session
 * has a node here. Only then can the directory be replaced. */
void directory_flush(struct directory *d, bool vacant);
/* Called in a new connection. Forgets the watches and lists of the last one. */
void directory_connected(struct directory *d);
/* Stops sending requests. Called when the session is closed. */
void directory_closed(struct directory *d);

/* Requests a list at the end of the batch of calls (session_run). Does nothing
 * if a list is in flight that was requested after the op with the number
 * `after`. */
void directory_list(struct directory *d, uint64_t after);
/* Requests a list at the end of the batch of calls (session_run), even if a
 * list is in flight: that list may show an older state. */
void directory_list_again(struct directory *d);

/* Called when a server's replies contradict each other. If this happens several
 * times in a row, delays the next lists and creates, to avoid a flood of
 * requests. */
void directory_doubt(struct directory *d);

/* Makes zklock list the directory after each change of its children. If `more`,
 * counts one more contender that wants these lists. */
void directory_watch_children(struct directory *d, bool more);
/* Undoes directory_watch_children for one contender. */
void directory_unwatch_children(struct directory *d);
/* Called when a server has reported a change of the children. Lists the
 * children if a contender wants this. */
void directory_children_changed(struct directory *d);
/* Returns whether the watch of the children is armed: the server will report
 * their first change after the last list. */
bool directory_sees_children(const struct directory *d);

/* An orphan is a child that is named like this session's nodes, but that no
 * contender knows (orphans.c). directory_accepts_orphans returns whether more
 * orphans can be stored now. directory_remove_orphan deletes the orphan `name`
 * if this session owns it. */
bool directory_accepts_orphans(struct directory *d);
void directory_remove_orphan(struct directory *d, const char *name);
bool orphans_are_known(const struct directory *d);
/* Forgets the orphans that belong to other sessions or cannot be deleted. So
 * zklock reads their owners again when a list shows them. Called when the last
 * contender of this session has left the directory. */
void orphans_forget_ignored(struct directory *d);
/* Called by directory_flush. Sends requests, or requests another list. */
void orphans_flush(struct directory *d);
/* Forgets all orphans. Called when the session is closed. */
void orphans_closed(struct directory *d);

/* Creates the missing directory and its parents. */
void directory_make(struct directory *d);
/* Replaces the directory, because its sequence counter is exhausted. */
void directory_replace(struct directory *d);
static inline bool directory_is_being_replaced(const struct directory *d) {
  return d->replacement != REPLACE_NONE;
}

#pragma GCC visibility pop

#endif
