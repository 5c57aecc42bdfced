/* A wait that acquires no lock, as both threads see it. It is either a node
 * wait (node_wait.h) or the barrier leave of a member from a double barrier
 * (barrier_leave.h).
 *
 * Access to the fields: (c) constant once sent, (i) the I/O thread only, (p)
 * published: written by the I/O thread until it posts the event, constant
 * afterwards. */
#ifndef ZKLOCK_AWAIT_H
#define ZKLOCK_AWAIT_H

#include "acquisition.h"
#include "protocol/session.h"

#pragma GCC visibility push(hidden)

struct await;

/* Receives the results, on the I/O thread. */
struct await_port {
  void *self;
  void (*over)(void *self, struct await *await);
  void (*release)(void *self, struct acquisition *member);
};

struct await {
  struct subject subject;
  _Atomic int references; /* of the Lua handle, each queued message, and the
                           * session until it has forgotten the await */
  struct core *core;      /* (c) */
  uint64_t number;        /* (c) identifies it in the event */
  struct acquisition
      *acquisition;          /* (c) the departing member; NULL: a node wait */
  struct message begin, end; /* commands: start and cancel */
  struct message over;       /* the event */
  const struct await_port *port;  /* (i) */
  bool known;                     /* (i) the session refers to it */
  bool met;                       /* (p) false: see refusal code and reason */
  enum refusal_code refusal_code; /* (p) */
  int reason;                     /* (p) */
  union { /* (i), except (c) for what the constructor fills in */
    struct node_wait node_wait;
    struct barrier_leave barrier_leave;
  };
  char path[]; /* (c) with the chroot */
};

/* Returns NULL if there is no memory. The deadline is `until`. Unless
 * `patient`, it waits for replies of a server only, not for the node to
 * change. */
struct await *await_new(const char *chroot, const char *path,
                        enum node_wait_kind kind, int known, bool patient,
                        int64_t until);
/* Returns a barrier leave of `member`, an acquisition whose lock was
 * granted. */
struct await *await_barrier_leave(struct acquisition *member, bool patient,
                                  int64_t until);
void await_keep(struct await *await);
void await_drop(struct await *await);

/* Both run on the I/O thread. `session` is NULL if the session is closing. */
void await_begin(struct await *await, struct session *session, int64_t now,
                 const struct await_port *port);
void await_end(struct await *await, struct session *session, int64_t now);

#pragma GCC visibility pop

#endif
