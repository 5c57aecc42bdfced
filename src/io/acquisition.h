/* The acquisition of a lock, as both threads see it. The Lua thread creates the
 * record, the I/O thread runs its contender, and both read the atomics. A
 * granted acquisition is a hold. Each guard of the hold has a hold reference in
 * it.
 *
 * Local turns (option `local_turns`): the Lua thread passes a hold from one
 * acquisition to the next one of the same session. That is the hold's next
 * turn. The I/O thread knows one hold and only the number of its turns.
 *
 * Access to the fields: (c) constant once sent, (i) the I/O thread only, (l)
 * the Lua thread only, (a) atomic, (p) published: the I/O thread writes it
 * before `word` becomes HELD or REFUSED, and it is constant afterwards. So a
 * thread that has read one of these states may read the field. */
#ifndef ZKLOCK_ACQUISITION_H
#define ZKLOCK_ACQUISITION_H

#include <stdatomic.h>

#include "channel.h"
#include "protocol/contender.h"

#pragma GCC visibility push(hidden)

enum acquisition_state {
  ACQUISITION_WAITING,
  ACQUISITION_REFUSED,
  ACQUISITION_HELD,
  ACQUISITION_RELEASED,
  ACQUISITION_LOST /* plus an enum loss; must be last */
};

/* The parts of an acquisition's word: its state, whether its node may no longer
 * be passed on, and the number of local turns so far. */
enum {
  WORD_STATE = 15,
  WORD_ASKED_FOR = 16, /* another client wants the lock */
  WORD_TURN = 32,      /* added for each local turn */
};

enum { WAIT_BUCKETS = 28 };

/* One turn of a hold, or a wait for a turn. For the Lua thread only. */
struct turn {
  uint64_t number;         /* identifies it in events */
  int64_t asked, deadline; /* when the wait began and ends (NEVER) */
  int64_t taken;           /* when its user got it */
  int index;               /* how many turns the hold had before */
};

/* The facts on which all holds of a session depend. */
struct proof {
  _Atomic int64_t lease_until; /* (a) written by the I/O thread */
  _Atomic int state;           /* (a) enum session_state; see core_find_loss */
  _Atomic int held;            /* (a) number of acquisitions that are HELD */
};

/* A copy of struct blocker with its own data, cut to what messages show. */
struct shown_blocker {
  int size, shown;
  bool holds;
  char data[];
};

struct core;

struct acquisition {
  struct subject subject;
  _Atomic int references; /* (a) of the Lua handle, each queued message, and the
                           * contender until it is forgotten */
  int hold_refs;          /* (l) number of guards */
  struct core *core;      /* (c) its session */
  struct proof
      *proof;      /* (c) may outlive the acquisition: the handle keeps it */
  uint64_t number; /* (c) number of its first turn */
  uint64_t speaks_for; /* (l) number of its current turn */
  int64_t asked;       /* (c) when the wait began */
  const char *path;    /* (c) */
  uint16_t prefix;     /* (c) length of the chroot in path */
  uint16_t length;     /* (c) its length before PERMITS */

  /* (a) The state, and more: see above. HELD is left by a compare-and-swap. A
   * release, the I/O thread and the Lua thread's clock can each try to end a
   * hold, but only one of them succeeds. The reason of a loss is part of the
   * word, so no thread sees a loss without its reason. Later attempts change
   * nothing.
   *
   * All turns of a hold share this word, and each turn begins with a
   * compare-and-swap on it. So whatever ends the hold ends its current turn. A
   * lost node is never passed on, and the guard of the current turn sees the
   * loss. */
  _Atomic int word;

  union {
    struct {              /* HELD and the states after it */
      int64_t hold_until; /* (p) NEVER: no max_hold */
      int64_t token;      /* (p) */
      /* (a) Up to this turn, no other node was in the queue, as far as is
       * known. 0: not known. */
      _Atomic int alone_until;
    };
    struct {                          /* REFUSED */
      enum refusal_code refusal_code; /* (p) */
      int reason; /* (p) ZooKeeper's code or zklock's; 0: none */
      int ahead;  /* (p) contenders ahead; -1: at least one */
      struct shown_blocker *blocker; /* (p) the node waited for; or NULL */
      struct other_kind other;       /* (p) with REFUSED_CONFLICT */
    };
  };

  /* Commands. A granted acquisition reuses `begin` to ask for its watch.
   * Events: a lost hold is never released, so `ended` carries either EVENT_LOST
   * or EVENT_GONE. */
  struct message begin, cancel, release;
  struct message decided, revoked, ended;

  bool looks; /* (l) COMMAND_LOOK_AROUND was sent */

  bool report_gone; /* (i) EVENT_GONE is requested and not yet posted */
  bool removed;     /* (i) no node of the acquisition is left on a server */
  int stays;        /* (c) once posted: why the node was not deleted; or 0 */
  bool joined;      /* (i) the session refers to the contender */

  struct contender contender; /* (i), except its options (c), and its denial and
                                 its node's name (p); followed by its node's
                                 path, `path` and the data */
};

struct acquisition *acquisition_new(struct proof *proof, const char *chroot,
                                    const char *path, const void *data,
                                    size_t size,
                                    const struct contender_options *options,
                                    news_handler *tell);
void acquisition_keep(struct acquisition *acquisition);
void acquisition_drop(struct acquisition *acquisition);

/* Called by the I/O thread to publish a grant or a refusal. */
void acquisition_grant(struct acquisition *acquisition);
void acquisition_refuse(struct acquisition *acquisition, enum refusal_code why,
                        int reason);
/* Called by the I/O thread: the node must not be passed on any more. */
void acquisition_ask_for(struct acquisition *acquisition);
/* Called by the I/O thread for a hold. acquisition_be_alone: no other node is
 * in the queue. acquisition_have_company: from the current turn on, another
 * node may be in the queue. */
void acquisition_be_alone(struct acquisition *acquisition);
void acquisition_have_company(struct acquisition *acquisition);
/* Changes HELD to `next`. Returns false if the hold had ended. Any thread. */
bool acquisition_end_hold(struct acquisition *acquisition, int next);
/* Return the state in the word, and the reason of a loss. Any thread. */
enum acquisition_state acquisition_said(const struct acquisition *acquisition);
enum loss acquisition_said_loss(
    const struct acquisition *acquisition); /* LOSS_NONE: not lost */

/* Functions for the Lua thread. `turn` is the index of a turn. A turn that is
 * not the current one counts as ACQUISITION_RELEASED. */

/* Returns the name of the hold's node. */
const char *acquisition_node(struct acquisition *acquisition);
/* Returns ACQUISITION_LOST plus the reason for a loss, so compare with >=. */
enum acquisition_state acquisition_state(const struct acquisition *acquisition,
                                         int turn);
/* Returns why the hold was lost, or LOSS_NONE. */
enum loss acquisition_loss(const struct acquisition *acquisition, int turn);
/* Returns why the local clock has ended the hold, if nothing else has ended
 * it. */
enum loss acquisition_overdue(const struct acquisition *acquisition, int turn);
/* Returns whether the lock is provably held at this moment. No I/O. */
bool acquisition_is_held(const struct acquisition *acquisition, int turn);
/* Returns for how many nanoseconds the hold lasts without a reply from a
 * server. */
int64_t acquisition_lease(const struct acquisition *acquisition, int turn);
/* Begins the turn after `from`, for `to`. Returns false, and changes nothing,
 * in these cases: `from` was the last turn, the hold has no valid lease or
 * connection, the hold has a time limit or loss condition of its own, another
 * client asks for the lock, or the deadline of `to` has passed. */
bool acquisition_pass_on(struct acquisition *acquisition,
                         const struct turn *from, struct turn *to);
/* Returns true once, when the I/O thread should check whether another client
 * waits. */
bool acquisition_looks_around(struct acquisition *acquisition);

/* Returns the bucket that counts a wait of so many nanoseconds: below 2^n
 * microseconds. */
int wait_bucket(int64_t waited);

#pragma GCC visibility pop

#endif
