/* A watch: one node of a directory that contenders of this session observe.
 * Contenders share a watch, because each waiter's own node is the node that the
 * next waiter watches. The watch is removed at the server when its last watcher
 * has left.
 *
 * A contender joins a watch by a watcher, which has a function that receives
 * the news. The contender that created the node is called first. It must know
 * that it has lost its node before the next contender learns that it is
 * first. */
#ifndef ZKLOCK_WATCH_H
#define ZKLOCK_WATCH_H

#include <stddef.h>

#include "deferred_call.h"
#include "op.h"
#include "pipeline.h"

#pragma GCC visibility push(hidden)

/* What happened to the node. */
enum watch_news {
  WATCH_ARMED, /* the node was read, and the server will send an event */
  WATCH_GONE,
  WATCH_STALE, /* the data were written, and the watch has fired */
  WATCH_HIDDEN /* it exists, but its ACL forbids reading */
};

struct watcher;
/* Receives news of the node. `reply` is the reply to the read that brought the
 * news. It is NULL if an event of the server brought the news. */
typedef void watch_handler(struct watcher *watcher, enum watch_news news,
                           const struct reply *reply);

/* The properties that all watchers of one kind share. */
struct watcher_role {
  watch_handler *on_news;
  size_t place; /* the offset of the watcher in its owner */
  bool first;   /* this watcher is called before the others */
};

struct watcher {
  struct watch *watch; /* NULL: the watcher watches no node */
  struct watcher *next, **link;
  const struct watcher_role *role;
};

/* A request about a node. It is allocated only while it is in flight. A session
 * can watch thousands of nodes, but reads few of them at a time. */
struct watch_request {
  struct op op;
  char path[];
};

struct watch {
  struct watches *of;
  struct watch *next; /* the next watch of the same directory */
  struct watcher *watchers, **watchers_end;
  struct watch_request *request; /* NULL: no request is in flight */
  struct deferred_call end;
  int64_t czxid;      /* the czxid of the node that was read */
  int wanted;         /* the number of watchers */
  unsigned armed_in;  /* the connection in which the server confirmed the
                       * watch */
  unsigned hidden_in; /* the connection in which the node was hidden */
  uint32_t hash;
  char *data;   /* the first bytes of the node's data, as read last */
  int size;     /* the size of all the data; 0: none, or the own node */
  bool awaited; /* the node can be missing: watch it by `exists` */
  bool revoked; /* the data ask the holder to release the lock */
  char name[];
};

/* The watches of one directory. */
struct watches {
  struct pipeline *pipeline;
  struct deferred_call *wake; /* called when a watch has ended */
  /* Returns whether this child is a node of this session. */
  bool (*is_ours)(const struct watches *watches, const char *name);
  struct watch *first;
  struct refusals backoff; /* the pause after a refused watch */
  const char *path;        /* the path of the directory */
  size_t length;
};

void watcher_init(struct watcher *watcher, const struct watcher_role *role);
static inline void *watcher_owner(struct watcher *watcher) {
  return (char *)watcher - watcher->role->place;
}

/* Makes `watcher` leave its node and watch the child `name`; NULL: no node.
 * Sends no request yet. Returns false if there is no memory. */
bool watch_want(struct watcher *watcher, struct watches *watches,
                const char *name);
/* Removes `watcher` from its watch. A watch without watchers ends. */
void watch_drop(struct watcher *watcher);

/* Reads the node, and so arms its watch. Does nothing if watch_is_known returns
 * true, if a read is in flight, or if the watcher has no watch. */
void watch_arm(const struct watcher *watcher);
/* Reads the node, even if its watch is armed. */
void watch_read(const struct watcher *watcher);
/* Returns whether a server will report the node's next change. */
bool watch_is_armed(const struct watcher *watcher);
/* Returns whether a server has reported the node in this connection, and no
 * event has come since. Then the watch is armed, or zklock polls the node. */
bool watch_is_known(const struct watcher *watcher);
/* Returns whether the node exists but its ACL forbids reading. zklock polls
 * such a node, and does not rely on its watch. */
bool watch_is_hidden(const struct watcher *watcher);
/* Returns whether a request about the node is in flight. */
bool watch_is_asking(const struct watcher *watcher);

/* Allows the node to be missing. From now on WATCH_GONE leaves the watch armed,
 * and WATCH_STALE means that the node was created. zklock does not read the
 * node's data. */
void watch_await(const struct watcher *watcher);
/* Returns the czxid of the node that was read. Returns 0 if the node is
 * missing, hidden, or not known in this connection. */
int64_t watch_seen(const struct watcher *watcher);

/* Returns whether the watch is armed, for the node with this czxid. */
bool watch_is_of(const struct watcher *watcher, int64_t czxid);

/* Returns whether the last read found the node with this czxid. The watch may
 * have fired since. */
bool watch_was_of(const struct watcher *watcher, int64_t czxid);
/* Returns whether `watcher` watches the child `name`. */
bool watch_is_for(const struct watcher *watcher, const char *name);

/* Returns whether the last read found a request to release the lock. A watcher
 * that joins an armed watch later receives no news of that request. */
bool watch_is_revoked(const struct watcher *watcher);

/* Logs `message` with the child's path and `rc` (pipeline_warn). */
void watch_warn(const struct watcher *watcher, const char *message, int rc);

/* Returns the name of the watched child; NULL: no watch. */
const char *watch_name(const struct watcher *watcher);
/* Sets `*data` to the start of the data of the child `name`, as the last read
 * returned it: at most OP_SHOWN bytes. Returns the full size of the data.
 * Returns 0 if zklock has not read the data. */
int watch_data(const struct watches *watches, const char *name,
               const void **data);

/* Reports a server's event to the watchers of a child. The event has ended the
 * watch at the server. */
void watches_fired(struct watches *watches, const char *name,
                   enum watch_event event);
/* Reads each polled node again. zklock polls the nodes that the session has no
 * permission to read, and those that can be missing: a server may send no event
 * for them. */
void watches_poll(struct watches *watches);
/* Removes the watches that have no watchers. Called after a disconnection, and
 * to retry failed removals. */
void watches_sweep(struct watches *watches);

#pragma GCC visibility pop

#endif
