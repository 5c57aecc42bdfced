/* What Lua waits for that is no lock: a vigil (vigil.h), or a member's departure
 * from a double barrier (departure.h), as both threads see it.
 *
 * Who may touch what: (c) constant once it was sent  (i) the I/O thread
 * (p) published: the I/O thread's until it posts the event, constant afterwards */
#ifndef ZKLOCK_AWAIT_H
#define ZKLOCK_AWAIT_H

#include "claim.h"
#include "protocol/session.h"

#pragma GCC visibility push(hidden)

struct await;

/* Who hears of it, on the I/O thread. */
struct await_port {
  void *self;
  void (*over)(void *self, struct await *await);
  void (*release)(void *self, struct claim *member);
};

struct await {
  struct subject subject;
  _Atomic int references;    /* the Lua handle, each queued message, and the
                                session until it has forgotten it */
  struct core *core;         /* (c) */
  uint64_t number;           /* (c) what the event calls it */
  struct claim *claim;       /* (c) the member that departs; NULL: a vigil */
  struct message begin, end; /* commands: the second one ends it */
  struct message over;       /* the event */
  const struct await_port *port; /* (i) */
  bool known;                    /* (i) to the session */
  bool met;                      /* (p) if not: */
  enum verdict verdict;          /* (p) */
  int reason;                    /* (p) */
  union { /* (i), but for what their owner fills in, (c) */
    struct vigil vigil;
    struct departure departure;
  };
  char path[]; /* (c) with the chroot */
};

/* NULL: no memory.  The deadline is `until`; who is not patient waits for nobody,
 * only for a server. */
struct await *await_new(const char *chroot, const char *path,
                        enum vigil_kind kind, int known, bool patient,
                        int64_t until);
/* Of a hold that was granted. */
struct await *await_departure(struct claim *member, bool patient,
                              int64_t until);
void await_keep(struct await *await);
void await_drop(struct await *await);

/* On the I/O thread.  `session` NULL: it takes no more. */
void await_begin(struct await *await, struct session *session, int64_t now,
                 const struct await_port *port);
void await_end(struct await *await, struct session *session, int64_t now);

#pragma GCC visibility pop

#endif
