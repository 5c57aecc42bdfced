/* A watch: one node of a directory that contenders of this session want to hear
 * of.  They share it: a waiter's own node is what the next one waits for.
 * Removed at the server when the last of them has left.
 *
 * Each of them has a slot for it, a watcher, with the function that it hears by.
 * Whoever has made the node hears first: it must know that it has lost it before
 * the next one knows that it is first. */
#ifndef ZKLOCK_WATCH_H
#define ZKLOCK_WATCH_H

#include <stddef.h>

#include "chore.h"
#include "op.h"
#include "wire.h"

#pragma GCC visibility push(hidden)

/* What became of it. */
enum watch_news {
  WATCH_ARMED, /* the server will tell; and the node was read */
  WATCH_GONE,
  WATCH_STALE, /* its data were written: nothing is armed any more */
  WATCH_HIDDEN /* it is there, and its ACL does not let us read it */
};

struct watcher;
/* `reply`: of the request that armed it, if it did. */
typedef void watch_handler(struct watcher *watcher, enum watch_news news,
                           const struct reply *reply);

/* What those of one kind have in common. */
struct watcher_role {
  watch_handler *hear;
  size_t place; /* how far inside its owner it is */
  bool first;   /* it hears before others */
};

struct watcher {
  struct watch *watch; /* NULL: none */
  struct watcher *next, **link;
  const struct watcher_role *role;
};

/* A request about a node.  It is there while it is under way: hardly one of the
 * thousands of nodes that a session may watch is just being asked about. */
struct enquiry {
  struct op op;
  char path[];
};

struct watch {
  struct watches *of;
  struct watch *next; /* of the same directory */
  struct watcher *watchers, **watchers_end;
  struct enquiry *enquiry; /* NULL: none */
  struct chore end;
  int64_t czxid;      /* the node that was read */
  int wanted;         /* by so many of them */
  unsigned armed_in;  /* the connection in which the server confirmed it */
  unsigned hidden_in; /* ... or said that the node is hidden */
  unsigned left_in;   /* ... in which it may have it still, though unwanted */
  uint32_t hash;
  char *data;   /* the beginning of the node's data, as read last ... */
  int size;     /* ... of so many; NULL and 0: it has none, or is ours */
  bool awaited; /* it need not exist: use `exists`, and the watch stays */
  bool revoked; /* and its data asked whoever made it to let go */
  char name[];
};

/* The watches of one directory. */
struct watches {
  struct wire *wire;
  struct chore *wake; /* the directory may be idle when one has gone */
  /* Is this child a node of this session? */
  bool (*is_ours)(const struct watches *watches, const char *name);
  struct watch *first;
  struct refusals backoff; /* where a server has refused to watch, or to stop */
  const char *path;        /* the directory's */
  size_t length;
};

void watcher_init(struct watcher *watcher, const struct watcher_role *role);
static inline void *watcher_owner(struct watcher *watcher) {
  return (char *)watcher - watcher->role->place;
}

/* Watches the child `name` in place of what was watched, NULL: nothing.  False:
 * no memory.  Nothing is asked of the server yet. */
bool watch_want(struct watcher *watcher, struct watches *watches,
                const char *name);
void watch_drop(struct watcher *watcher);

/* Asks the server for it unless that is done or under way; nothing without a
 * watch. */
void watch_arm(const struct watcher *watcher);
/* The same, and reads the node even if its watch is armed already. */
void watch_read(const struct watcher *watcher);
/* A server will tell us of what becomes of the node. */
bool watch_is_armed(const struct watcher *watcher);
/* A server has told us of it in this connection: the watch is armed, or polled. */
bool watch_is_known(const struct watcher *watcher);
/* The node is there, and its ACL does not let us read it: polled, never armed. */
bool watch_is_hidden(const struct watcher *watcher);
/* A request about the node is under way. */
bool watch_is_asking(const struct watcher *watcher);

/* The node need not be there: from now on WATCH_GONE leaves the watch armed, and
 * WATCH_STALE tells that it was made.  (Its data are not read.) */
void watch_await(const struct watcher *watcher);
/* Of one that is known, and not hidden: the node that was read; 0: it was not
 * there. */
int64_t watch_seen(const struct watcher *watcher);

/* It is armed, and it is that very node, not another of its name. */
bool watch_is_of(const struct watcher *watcher, int64_t czxid);

/* It is over: had that node been read by it? */
bool watch_was_of(const struct watcher *watcher, int64_t czxid);
/* Is it this child that is watched? */
bool watch_is_for(const struct watcher *watcher, const char *name);

/* When somebody of ours read it last its data asked to let go.  (Whoever joins a
 * watch that is armed has not heard that.) */
bool watch_is_revoked(const struct watcher *watcher);

/* Something is to be told of the child (as wire_trouble does), because of `rc`. */
void watch_say(const struct watcher *watcher, const char *message, int rc);

/* The child's name; NULL: no watch. */
const char *watch_name(const struct watcher *watcher);
/* The beginning of a child's data as anybody of ours has read them last, and the
 * size of all of them; 0: nobody has. */
int watch_data(const struct watches *watches, const char *name,
               const void **data);

/* The server's event. */
void watches_fired(struct watches *watches, const char *name,
                   enum watch_event event);
/* Time to poll those of nodes that may not be read (watch.c). */
void watches_look_again(struct watches *watches);
/* After a disconnection: those that nobody wants go. */
void watches_sweep(struct watches *watches);

#pragma GCC visibility pop

#endif
