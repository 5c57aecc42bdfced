/* What the files of the library's taming share: library.c (requests and what
 * comes back), library_st.c and library_mt.c (who turns it).  Nobody else
 * includes this. */
#ifndef ZKLOCK_LIBRARY_INSIDE_H
#define ZKLOCK_LIBRARY_INSIDE_H

#ifdef ZKLOCK_MT
#define THREADED
#endif
#include <zookeeper/zookeeper.h>

#include "library.h"

#include <pthread.h>

#pragma GCC visibility push(hidden)

#define MILLISECOND INT64_C(1000000)
#define FAREWELL (1500 * MILLISECOND)
/* No session lives for less. */
#define SHORTEST (10 * MILLISECOND)

/* Something that the library has reported. */
struct incident {
  struct incident *next;
  enum { INCIDENT_REPLY, INCIDENT_WATCH, INCIDENT_STATE } kind;
  uint64_t serial;
  int code; /* rc, type or state */
  int64_t czxid, owner, ctime_ms;
  int version;
  bool revoked;
  struct listing *listing;
  int size;    /* of the data; -1: none */
  char path[]; /* or the data */
};

struct library {
  /* (c) constant after library_new  (i) the I/O thread  (m) guarded by lock,
   * because `mt` calls back on threads of its own */
  const struct settings *settings;  /* (c) */
  struct library_listener listener; /* (c) */
  const struct wakeup *wakeup;      /* (c) */
  struct ACL *acl_entries;          /* (c) */
  struct ACL_vector acl;            /* (c) */

  zhandle_t *handle; /* (i) NULL: none */
  char server[80];   /* (i) the only address that it has; "": it has several */
  int64_t began;     /* (i) see library_began */
  bool fresh;        /* (i) it asks for a session, and has told of none */
  bool connected;    /* (i) `connected` was told, and not yet `lost` */
  bool parting;      /* (i) library_part was called, or `lost` told */
  int outstanding;   /* (i) requests without a reply yet */
  int handed;        /* (i) so many credentials the library has */

  pthread_mutex_t lock;
  struct incident *inbox, **inbox_end; /* (m) */
  bool overflow;            /* (m) no memory for something: see catch_up */
  struct identity identity; /* (m) of the last connection */
  int64_t timeout;          /* (m) likewise */
  char address[80];         /* (m) likewise; "": not known */

#ifndef ZKLOCK_MT
  int fd;        /* (i) the socket; the library's, so ask for its state first */
  int64_t due;   /* (i) when it wants to be turned */
  bool answered; /* (i) a request that was sent behind the credentials */
#else
  int ear;              /* (i) see library_mt.c; -1: none */
  int64_t failed_at;    /* the library's own thread's: see hear */
  int failures;         /* likewise */
  int addresses;        /* of the handle; constant while there is one */
  int64_t poison;       /* (m) the id that the handle has instead; 0: its own */
  int poisonings;       /* (m) so often was it given that */
  bool leaving;         /* (i) it has asked to be refused */
  bool sealed;          /* (i) poisoned while the connection lived */
  int pipe;             /* (i) by which its thread is woken; -1: unknown */
  uint64_t probes;      /* (i) so many were sent */
  uint64_t probe;       /* (i) the one under way; 0: none */
  int64_t probe_sent;   /* (i) */
  int probe_poisonings; /* (i) `poisonings` when it was sent */
  uint64_t probe_done;  /* (m) so many were answered */
  int probe_code;       /* (m) how the last one was */
#endif
};

/* The library whose callbacks this thread runs: completions are handed one
 * pointer, and that carries the request's serial. */
extern _Thread_local struct library *library_current;

/* library.c */
void library_append(struct library *library, struct incident *incident);
void library_discard(struct library *library);
/* About the server that a handle has; NULL, or "": it is not known which. */
void library_say_error(struct library *library, const char *server,
                       const char *text);
/* What has ended the session, and not only the connection, is told as that. */
bool library_is_error(int rc);
/* Closes the handle: nothing of it comes any more. */
void library_drop(struct library *library);
/* Is it something that only a server says?  (Who may not look at a node, for
 * example, is told so.) */
bool library_is_answer(int rc);
void library_tell_lost(struct library *library);
/* All credentials, if all were sent. */
void library_tell_accepted(struct library *library);
/* The handle has ended: drops it, and tells. */
void library_tell_over(struct library *library, enum library_end end);
/* Why there is no connection.  `greeted`: a server had accepted it. */
const char *library_error(int error, int rc, bool greeted);

/* The backend: library_st.c or library_mt.c. */
/* For a handle with these addresses. */
log_callback_fn backend_log(struct library *library, const char *addresses);
void backend_opened(struct library *library);
void backend_close(zhandle_t *handle);
void backend_dropped(struct library *library);
/* On the library's thread, when a connection is there. */
void backend_greeted(struct library *library, const clientid_t *id);
/* On ours, before it is told. */
void backend_connected(struct library *library);
void backend_farewell(struct library *library);
/* Gives up a handle that has no session to lose. */
void backend_abandon(struct library *library);
/* After everything that has come was told: is it over? */
void backend_look(struct library *library);

#pragma GCC visibility pop

#endif
