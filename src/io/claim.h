/* A claim: one acquisition as both threads see it.  The Lua thread makes it,
 * the I/O thread runs its contender, both read the atomics.  A claim that was
 * granted is a hold, and each of the guards that stand on it has a share.
 *
 * Local turns (option `handoffs`): the Lua thread gives a hold from one acquisition
 * of its session to the next, which is that hold's next turn.  The I/O thread knows
 * of one hold, and of its turns only how many there were.
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

/* The word of a claim: its state, is its node not to be passed on any more, and
 * how many local turns it has had on the Lua thread. */
enum {
  WORD_STATE = 15,
  WORD_ASKED_FOR = 16, /* somebody wants the lock */
  WORD_TURN = 32,      /* one of them */
};

enum { WAIT_BUCKETS = 28 };

/* One turn of a hold, or a wait for one; for the Lua thread alone. */
struct turn {
  uint64_t number;         /* what events call it */
  int64_t asked, deadline; /* when; until when it waits (NEVER) */
  int64_t taken;           /* since when its user has had it */
  int index;               /* how many turns the hold has had before */
};

/* What a whole session's claims stand on. */
struct proof {
  _Atomic int64_t lease_until; /* (a) written by the I/O thread */
  _Atomic int state;           /* (a) enum session_state; see core_find_loss */
  _Atomic int held;            /* (a) how many of them are HELD */
};

/* The same as struct rival, with data of its own, as far as they are shown. */
struct shown_rival {
  int size, shown;
  bool holds;
  char data[];
};

struct core;

struct claim {
  struct subject subject;
  _Atomic int references; /* (a) the Lua handle, each queued message, the
                               contender until it is forgotten */
  int shares;             /* (l) guards that stand on it */
  struct core *core;      /* (c) whose it is */
  struct proof *proof;    /* (c) outlives us: the handle keeps it */
  uint64_t number;        /* (c) of its first turn */
  uint64_t speaks_for;    /* (l) the number of the turn that it has now */
  int64_t asked;          /* (c) when */
  const char *path;       /* (c) */
  uint16_t prefix;        /* (c) length of the chroot in it */
  uint16_t length;        /* (c) of it without a semaphore's directory */

  /* (a) enum claim_state, and more.  HELD is left by a compare-and-swap, so of
   * all who would end a hold one does, on either thread: the release, the I/O
   * thread's word, or the Lua thread's own clock.  The reason of a loss is part
   * of that word: nobody sees a loss without it, and who comes second leaves it.
   *
   * All turns of a hold have this one word.  Each turn begins with one more
   * compare-and-swap on it.  So whatever ends the hold ends it for the turn that
   * it has then: no node is passed on that was lost, and the guard that has it
   * sees the loss. */
  _Atomic int word;

  union {
    struct {              /* HELD, and what follows */
      int64_t hold_until; /* (p) NEVER: no max_hold */
      int64_t token;      /* (p) */
      /* (a) After so many turns no other node was in the queue, as far as is
       * known.  0: that is not known. */
      _Atomic int alone_until;
    };
    struct {                /* REFUSED */
      enum verdict verdict; /* (p) */
      int reason; /* (p) ZooKeeper's code, or ours; 0: none is needed */
      int ahead;  /* (p) how many were ahead of us; -1: one at least */
      struct shown_rival *rival; /* (p) whom we waited for; or NULL */
      struct other_kind other;   /* (p) with VERDICT_CONFLICT */
    };
  };

  /* Commands.  One that has begun to hold may want its watch.  Events: a hold
   * that is lost is not released, so of one either LOST is told or GONE. */
  struct message begin, cancel, release;
  struct message decided, revoked, ended;

  bool looks; /* (l) the I/O thread has been asked to look around */

  bool report_gone; /* (i) EVENT_GONE is wanted, and was not posted */
  bool removed;     /* (i) no node of it is left on a server */
  int stays;        /* (c) once that is posted: why the node is not; or 0 */
  bool joined;      /* (i) the session knows our contender */

  struct contender contender; /* (i), but for its options, which are (c), and
                                  its denial and its node's name, (p); its
                                  node's path, `path` and the data follow */
};

struct claim *claim_new(struct proof *proof, const char *chroot,
                        const char *path, const void *data, size_t size,
                        const struct contender_options *options,
                        news_handler *tell);
void claim_keep(struct claim *claim);
void claim_drop(struct claim *claim);

/* The I/O thread's word, of what its contender has told. */
void claim_grant(struct claim *claim);
void claim_refuse(struct claim *claim, enum verdict why, int reason);
/* The I/O thread: its node is not to be passed on any more. */
void claim_ask_for(struct claim *claim);
/* The I/O thread, of a hold: no other node is in the queue; or perhaps one is, from
 * the turn on that it has now. */
void claim_be_alone(struct claim *claim);
void claim_have_company(struct claim *claim);
/* Either thread: from HELD to `next`; false: another was first. */
bool claim_end_hold(struct claim *claim, int next);
/* Either thread: what its word says. */
enum claim_state claim_said(const struct claim *claim);
enum loss claim_said_loss(
    const struct claim *claim); /* LOSS_NONE: it was not */

/* The Lua thread.  `turn` is the index of one of its turns: of one that it has no
 * more it says CLAIM_RELEASED. */

/* Of a hold: its node's name. */
const char *claim_node(struct claim *claim);
/* CLAIM_LOST: with the reason, so it is that or more. */
enum claim_state claim_state(const struct claim *claim, int turn);
/* Why it was lost; LOSS_NONE if it was not. */
enum loss claim_loss(const struct claim *claim, int turn);
/* What has ended the hold by our clock alone, if that is all that has. */
enum loss claim_overdue(const struct claim *claim, int turn);
/* Do we hold, provably, right now?  No I/O. */
bool claim_is_held(const struct claim *claim, int turn);
/* Nanoseconds for which that stands without hearing from a server. */
int64_t claim_lease(const struct claim *claim, int turn);
/* Begins the turn after `from`, which becomes `to`'s.  False: it is not to be, and
 * nothing has changed: that was the last one, the hold is not known to stand or has
 * a time of its own, another client asks for the lock, or `to` has waited for too
 * long. */
bool claim_pass_on(struct claim *claim, const struct turn *from,
                   struct turn *to);
/* Is the I/O thread to look now whether another client waits?  Once. */
bool claim_looks_around(struct claim *claim);

/* Where a wait of so many nanoseconds is counted: below 2^n microseconds. */
int wait_bucket(int64_t waited);

#pragma GCC visibility pop

#endif
