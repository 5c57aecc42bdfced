/* A watch: one node of a directory that contenders of this session want to hear
 * of.  They share it: a waiter's own node is what the next one waits for.
 * Removed at the server when the last of them has left.
 *
 * Each of them has a slot for it, a watcher, with the function that it hears by.
 * Whoever has made the node hears first: it must know that it has lost it before
 * the next one knows that it is first. */
#ifndef ZKLOCK_WATCH_H
#define ZKLOCK_WATCH_H

#include "chore.h"
#include "op.h"
#include "quota.h"
#include "wire.h"

#pragma GCC visibility push(hidden)

/* What became of it. */
enum watch_news {
  WATCH_ARMED, /* the server will tell; and the node was read */
  WATCH_GONE,
  WATCH_STALE /* its data were written: nothing is armed any more */
};

struct watcher;
/* `reply`: of the request that armed it, if it did. */
typedef void watch_handler(struct watcher *watcher, enum watch_news news,
                           const struct reply *reply);

struct watcher {
  struct watch *watch; /* NULL: none */
  struct watcher *next, **link;
  watch_handler *hear;
  void *owner;
  bool first; /* it hears before others */
};

struct watch {
  struct watches *of;
  struct watch *next; /* of the same directory */
  struct watcher *watchers, **watchers_end;
  int wanted;        /* by so many of them */
  unsigned armed_in; /* the connection in which the server confirmed it */
  bool unreadable;   /* the node's ACL forbids reading: use `exists` */
  bool unowned;      /* when it was read last no session owned the node */
  struct op op;
  struct chore end;
  size_t quota;        /* so much it takes: none where the node is ours */
  int size;            /* of the node's data ... */
  char data[OP_SHOWN]; /* ... and their beginning, as read last */
  uint64_t hash;
  char path[];
};

/* The watches of one directory. */
struct watches {
  struct wire *wire;
  struct quota *quota;
  struct chore *wake; /* the directory may be idle when one has gone */
  struct watch *first;
  const char *path; /* the directory's */
  size_t length;
};

void watcher_init(struct watcher *watcher, watch_handler *hear, void *owner,
                  bool first);

/* Watches the child `name` in place of what was watched, NULL: nothing.  False:
 * no memory.  Nothing is asked of the server yet. */
bool watch_want(struct watcher *watcher, struct watches *watches,
                const char *name);
void watch_drop(struct watcher *watcher);
/* The watch of the one becomes the other's, which has none. */
void watch_hand_over(struct watcher *from, struct watcher *to);

/* Asks the server for it unless that is done or under way; nothing without a
 * watch. */
void watch_arm(const struct watcher *watcher);
/* The same, and reads the node even if its watch is armed already. */
void watch_read(const struct watcher *watcher);
bool watch_is_armed(const struct watcher *watcher);

/* The same of a child, whoever watches it. */
bool watches_know(const struct watches *watches, const char *name);
/* Armed, and the node was read: it is no session's.  It stays so as long as the
 * watch is armed: whose a node is never changes, and if it were another by now
 * the server would have told us first that this one is gone. */
bool watch_is_of_nobody(const struct watcher *watcher);

/* The child's name; NULL: no watch. */
const char *watch_name(const struct watcher *watcher);
/* The beginning of a child's data as anybody of ours has read them last, and the
 * size of all of them; 0: nobody has. */
int watch_data(const struct watches *watches, const char *name,
               const void **data);

/* The server's event. */
void watches_fired(struct watches *watches, const char *name,
                   enum watch_event event);
/* After a disconnection: those that nobody wants go. */
void watches_sweep(struct watches *watches);

#pragma GCC visibility pop

#endif
