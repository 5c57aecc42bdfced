/* The acquisition of a lock: the record that both threads of a session share.
 * The Lua thread creates it, the I/O thread runs its contender, and both read
 * the atomics. Once the lock is granted, the acquisition is called a hold. Each
 * guard of the hold refers to it by a hold reference.
 *
 * Local turns (option `local_turns`): the Lua thread passes a hold to the next
 * waiter in the same session, without a request to a server. Each user's time
 * with the hold is one turn. The I/O thread knows one hold and only the number
 * of its turns.
 *
 * Access to the fields: (c) constant once the acquisition was sent, (i) the I/O
 * thread only, (l) the Lua thread only, (a) atomic, (p) published: the I/O
 * thread writes it before `word` becomes HELD or REFUSED, and it is constant
 * afterwards. So a thread that has read one of these states is allowed to read
 * the field. */
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
  ACQUISITION_LOST /* the reason (enum loss) is added; must be last */
};

/* The parts of an acquisition's `word`: its state, a flag that forbids further
 * local turns, and the number of local turns so far. */
enum {
  WORD_STATE = 15,
  WORD_NO_TURNS = 16, /* another client wants the lock: local turns end */
  WORD_TURN = 32,     /* added to `word` for each local turn */
};

enum { WAIT_BUCKETS = 28 };

/* One turn of a hold, or a wait for a turn. Used by the Lua thread only. */
struct turn {
  uint64_t number; /* identifies the turn in events */
  int64_t waiting_since,
      deadline;       /* when the wait began; when it ends, or NEVER */
  int64_t held_since; /* when its user got the hold */
  int index;          /* number of turns that the hold had before */
};

/* The facts of a session that prove its holds. */
struct proof {
  _Atomic int64_t lease_until; /* (a) the lease's end, by the I/O thread */
  _Atomic int state; /* (a) the session's state (enum session_state) */
  _Atomic int held;  /* (a) number of acquisitions that are HELD */
};

/* A copy of struct blocker (the node ahead), with the data that messages show.
 * `size` is the size of the node's data, `shown` is the size of the copied
 * part. */
struct shown_blocker {
  int size, shown;
  bool holds;
  char data[];
};

struct core;

struct acquisition {
  struct subject subject;
  /* (a) The number of references: one of the Lua object, one of each queued
   * message, and one of the contender until the session forgets it. */
  _Atomic int references;
  int hold_refs;     /* (l) number of guards */
  struct core *core; /* (c) the session */
  /* (c) The session's proof. The Lua object keeps this memory, which can
   * outlive the session. */
  struct proof *proof;
  uint64_t number;       /* (c) the number of the first turn */
  uint64_t current_turn; /* (l) the number of the current turn */
  int64_t waiting_since; /* (c) when the wait began */
  const char *path;      /* (c) */
  uint16_t prefix;       /* (c) length of the chroot in `path` */
  uint16_t length;       /* (c) length of `path` without PERMITS */

  /* (a) The state, flag and number of turns: see WORD_STATE above. A thread
   * ends a hold by a compare-and-swap of HELD. A release, the I/O thread and
   * the Lua thread's clock can each try to end a hold. Only the first attempt
   * succeeds; later attempts change nothing. The reason of a loss is part of
   * the word, so no thread sees a loss without its reason.
   *
   * All turns of a hold share this word, and each turn begins with a
   * compare-and-swap on it. So a loss or release of the hold also ends its
   * current turn. A lost node is never passed on, and the guard of the current
   * turn sees the loss. */
  _Atomic int word;

  union {
    struct {              /* in HELD and in later states */
      int64_t hold_until; /* (p) when max_hold ends the hold; or NEVER */
      int64_t token;      /* (p) */
      /* (a) The last turn in which the hold's node was known to be alone in the
       * queue. INT_MAX: it is alone now. 0: unknown. */
      _Atomic int uncontended_until;
    };
    struct {                          /* in the state REFUSED */
      enum refusal_code refusal_code; /* (p) */
      int reason; /* (p) code of ZooKeeper or zklock; 0: none */
      int ahead;  /* (p) number of contenders ahead; -1: at least one */
      struct shown_blocker *blocker; /* (p) the node ahead; or NULL */
      struct other_kind other; /* (p) the other node of a REFUSED_CONFLICT */
    };
  };

  /* The slots of the acquisition's messages. Commands are `begin`, `cancel` and
   * `release`. A hold reuses `begin` for COMMAND_WATCH and `cancel` for
   * COMMAND_WATCH_CONTENTION. The other slots are events. `ended` carries
   * either EVENT_LOST or EVENT_GONE, because a lost hold is never released. */
  struct message begin, cancel, release;
  struct message decided, revoked, ended;

  bool watches_contention; /* (l) COMMAND_WATCH_CONTENTION was requested */

  bool report_gone; /* (i) EVENT_GONE is requested but not yet posted */
  bool removed;     /* (i) the servers have deleted the node */
  int delete_rc;    /* (c) after `ended`: code of a refused delete; or 0 */
  bool in_session;  /* (i) the session still refers to the contender */

  /* (i), except its options (c), its denial (p) and its node's name (p). The
   * node's path, `path` and the data follow behind the struct. */
  struct contender contender;
};

struct acquisition *acquisition_new(struct proof *proof, const char *chroot,
                                    const char *path, const void *data,
                                    size_t size,
                                    const struct contender_options *options,
                                    news_handler *notify);
void acquisition_keep(struct acquisition *acquisition);
void acquisition_drop(struct acquisition *acquisition);

/* Publish a grant or a refusal to the Lua thread. Only the I/O thread calls
 * these functions. */
void acquisition_grant(struct acquisition *acquisition);
void acquisition_refuse(struct acquisition *acquisition, enum refusal_code why,
                        int reason);
/* Forbids further local turns, because another client asks for the lock. Only
 * the I/O thread calls this function. */
void acquisition_forbid_turns(struct acquisition *acquisition);
/* Record whether other nodes are in the queue, which limits the local turns.
 * The I/O thread calls them for a hold. uncontended: there is no other node;
 * contended: from the current turn on, there can be one. */
void acquisition_set_uncontended(struct acquisition *acquisition);
void acquisition_set_contended(struct acquisition *acquisition);
/* Ends a hold: changes its state from HELD to `next`. Returns false if the hold
 * had ended before. Any thread. */
bool acquisition_end_hold(struct acquisition *acquisition, int next);
/* Return the state of the acquisition, and the reason if the hold was lost. Any
 * thread. */
enum acquisition_state acquisition_outcome(
    const struct acquisition *acquisition);
enum loss acquisition_outcome_loss(
    const struct acquisition
        *acquisition); /* returns LOSS_NONE if the hold was not lost */

/* Functions for the Lua thread. `turn` is the index of a turn. For a turn that
 * is not the current one, the state is ACQUISITION_RELEASED. */

/* Returns the name of the hold's node. */
const char *acquisition_node(struct acquisition *acquisition);
/* Returns the state. A loss is ACQUISITION_LOST plus its reason, so compare
 * with >=. */
enum acquisition_state acquisition_state(const struct acquisition *acquisition,
                                         int turn);
/* Returns why the hold was lost, or LOSS_NONE. */
enum loss acquisition_loss(const struct acquisition *acquisition, int turn);
/* Returns why the hold has ended by the local clock (lease or max_hold), or
 * LOSS_NONE. Reports only losses that no thread has recorded yet. */
enum loss acquisition_overdue(const struct acquisition *acquisition, int turn);
/* Returns whether the lease proves at this moment that the lock is held. Does
 * no input or output. */
bool acquisition_is_held(const struct acquisition *acquisition, int turn);
/* Returns for how many nanoseconds the hold stays proved without another reply
 * from a server; 0: the hold is not proved now. */
int64_t acquisition_lease(const struct acquisition *acquisition, int turn);
/* Passes the hold on: begins the turn `to` after the turn `from`. Returns false
 * and changes nothing if one of these is true: `from` was the last turn; there
 * is no valid lease or no connection; the hold has max_hold or lose_on_suspend;
 * another client asks for the lock; the deadline of `to` has passed. */
bool acquisition_pass_on(struct acquisition *acquisition,
                         const struct turn *from, struct turn *to);
/* Returns true once per hold, when the I/O thread must check whether another
 * client waits. */
bool acquisition_must_watch_contention(struct acquisition *acquisition);

/* Returns the index of the histogram's bucket for a wait, given in nanoseconds.
 * Bucket n counts waits below 2^n microseconds. */
int wait_bucket(int64_t waited);

#pragma GCC visibility pop

#endif
