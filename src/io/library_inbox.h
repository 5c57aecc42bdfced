/* The inbox: what the library has reported and nobody has been told yet.
 *
 * `mt` calls back on threads of its own; this is the only thing of ours that
 * they fill (and the poison of library_mt.c, under the same lock).  `st` calls
 * back on the I/O thread, but in the middle of its tidying up after a lost
 * connection, where a new request would be lost as well.  So in both the
 * protocol runs later, when the inbox is emptied. */
#ifndef ZKLOCK_LIBRARY_INBOX_H
#define ZKLOCK_LIBRARY_INBOX_H

#include <pthread.h>
#include <stddef.h>

#include "library_listener.h"
#include "wakeup.h"

#pragma GCC visibility push(hidden)

/* Something that the library has reported. */
struct incident {
  struct incident *next;
  enum { INCIDENT_REPLY, INCIDENT_WATCH, INCIDENT_STATE } kind;
  uint64_t serial;
  int code; /* rc, type or state */
  int64_t czxid, owner, ctime_ms, mtime_ms;
  int version, length, children;
  bool revoked;
  const char *doubt; /* what is wrong with it; NULL: nothing */
  struct listing *listing;
  int size;    /* of the data; -1: none */
  char text[]; /* the path, or the data */
};

/* What is to be told of a connection is kept here, not in an incident: there
 * may be no memory for that. */
struct greeting {
  struct identity identity;
  int64_t timeout;
  char address[80]; /* "": not known */
};

/* (c) constant after inbox_init  (m) guarded by lock */
struct inbox {
  const struct wakeup *wakeup; /* (c) of the I/O thread; NULL: it is awake */
  pthread_mutex_t lock;
  struct incident *first, **end; /* (m) */
  bool overflow;                 /* (m) there was no memory for something */
  struct greeting greeting;      /* (m) of the last connection */
};

/* Of the handle whose callbacks this thread runs: completions are handed one
 * pointer, and that carries the request's serial. */
extern _Thread_local struct inbox *inbox_current;

void inbox_init(struct inbox *inbox, const struct wakeup *wakeup);
void inbox_free(struct inbox *inbox);

/* `text`: a path, or data; a NUL is put behind it.  NULL: no memory. */
struct incident *incident_new(int kind, int code, const char *text,
                              size_t size);
void incident_free(struct incident *incident);

/* Takes it over; NULL: there was no memory for it. */
void inbox_append(struct inbox *inbox, struct incident *incident);
/* All that has come, in order, each to be freed; `*overflow`: not all. */
struct incident *inbox_take(struct inbox *inbox, bool *overflow);
/* Throws it away; the number of replies that there were. */
int inbox_discard(struct inbox *inbox);

#pragma GCC visibility pop

#endif
