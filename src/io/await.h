/* An await is a wait that acquires no lock. The two threads of a session share
 * this record. There are two kinds of awaits. A node wait waits for a change of
 * a node (node_wait.h). A barrier leave makes a member leave a double barrier
 * (node_wait.h).
 *
 * Access to the fields: (c) constant once the await was sent, (i) the I/O
 * thread only, (p) published: the I/O thread writes the field until it posts
 * EVENT_AWAITED, and the field is constant afterwards. */
#ifndef ZKLOCK_AWAIT_H
#define ZKLOCK_AWAIT_H

#include "core.h"

#pragma GCC visibility push(hidden)

struct await {
  /* The Lua object has a reference, and the session has one until it forgets
   * the await. */
  struct subject subject;
  struct core *core; /* (c) the session */
  uint64_t number;   /* (c) identifies the await in EVENT_AWAITED */
  /* (c) The member that leaves; NULL: this is a node wait. */
  struct acquisition *acquisition;
  struct message begin, end; /* commands: start and cancel */
  struct message over;       /* EVENT_AWAITED */
  bool known;                /* (i) the session refers to the await */
  bool met; /* (p) the wait succeeded; if not, the next two say why */
  enum refusal_code refusal_code; /* (p) */
  int reason;                     /* (p) */
  union { /* (i); (c) the fields that the constructor sets */
    struct node_wait node_wait;
    struct barrier_leave barrier_leave;
  };
  char path[]; /* (c) the node's path, with the chroot */
};

/* Creates a node wait with the deadline `until`. `known`: see node_wait.h. If
 * `patient` is false, the wait ends after the server's first replies, whether
 * or not the node has changed. Returns NULL if memory runs out. */
struct await *await_new(const char *chroot, const char *path,
                        enum node_wait_kind kind, int known, bool patient,
                        int64_t until);
/* Creates a barrier leave of `member`, an acquisition whose lock was granted.
 * `until` is the deadline. If `patient` is false, the leave does not wait for
 * other members. Returns NULL if there is no memory. */
struct await *await_barrier_leave(struct acquisition *member, bool patient,
                                  int64_t until);

/* Start and cancel the wait. Both functions run on the I/O thread. If the
 * session is closing, the wait fails at once. */
void await_begin(struct await *await, int64_t now);
void await_end(struct await *await, int64_t now);

#pragma GCC visibility pop

#endif
