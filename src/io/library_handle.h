/* One handle of the library at a time, as the files see it that tame it:
 * library.c (opening, telling), library_requests.c (what is asked, and what
 * comes back), library_st.c and library_mt.c (who turns it).  Nobody else
 * includes this. */
#ifndef ZKLOCK_LIBRARY_HANDLE_H
#define ZKLOCK_LIBRARY_HANDLE_H

#include <zookeeper/zookeeper.h>

#include "library_inbox.h"
#include "library_listener.h"
#include "settings.h"

#pragma GCC visibility push(hidden)

#define MILLISECOND INT64_C(1000000)
/* So long a server is given to hear that the session ends. */
#define FAREWELL (1500 * MILLISECOND)

struct backend; /* library_st.c's or library_mt.c's */

/* (c) constant after library_new  (i) the I/O thread */
struct library {
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

  struct inbox inbox;      /* (marks of its own) */
  struct backend *backend; /* (c) (marks of its own) */
};

/* Closes it: nothing of it comes any more. */
void handle_close(struct library *library);

/* About the server that a handle has; NULL, or "": it is not known which.
 * Any thread. */
void handle_tell_error(struct library *library, const char *server,
                       const char *text);
void handle_tell_lost(struct library *library);
/* All credentials, if all were sent. */
void handle_tell_accepted(struct library *library);

#pragma GCC visibility pop

#endif
