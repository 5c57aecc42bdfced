/* One handle of the library at a time, as the files see it that tame it:
 * library.c (opening, telling), library_requests.c (what is asked, and what
 * comes back), library_answers.c (can it be true?), library_st.c and
 * library_mt.c (who turns it).  Nobody else includes this. */
#ifndef ZKLOCK_LIBRARY_HANDLE_H
#define ZKLOCK_LIBRARY_HANDLE_H

#include <zookeeper/zookeeper.h>

#include "library_answers.h"
#include "library_inbox.h"
#include "library_listener.h"
#include "settings.h"

#pragma GCC visibility push(hidden)

#define MILLISECOND INT64_C(1000000)
/* So long a server is given to hear that the session ends. */
#define FAREWELL (1500 * MILLISECOND)

/* The parts of a rehearsal (library_rehearsal.h). */
enum { REHEARSED = 5 };
/* And those of a heartbeat (library_heartbeat.h). */
enum { BEATS = 2 };

/* Memory that the library writes to while a request is under way: the head of an
 * allocated block.  It is not given back by who asks: where the library says that
 * nothing was sent, for it has no memory, it may call back all the same. */
struct slate {
  struct slate *next;
  _Atomic bool is_done; /* whoever calls back touches it no more */
};

struct backend; /* library_st.c's or library_mt.c's */

/* (c) constant after library_new  (i) the I/O thread */
struct library {
  const struct settings *settings;  /* (c) */
  struct library_listener listener; /* (c) */
  const struct wakeup *wakeup;      /* (c) */
  struct ACL *acl_entries;          /* (c) */
  struct ACL_vector acl;            /* (c) of what we make ... */
  struct ACL_vector acl_shared;     /* (c) ... and others may use */

  zhandle_t *handle; /* (i) NULL: none */
  char server[80];   /* (i) the only address that it has; "": it has several */
  int64_t began;     /* (i) see library_began */
  bool fresh;        /* (i) it asks for a session, and has told of none */
  bool connected;    /* (i) `connected` was told, and not yet `lost` */
  bool parting;      /* (i) library_part was called, or `lost` told */
  bool left;         /* (i) it was parted with for what it has told */
  bool odd;          /* (i) a loss was told, and there is a connection */
  bool stranger;     /* (i) the server wants authentication that we have not */
  int outstanding;   /* (i) requests without a reply yet */
  int handed;        /* (i) so many credentials the library has */

  struct slate *slates; /* (i) */

  /* The library's while one is under way: what has come of its parts. */
  zoo_op_result_t rehearsed[REHEARSED], beaten[BEATS];

  struct inbox inbox;      /* (marks of its own) */
  struct backend *backend; /* (c) (marks of its own) */
  struct answers answers;  /* (i) */
};

/* Closes it: nothing of it comes any more. */
void handle_close(struct library *library);
/* Frees it with the handle, if handle_free_done has not before. */
void handle_keep(struct library *library, struct slate *slate);
/* Frees what is done. */
void handle_free_done(struct library *library);

/* About the server that a handle has; NULL, or "": it is not known which.
 * Any thread. */
void handle_tell_error(struct library *library, const char *server,
                       const char *text);
void handle_tell_lost(struct library *library);
/* What is told of the end, of which the library says `end`. */
enum library_end handle_end(const struct library *library,
                            enum library_end end);
/* All credentials, if all were sent. */
void handle_tell_accepted(struct library *library);

#pragma GCC visibility pop

#endif
