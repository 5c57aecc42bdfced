/* The acquisition of a lock: the record that both threads of a session share.
 * The Lua thread creates it, the I/O thread runs its contender, and both read
 * the atomics. Once the lock is granted, the acquisition is called a hold. Each
 * guard refers to its hold by a hold reference (lua_hold_ref.h).
 *
 * Local turns (option `local_turns`): the Lua thread passes a hold to the next
 * waiter in the same session, without a request to a server. Each waiter's time
 * with the hold is one turn. To the I/O thread, all turns together are one
 * hold; it only reads their number.
 *
 * Access to the fields: (c) constant once the acquisition was sent, (i) the I/O
 * thread only, (l) the Lua thread only, (a) atomic. (p) published: the I/O
 * thread writes the field before it sets `word` to HELD or REFUSED, and never
 * afterwards. So a thread that has read HELD or REFUSED is allowed to read the
 * field. */
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
  ACQUISITION_LOST /* plus an enum loss; must be the last state */
};

/* The parts of an acquisition's `word`: its state, a flag that forbids further
 * local turns, and the number of local turns so far. */
enum {
  WORD_STATE = 15,
  WORD_NO_TURNS = 16, /* another client wants the lock: no further turns */
  WORD_TURN = 32,     /* added to `word` for each local turn */
};

enum { WAIT_BUCKETS = 28 };

/* One turn of a hold, or a wait for a turn. Used by the Lua thread only. */
struct turn {
  uint64_t number; /* events name the turn by this number */
  int64_t waiting_since,
      deadline;       /* the start of the wait; its deadline, or NEVER */
  int64_t held_since; /* when the user of the turn got the hold */
  int index;          /* number of earlier turns of the same hold */
};

/* The values by which a session proves that it still holds its locks. */
struct proof {
  _Atomic int64_t lease_until; /* (a) the lease's end, by the I/O thread */
  _Atomic int state; /* (a) the session's state (enum session_state) */
  _Atomic int held;  /* (a) number of acquisitions that are HELD */
};

/* A copy of a struct blocker, which describes the node ahead. Error messages
 * show its data. `size`: the size of the node's data. `shown`: the size of
 * `data`, the copied part. `holds`: whether the node ahead holds the lock. */
struct shown_blocker {
  int size, shown;
  bool holds;
  char data[];
};

struct core;

struct acquisition {
  /* Each Lua object has a reference, and the contender has one until the
   * session forgets it. */
  struct subject subject;
  int hold_refs;     /* (l) number of guards */
  struct core *core; /* (c) the session */
  /* (c) The session's proof, a part of `core`. Each hold reference keeps `core`
   * in memory, so the proof can be read after the session was closed. */
  struct proof *proof;
  uint64_t number;       /* (c) the number of the first turn */
  uint64_t current_turn; /* (l) the number of the current turn */
  int64_t waiting_since; /* (c) when the wait began */
  const char *path;      /* (c) */
  uint16_t prefix;       /* (c) length of the chroot in `path` */
  uint16_t length;       /* (c) length of `path` without PERMITS */

  /* (a) Packs the state, the flag WORD_NO_TURNS and the number of turns so far:
   * see WORD_STATE above. Three places can try to end the hold: a release, the
   * I/O thread, and the Lua thread's check of the clock. Each replaces HELD by
   * a compare-and-swap. So only the first attempt succeeds, and later attempts
   * change nothing. The reason for a loss is part of the word, so no thread
   * sees a loss without its reason.
   *
   * All turns of a hold share this word, and each turn begins with a
   * compare-and-swap on it. So a loss or release of the hold also ends its
   * current turn. A lost hold is never passed on, and the guard of the current
   * turn sees the loss. */
  _Atomic int word;

  union {
    struct {              /* in HELD and in later states */
      int64_t hold_until; /* (p) when max_hold ends the hold; or NEVER */
      int64_t token;      /* (p) */
      int64_t czxid;      /* (p) the czxid of the hold's node */
      /* (a) The index of the last turn in which the hold's node was known to be
       * alone in the queue. INT_MAX: the node is known to be alone now. 0: it
       * was never known to be alone. */
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

  /* The slots of the acquisition's messages. `begin`, `cancel` and `release`
   * are commands. Once the lock is held, `begin` also serves for COMMAND_WATCH,
   * and `cancel` for COMMAND_WATCH_CONTENTION. The other slots are events.
   * `ended` serves for EVENT_LOST or EVENT_GONE: a lost hold is never released,
   * so no acquisition needs both. */
  struct message begin, cancel, release;
  struct message decided, revoked, ended;

  bool watches_contention; /* (l) COMMAND_WATCH_CONTENTION was requested */

  bool report_gone; /* (i) EVENT_GONE is requested but not yet posted */
  bool removed;     /* (i) the servers have deleted the node */
  int delete_rc;    /* (c) after `ended`: code of a refused delete; or 0 */
  bool in_session;  /* (i) the session still refers to the contender */

  /* The contender that the I/O thread runs for this acquisition. Access: (i),
   * but its options are (c), its denial and its node's name (p). The path of
   * the contender's node follows behind the struct, then `path` and the
   * data. */
  struct contender contender;
};

struct acquisition *acquisition_new(struct proof *proof, const char *chroot,
                                    const char *path, const void *data,
                                    size_t size,
                                    const struct contender_options *options,
                                    news_handler *notify);

/* Publish the grant, or the refusal with its code `why` and its `reason`, to
 * the Lua thread. Only the I/O thread calls these functions. */
void acquisition_grant(struct acquisition *acquisition);
void acquisition_refuse(struct acquisition *acquisition, enum refusal_code why,
                        int reason);
/* Forbids further local turns, because another client has asked for the lock.
 * Only the I/O thread calls this function. */
void acquisition_forbid_turns(struct acquisition *acquisition);
/* Record whether the hold's node is known to be alone in the queue. Unless it
 * is, the option `local_turns` limits the further turns. `_set_uncontended`:
 * the node is known to be alone. `_set_contended`: from the current turn on,
 * the node is no longer known to be alone. Only the I/O thread calls these
 * functions. */
void acquisition_set_uncontended(struct acquisition *acquisition);
void acquisition_set_contended(struct acquisition *acquisition);
/* Ends a hold: changes its state from HELD to `next`. Returns false if the
 * state was not HELD. Any thread is allowed to call this function. */
bool acquisition_end_hold(struct acquisition *acquisition, int next);
/* Return the state of the whole acquisition, and why its hold was lost. Any
 * thread is allowed to call these functions. */
enum acquisition_state acquisition_outcome(
    const struct acquisition *acquisition);
enum loss acquisition_outcome_loss(
    const struct acquisition
        *acquisition); /* returns LOSS_NONE if the hold was not lost */

/* Only the Lua thread calls the functions below. Their parameter `turn` is the
 * index of a turn. If this is not the hold's current turn, its state counts as
 * ACQUISITION_RELEASED. */

/* Returns the name of the hold's node. */
const char *acquisition_node(struct acquisition *acquisition);
/* Returns the state of the turn. A lost hold has the state ACQUISITION_LOST
 * plus its enum loss, so compare with `>= ACQUISITION_LOST`. */
enum acquisition_state acquisition_state(const struct acquisition *acquisition,
                                         int turn);
/* Returns why the hold was lost, or LOSS_NONE. */
enum loss acquisition_loss(const struct acquisition *acquisition, int turn);
/* Checks the local clock. Returns the reason for a loss if the lease or
 * max_hold has run out; otherwise LOSS_NONE. Also returns LOSS_NONE if a thread
 * has recorded the loss already. */
enum loss acquisition_overdue(const struct acquisition *acquisition, int turn);
/* Returns whether the lease still proves that the lock is held. Reads only
 * memory and the clock. */
bool acquisition_is_held(const struct acquisition *acquisition, int turn);
/* Returns for how many nanoseconds the hold stays proved if no further reply
 * arrives from a server. Returns 0 if the hold is not proved now. */
int64_t acquisition_lease(const struct acquisition *acquisition, int turn);
/* Passes the hold on: ends the turn `from` and begins the turn `to`. Returns
 * false and changes nothing in each of these cases: `from` must be the last
 * turn; there is no valid lease or no connection; the hold has max_hold or
 * lose_on_suspend; another client asks for the lock; the deadline of `to` has
 * passed. */
bool acquisition_pass_on(struct acquisition *acquisition,
                         const struct turn *from, struct turn *to);
/* Returns true once per hold, when half of its local turns are used. Then the
 * caller must make the I/O thread check whether another client waits. */
bool acquisition_must_watch_contention(struct acquisition *acquisition);

/* Returns the index of the histogram bucket that counts a wait of `waited`
 * nanoseconds. Bucket n counts the waits below 2^n microseconds that no lower
 * bucket counts. The last bucket counts all longer waits. */
int wait_bucket(int64_t waited);

#pragma GCC visibility pop

#endif
