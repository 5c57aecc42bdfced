/* An await is a wait that acquires no lock. The two threads of a session share
 * this record. There are two kinds of awaits. A node wait waits for a change of
 * a node (node_wait.h). A barrier leave makes a member leave a double barrier
 * (barrier_leave.h).
 *
 * Access to the fields: (c) constant once the await was sent, (i) the I/O
 * thread only, (p) published: the I/O thread writes the field until it posts
 * EVENT_AWAITED, and the field is constant afterwards. */
#ifndef ZKLOCK_AWAIT_H
#define ZKLOCK_AWAIT_H

#include "acquisition.h"
#include "protocol/session.h"

#pragma GCC visibility push(hidden)

struct await;

/* The functions that an await calls on the I/O thread. `over` is called when
 * the await has ended. `release` is called to release the member's hold. */
struct await_port {
  void *self;
  void (*over)(void *self, struct await *await);
  void (*release)(void *self, struct acquisition *member);
};

struct await {
  struct subject subject;
  /* The number of references to this struct. The Lua object has one, each
   * queued message has one, and the session has one until it forgets the
   * await. */
  _Atomic int references;
  struct core *core; /* (c) the session */
  uint64_t number;   /* (c) identifies the await in EVENT_AWAITED */
  /* (c) The member that leaves; NULL: this is a node wait. */
  struct acquisition *acquisition;
  struct message begin, end;     /* commands: start and cancel */
  struct message over;           /* EVENT_AWAITED */
  const struct await_port *port; /* (i) */
  bool known;                    /* (i) the session refers to the await */
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
void await_keep(struct await *await);
void await_drop(struct await *await);

/* Start and cancel the wait. Both functions run on the I/O thread. If the
 * session is closing, the caller passes NULL as `session`, and the wait fails
 * at once. */
void await_begin(struct await *await, struct session *session, int64_t now,
                 const struct await_port *port);
void await_end(struct await *await, struct session *session, int64_t now);

#pragma GCC visibility pop

#endif
