/* A claim: one acquisition as both threads see it.  The Lua thread makes it,
 * the I/O thread runs its contender, both read the atomics.  A claim that was
 * granted is a hold, and each of the guards that stand on it has a share.
 *
 * Who may touch what: (c) constant once it was sent  (i) the I/O thread
 * (l) the Lua thread  (a) atomic  (p) published: written by the I/O thread
 * before `state` says HELD or REFUSED and constant afterwards, so whoever has
 * read that state may read it. */
#ifndef ZKLOCK_CLAIM_H
#define ZKLOCK_CLAIM_H

#include <stdatomic.h>

#include "channel.h"
#include "protocol/contender.h"

#pragma GCC visibility push(hidden)

enum claim_state {
  CLAIM_WAITING,
  CLAIM_REFUSED,
  CLAIM_HELD,
  CLAIM_RELEASED,
  CLAIM_LOST /* + enum loss; the last one */
};

/* What a whole session's claims stand on. */
struct proof {
  _Atomic int64_t lease_until; /* (a) written by the I/O thread */
  _Atomic int state;           /* (a) enum session_state; see core_find_loss */
  _Atomic int held;            /* (a) how many of them are HELD */
};

struct core;

struct claim {
  _Atomic int references; /* (a) the Lua handle, each queued message, the
                               contender until it is forgotten */
  struct core *core;      /* (c) whose it is */
  struct proof *proof;    /* (c) outlives us: the handle keeps it */
  uint64_t number;        /* (c) what events call it */
  int64_t asked;          /* (c) when */
  size_t prefix;          /* (c) length of the chroot in `path` */
  size_t length;          /* (c) of `path` without a semaphore's directory */
  char *path, *data;      /* (c) */

  /* (a) enum claim_state.  HELD is left by a compare-and-swap, so of all who
   * would end a hold one does, on either thread: the release, the I/O thread's
   * word, or the Lua thread's own clock.  The reason of a loss is part of that
   * word: nobody sees a loss without it, and who comes second leaves it. */
  _Atomic int state;

  /* HELD */
  int64_t hold_until;      /* (p) NEVER: no max_hold */
  int64_t token;           /* (p) */
  int turn;                /* (p) local turns before this one */
  char node[NAME_MAX_OWN]; /* (p) */
  /* REFUSED */
  enum verdict verdict; /* (p) */
  int reason;           /* (p) ZooKeeper's code, or ours; 0: none is needed */
  struct denial denial; /* (p) what that was a reason for */
  int bytes; /* (p) of the request that was too large, if that is the reason */
  int ahead; /* (p) how many were ahead of us */
  char rival[OP_SHOWN]; /* (p) whom we waited for: struct rival, its data cut */
  int rival_size;       /* (p) */
  bool rival_holds;     /* (p) */

  struct message acquire, cancel, release, watch; /* commands */
  struct message decided, lost, revoked, gone;    /* events */
  int shares;       /* (l) guards that stand on it */
  bool report_gone; /* (i) `gone` is wanted, and was not posted */
  bool removed;     /* (i) no node of it is left on a server */
  int stays;        /* (c) once `gone` is posted: why the node is not; or 0 */
  bool joined;      /* (i) the session knows our contender */

  struct contender *gate;     /* (i) KIND_PERMIT: its memory */
  struct contender contender; /* (i); its node's path, `path`
                                  and `data` follow */
};

struct claim *claim_new(struct proof *proof, const char *chroot,
                        const char *path, const void *data, size_t size,
                        const struct contender_options *options,
                        news_handler *tell);
void claim_keep(struct claim *claim);
void claim_drop(struct claim *claim);

/* The I/O thread's word, HELD or REFUSED, after all else of it is written. */
void claim_decide(struct claim *claim, enum claim_state state);
/* Either thread: from HELD to `next`; false: another was first. */
bool claim_end_hold(struct claim *claim, int next);

/* Why it was lost; LOSS_NONE if it was not. */
enum loss claim_loss(const struct claim *claim);
/* What has ended the hold by our clock alone, if that is all that has. */
enum loss claim_overdue(const struct claim *claim);

/* Do we hold, provably, right now?  No I/O; any thread. */
bool claim_is_held(const struct claim *claim);
/* Nanoseconds for which that stands without hearing from a server. */
int64_t claim_lease(const struct claim *claim);

#pragma GCC visibility pop

#endif
