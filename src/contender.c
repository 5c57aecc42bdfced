/* The life of a contender:
 *
 *                 a connection,                list: nobody ahead, and proof
 *   PARKED ─────► a place ────► ENTERING ───────────────────────────► HELD
 *     ▲                          │ ▲  │ list: somebody ahead           ▲ │
 *     │ session expired     lost │ │  └───────────► QUEUED ────────────┘ │
 *     │ (any waiting state)      ▼ │ no such node    ▲ │ our turn        │
 *     │                       FINDING ───────────────┘ │                 │
 *     │                          │      found          │                 │
 *     └──────────────────────────┴─────────────────────┤         release,│
 *                                timeout, cancel, close│            loss │
 *                                                      ▼                 ▼
 *   GONE ◄── deleted, not found, or died with its session ────────── LEAVING
 *
 * Transitions, and who performs them:
 *   PARKED → ENTERING    contender_drive
 *   ENTERING → FINDING   on_create
 *   FINDING → ENTERING, QUEUED → ENTERING        start_over
 *   → QUEUED             place, prove
 *   → HELD               grant (alone)
 *   → LEAVING            leave
 *   → PARKED             contender_session_ended
 *   → GONE               finish
 *
 * While connected the session is CONNECTED and `connection` numbers the
 * connection; HELD while it is not CONNECTED is what the user sees as
 * "suspended".
 *
 * Why two never believe that they hold the lock.  A grant needs all of:
 *   1. our node exists and is of the current session (`proven`, and the
 *      session ends its contenders' claims when it expires);
 *   2. a server has shown that nobody is ahead: either a list that was sent
 *      after our create, in this connection and behind a sync if the
 *      connection is not the first; or the deletion of the only one that such
 *      a list had shown (`alone`).  The set of those ahead only shrinks:
 *      numbers grow with every create;
 *   3. for the second way, that our own node still exists: its watch was
 *      confirmed in this connection and has not fired.  Events of one
 *      connection come in the order of the changes, so had our node been
 *      deleted before the predecessor's, we would have been told before;
 *   4. the lease stands at the very moment of the grant: buffered replies may
 *      be arbitrarily old when a stopped process gets to read them.
 * After a reconnection nothing of 2 and 3 is left (`listed_in`, `armed_in`):
 * the server reports missed deletions in any order.  Only a deletion grants;
 * any other event on the predecessor means: look again. */
#include "contender.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "session.h"

#define SECOND INT64_C(1000000000)

static const unsigned legal_moves[] = {
#define TO(state) (1u << CONTENDER_##state)
    [CONTENDER_PARKED] = TO(ENTERING) | TO(HELD) | TO(GONE),
    [CONTENDER_ENTERING] = TO(FINDING) | TO(QUEUED) | TO(HELD) | TO(LEAVING) |
                           TO(PARKED) | TO(GONE),
    [CONTENDER_FINDING] = TO(ENTERING) | TO(QUEUED) | TO(HELD) | TO(LEAVING) |
                          TO(PARKED) | TO(GONE),
    [CONTENDER_QUEUED] =
        TO(ENTERING) | TO(HELD) | TO(LEAVING) | TO(PARKED) | TO(GONE),
    [CONTENDER_HELD] = TO(LEAVING) | TO(GONE),
    [CONTENDER_LEAVING] = TO(PARKED) | TO(GONE),
    [CONTENDER_GONE] = 0,
#undef TO
};

static op_handler on_create, on_remove;
static void grant(struct contender *c);
static void start_over(struct contender *c);
static void unfair_look(struct contender *c, struct watch **watch);
static void unfair_mine(struct contender *c);
static void end_gate(struct contender *c);
static void hear_revocation(struct contender *c, const struct reply *reply);
static void reap(struct contender *c);

const char *contender_state_name(enum contender_state state) {
  static const char *const names[] = {
#define X(name, text) text,
      CONTENDER_STATES(X)
#undef X
  };
  return names[state];
}

static struct session *session_of(const struct contender *c) {
  return c->lane->session;
}

static bool is_waiting(const struct contender *c) {
  return c->state < CONTENDER_HELD;
}

static bool has_entered(enum contender_state state) {
  return state != CONTENDER_PARKED && state != CONTENDER_GONE;
}

static bool is_unfair(const struct contender *c) {
  return c->options.kind == KIND_UNFAIR;
}

/* Of these a lane has one at a time: the others queue in the session. */
static bool is_sharing(const struct contender *c) {
  return c->options.handoffs > 0 || is_unfair(c);
}

/* An unfair lock's node has one name for all: ours must be gone before we
 * may make another. */
static bool occupies(const struct contender *c, enum contender_state state) {
  return has_entered(state) &&
         (state != CONTENDER_LEAVING || is_unfair(c));
}

bool contender_may_enter(const struct contender *c) {
  if (is_sharing(c) && c->lane->sharing > 0) return false;
  return c->lane->entered < LANE_ENTERED_MAX;
}

/* The facts that hold in each state. */
static void check(const struct contender *c) {
  assert(!c->decided || !is_waiting(c));
  assert(c->decided || is_waiting(c) || c->again);
  assert(c->state != CONTENDER_PARKED || (!c->made && !c->doubtful));
  assert(c->state != CONTENDER_QUEUED || c->made || is_unfair(c));
  assert(c->state != CONTENDER_HELD || (c->made && c->proven && c->announced));
  assert(c->state != CONTENDER_FINDING || c->made != c->doubtful ||
         is_unfair(c));
  assert(!(c->made && c->create.in_flight));
  (void)c;
}

/* The only writer of `state`. */
static void enter(struct contender *c, enum contender_state next) {
  struct session *s = session_of(c);
  enum contender_state last = c->state;
  assert(next == last || (legal_moves[last] & (1u << next)));
  c->lane->entered += has_entered(next) - has_entered(last);
  if (is_sharing(c))
    c->lane->sharing += occupies(c, next) - occupies(c, last);
  if (next == CONTENDER_HELD && s->holders == 0) s->guarded = s->now;
  s->holders += (next == CONTENDER_HELD) - (last == CONTENDER_HELD);
  s->active -= next == CONTENDER_GONE && last != CONTENDER_GONE;
  counter_add(&s->counters.waiting,
              (next < CONTENDER_HELD) - (last < CONTENDER_HELD));
  counter_add(&s->counters.holding,
              (next == CONTENDER_HELD) - (last == CONTENDER_HELD));
  counter_add(&s->counters.pending_releases,
              (next == CONTENDER_LEAVING) - (last == CONTENDER_LEAVING));
  c->state = next;
}

/* Birth. */

size_t contender_size(size_t path_length) {
  return sizeof(struct contender) + path_length + 1 + NAME_MAX_OWN;
}

static void op_init(struct op *op, enum op_kind kind, op_handler *handler,
                    struct contender *c) {
  op->kind = kind;
  op->handler = handler;
  op->owner = c;
  op->path = c->path;
}

void contender_init(struct contender *c,
                    const struct contender_options *options, void *user) {
  memset(c, 0, sizeof *c);
  c->options = *options;
  c->user = user;
  c->path = (char *)(c + 1);
  timer_init(&c->timer);
  op_init(&c->create, OP_CREATE, on_create, c);
  op_init(&c->remove, OP_REMOVE, on_remove, c);
  c->create.data = options->data;
  c->create.size = options->size;
  c->create.exact = options->downgrade || options->kind == KIND_UNFAIR;
}

void contender_join(struct contender *c, struct lane *lane) {
  struct session *s = lane->session;
  c->lane = lane;
  c->state = CONTENDER_PARKED;
  s->active++;
  counter_add(&s->counters.waiting, 1);
  lane_add(lane, c);
  timer_set(&s->timers, &c->timer, c->options.deadline);
  if (!c->options.patient && !session_is_connected(s))
    contender_refuse(c, VERDICT_DISCONNECTED);
}

/* The node's path from the last part of it. */
static void set_name(struct contender *c, const char *name) {
  const struct lane *lane = c->lane;
  size_t size = strlen(name) + 1;
  assert(size <= sizeof c->name);
  memcpy(c->name, name, size);
  memcpy(c->path, lane->path, lane->length);
  c->path[lane->length] = '/';
  memcpy(c->path + lane->length + 1, name, size);
}

static void unwatch(struct watch **watch) {
  struct watch *w = *watch;
  *watch = NULL;
  if (w) watch_release(w);
}

static void unwatch_others(struct contender *c) {
  lane_unwatch_children(c->lane, c);
  unwatch(&c->predecessor);
  unwatch(&c->before);
  c->alone = false;
}

/* A name that no node of ours has had: whatever happened to earlier ones
 * cannot be mistaken for what happens to this one. */
static void take_new_name(struct contender *c) {
  struct session *s = session_of(c);
  char name[NAME_MAX_OWN] = NAME_UNFAIR;
  c->id = s->next_id++;
  if (!is_unfair(c))
    name_format(name, sizeof name, &s->base, c->id, rule_role(c->options.kind, c->options.layout));
  if (c->options.downgrade) {
    size_t length = strlen(name);
    snprintf(name + length, sizeof name - length, "%010d",
             (int)c->options.writer_sequence);
  }
  set_name(c, name);
  /* An unfair lock's name is always the same: a doubt stays one. */
  c->doubtful = c->doubtful && is_unfair(c);
  c->made = c->proven = false;
  c->listed_in = 0;
}

/* Death. */

/* Gives the memory back once no reply can come any more. */
static void reap(struct contender *c) {
  if (c->state != CONTENDER_GONE) return;
  if (c->create.in_flight || c->remove.in_flight || c->gate_running) return;
  session_forget(session_of(c), c);
}

/* Nothing of it is left, but it is not over: it begins again. */
static void park_again(struct contender *c) {
  c->again = c->made = c->doubtful = false;
  enter(c, CONTENDER_PARKED);
  c->lane->parked = c->lane->first;
  session_dirty(session_of(c), c->lane);
}

static void finish(struct contender *c) {
  struct session *s = session_of(c);
  unwatch(&c->own);
  unwatch_others(c);
  if (c->again && !c->decided) {
    park_again(c);
    return;
  }
  end_gate(c);
  timer_set(&s->timers, &c->timer, NEVER);
  enter(c, CONTENDER_GONE);
  session_dirty(s, c->lane); /* a parked one may enter */
  session_tell(s, c, NEWS_REMOVED, VERDICT_LOST);
}

/* Our node must go, if there is one.  Ends with reap(). */
static void leave(struct contender *c) {
  struct session *s = session_of(c);
  if (!c->made && !c->doubtful && !c->create.in_flight) {
    finish(c);
    reap(c);
    return;
  }
  enter(c, CONTENDER_LEAVING);
  if (c->decided) {
    end_gate(c);
    timer_set(&s->timers, &c->timer, NEVER);
  }
  unwatch_others(c);
  contender_drive(c);
}

/* LEAVING, and it is known now whether there is a node. */
static void leave_or_finish(struct contender *c) {
  if (c->made) {
    contender_drive(c);
  } else {
    finish(c);
    reap(c);
  }
}

void contender_refuse(struct contender *c, enum verdict why) {
  if (c->decided) return; /* the grant was first */
  check(c);
  c->decided = true;
  if (why == VERDICT_TIMEOUT) counter_add(&session_of(c)->counters.timeouts, 1);
  session_tell(session_of(c), c, NEWS_REFUSED, why);
  leave(c);
}

/* A local turn: the next of this session's waiters takes the node over, with
 * everything that is known of it, and no request is sent.  Nothing that the
 * grant stood on changes: the node is the same, nobody is ahead of it. */
static void pass(struct contender *c, struct contender *next) {
  struct session *s = session_of(c);
  next->turn = c->turn + 1;
  next->id = c->id;
  set_name(next, c->name);
  next->made = next->proven = true;
  next->czxid = c->czxid;
  next->owner_session = c->owner_session;
  next->own = c->own;
  next->create.serial = c->create.serial;
  c->own = NULL;
  c->made = false;
  finish(c);
  counter_add(&s->counters.local_turns, 1);
  grant(next);
  next->granted_in = c->granted_in;
  reap(c);
}

void contender_release(struct contender *c) {
  if (c->state != CONTENDER_HELD) return;
  check(c);
  struct contender *next =
      c->turn < c->options.handoffs && session_is_connected(session_of(c)) &&
              session_lease_stands(session_of(c))
          ? lane_next_sharing(c->lane)
          : NULL;
  if (next)
    pass(c, next);
  else
    leave(c);
}

void contender_lose(struct contender *c, enum verdict why) {
  if (c->state != CONTENDER_HELD) return;
  check(c);
  counter_add(&session_of(c)->counters.lost, 1);
  session_tell(session_of(c), c, NEWS_LOST, why);
  leave(c);
}

void contender_close(struct contender *c) {
  if (!c->decided) {
    c->decided = true;
    session_tell(session_of(c), c, NEWS_REFUSED, VERDICT_CLOSED);
  } else if (c->state == CONTENDER_HELD) {
    session_tell(session_of(c), c, NEWS_LOST, VERDICT_CLOSED);
  }
  if (c->state != CONTENDER_GONE) finish(c);
  reap(c);
}

/* The ZooKeeper session is over, and every node of it with it. */
void contender_session_ended(struct contender *c) {
  struct session *s = session_of(c);
  if (c->state == CONTENDER_HELD) {
    counter_add(&s->counters.lost, 1);
    session_tell(s, c, NEWS_LOST, VERDICT_EXPIRED);
  }
  if (is_waiting(c) || (c->again && !c->decided)) {
    c->again = false;
    if (c->options.downgrade) {
      c->made = c->doubtful = false;
      contender_refuse(c, VERDICT_LOST);
      return;
    }
    if (c->state == CONTENDER_PARKED) return;
    unwatch(&c->own);
    unwatch_others(c);
    c->made = c->doubtful = false;
    enter(c, CONTENDER_PARKED);
    return;
  }
  if (c->state != CONTENDER_GONE) finish(c);
  reap(c);
}

void contender_disconnected(struct contender *c) {
  if (is_waiting(c) && !c->options.patient)
    contender_refuse(c, VERDICT_DISCONNECTED);
  else if (c->state == CONTENDER_HELD && c->options.lose_on_suspend)
    contender_lose(c, VERDICT_LOST);
}

/* Granting. */

static bool is_armed(const struct watch *watch) {
  return watch && watch_is_armed(watch);
}

static void grant(struct contender *c) {
  struct session *s = session_of(c);
  timer_set(&s->timers, &c->timer,
            c->options.max_hold == NEVER ? NEVER
                                         : s->now + c->options.max_hold);
  unwatch_others(c);
  c->announced = c->decided = true;
  end_gate(c);
  c->granted_in = s->connection;
  enter(c, CONTENDER_HELD);
  check(c);
  counter_add(&s->counters.grants, 1);
  session_tell(s, c, NEWS_GRANTED, VERDICT_LOST);
}

/* Nobody is ahead.  Without a lease that may be old news: look again behind
 * a committed round and a sync. */
static void grant_or_prove(struct contender *c) {
  struct session *s = session_of(c);
  if (session_lease_stands(s)) {
    grant(c);
    return;
  }
  enter(c, CONTENDER_QUEUED);
  c->listed_in = 0;
  c->alone = false;
  c->unproved = true;
  session_prove(s);
}

/* The lease stands again. */
void contender_proved(struct contender *c) {
  if (!c->unproved) return;
  c->unproved = false;
  if (c->state != CONTENDER_QUEUED) return;
  if (is_unfair(c))
    unfair_look(c, &c->own);
  else
    lane_want_sync(c->lane);
}

/* Our node does not exist: begin again at the tail, same deadline. */
static void start_over(struct contender *c) {
  c->anchored = false;
  unwatch(&c->own);
  unwatch_others(c);
  take_new_name(c);
  enter(c, CONTENDER_ENTERING);
  contender_drive(c);
}

/* The one ahead of us is gone.  If it was the only one we are first (2 and 3
 * above); else a list must tell, and one under way will do: its reply comes
 * after this news, so it is not older. */
static void predecessor_gone(struct contender *c) {
  const struct session *s = session_of(c);
  bool first = c->alone && c->proven && c->listed_in == s->connection &&
               is_armed(c->own);
  unwatch(&c->predecessor);
  c->alone = false;
  if (!first) {
    c->listed_in = 0;
    lane_want_list(c->lane, 0);
    return;
  }
  c->ahead = 0;
  counter_add(&session_of(c)->counters.handoffs, 1);
  grant_or_prove(c);
}

/* The one before the predecessor is gone: the predecessor is about to hold
 * the lock.  Find out now, while it does, whether it is the only one ahead:
 * then its deletion will need no request. */
static void before_gone(struct contender *c) {
  const struct session *s = session_of(c);
  unwatch(&c->before);
  if (c->listed_in == s->connection && c->ahead == 2 && c->chain) {
    c->ahead = 1;
    c->alone = c->shortcut;
  } else {
    c->listed_in = 0;
    lane_want_list(c->lane, 0);
  }
}

/* The unfair mutex: one node of one name, whoever makes it first.  A lane has
 * one of these at a time (is_sharing), so a node of our session's is ours, or
 * was made for us by a create whose reply was lost. */

/* Reads the node, and watches it: whose is it? */
static void unfair_look(struct contender *c, struct watch **watch) {
  if (!*watch) *watch = watch_want(c->lane, NAME_UNFAIR);
  if (!*watch)
    session_retry(session_of(c));
  else if (is_armed(*watch) && watch == &c->own)
    unfair_mine(c);
  else
    watch_arm(*watch);
}

static void unfair_mine(struct contender *c) {
  c->listed_in = session_of(c)->connection;
  c->ahead = 0;
  grant_or_prove(c);
}

/* Somebody has it, or we have: wait, and see. */
static void unfair_queue(struct contender *c) {
  if (!c->options.patient && !c->doubtful) {
    contender_refuse(c, VERDICT_BUSY);
    return;
  }
  enter(c, CONTENDER_QUEUED);
  c->ahead = 1;
  unfair_look(c, &c->predecessor);
}

/* The node was read. */
static void unfair_seen(struct contender *c, const struct reply *reply) {
  bool ours = reply->owner == session_of(c)->id;
  if (c->state == CONTENDER_HELD) {
    if (ours && reply->czxid == c->czxid) {
      hear_revocation(c, reply);
      return;
    }
    c->made = false; /* deleted, and made again by somebody */
    contender_lose(c, VERDICT_LOST);
  } else if (c->state == CONTENDER_QUEUED) {
    c->doubtful = false;
    if (!ours && c->made) {
      start_over(c);
    } else if (ours) {
      c->made = c->proven = true;
      c->czxid = reply->czxid;
      c->owner_session = reply->owner;
      if (!c->own) {
        c->own = c->predecessor;
        c->predecessor = NULL;
      }
      unfair_mine(c);
    } else if (!c->options.patient) {
      contender_refuse(c, VERDICT_BUSY);
    }
  } else if (c->state == CONTENDER_LEAVING && c->doubtful) {
    c->doubtful = false;
    c->made = ours;
    leave_or_finish(c);
  }
}

static void unfair_gone(struct contender *c) {
  if (c->state == CONTENDER_HELD) {
    c->made = false;
    contender_lose(c, VERDICT_LOST);
  } else if (c->state == CONTENDER_QUEUED) {
    start_over(c);
  } else if (c->state == CONTENDER_LEAVING && c->doubtful) {
    c->doubtful = false;
    leave_or_finish(c);
  }
}

static void unfair_watch(struct contender *c, struct watch *watch,
                         enum watch_news news, const struct reply *reply) {
  if (watch != c->own && watch != c->predecessor) return;
  if (news == WATCH_ARMED)
    unfair_seen(c, reply);
  else if (news == WATCH_GONE)
    unfair_gone(c);
  else
    watch_arm(watch);
}

/* Who waits for a change of the directory rather than of one node. */
static bool waits_for_children(const struct contender *c) {
  return c->options.kind == KIND_LEASE || c->options.strategy == WAIT_PARENT;
}

/* All is known that a list can tell: grant, or watch for our turn. */
static void settle(struct contender *c) {
  if (c->proven && c->ahead == 0) {
    grant_or_prove(c);
    return;
  }
  if (c->own) watch_arm(c->own);
  if (waits_for_children(c)) {
    lane_watch_children(c->lane, c);
  } else if (c->options.strategy == WAIT_POLL) {
    int64_t next = session_of(c)->now + c->options.poll_interval;
    timer_set(&session_of(c)->timers, &c->timer,
              next < c->options.deadline ? next : c->options.deadline);
  } else {
    if (c->predecessor) watch_arm(c->predecessor);
    if (c->before) watch_arm(c->before);
  }
}

/* Wants the node of `entry` watched (NULL: none); false: no memory. */
static bool aim(struct contender *c, struct watch **watch,
                const struct entry *entry) {
  struct watch *old = *watch;
  *watch = entry ? watch_want(c->lane, entry->name) : NULL;
  if (old) watch_release(old);
  return *watch || !entry;
}

/* Is whatever keeps us waiting a node of ours that is on its way out? */
static bool only_ghosts_ahead(const struct contender *c,
                              const struct listing *listing,
                              const struct entry *own) {
  if (c->options.kind == KIND_LEASE) return false;
  for (const struct entry *e = own; e-- > listing->entries;) {
    uint64_t id;
    if (!rule_blocks(c->options.kind, own, e)) continue;
    if (!name_id(e->name, &session_of(c)->base, &id)) return false;
    const struct contender *ghost = lane_find(c->lane, id);
    if (!ghost || ghost->state != CONTENDER_LEAVING) return false;
  }
  return true;
}

/* Our node is in the list: where? */
static void place(struct contender *c, const struct listing *listing,
                  const struct entry *own) {
  struct session *s = session_of(c);
  if (listing->unordered) {
    session_trouble(s, "cannot order", c->lane->path, REASON_COUNTER_AT_END);
    contender_refuse(c, VERDICT_INVALID);
    return;
  }
  /* A downgrade holds its place only if the writer was there after it: else
   * the next writer may have been granted in between. */
  if (c->options.downgrade && !c->anchored) {
    c->anchored = listing_has(listing, rule_writer(own->role),
                              c->options.writer_sequence);
    if (!c->anchored) {
      contender_refuse(c, VERDICT_LOST);
      return;
    }
  }
  struct ahead ahead;
  rule_apply(c->options.kind, c->options.permits, listing, own, &ahead);
  c->listed_in = s->connection;
  c->unproved = false;
  c->ahead = ahead.count;
  c->shortcut = ahead.shortcut;
  c->chain = ahead.chain;
  c->alone = ahead.count == 1 && ahead.shortcut;
  if (c->ahead > 0 && !c->options.patient &&
      !only_ghosts_ahead(c, listing, own)) {
    contender_refuse(c, VERDICT_BUSY);
    return;
  }
  if (c->ahead > 0 || !c->proven) {
    enter(c, CONTENDER_QUEUED);
    if (waits_for_children(c) || c->options.strategy == WAIT_POLL)
      ahead.nearest = ahead.before = NULL;
    if (!aim(c, &c->own, own) || !aim(c, &c->predecessor, ahead.nearest) ||
        !aim(c, &c->before, ahead.before)) {
      c->listed_in = 0; /* no memory: list again later */
      session_retry(s);
      return;
    }
  }
  settle(c);
}

void contender_listed(struct contender *c, const struct listing *listing) {
  bool looked_for = c->made || c->doubtful;
  if (!looked_for || c->create.in_flight || c->state == CONTENDER_HELD) return;
  if (c->state == CONTENDER_LEAVING && c->made) return;
  if (is_unfair(c)) {
    /* Behind a sync: what the node is now tells whether it is ours. */
    if (c->state == CONTENDER_LEAVING) unfair_look(c, &c->predecessor);
    return;
  }
  const struct entry *own =
      c->made ? listing_find(listing, c->name)
              : listing_find_id(listing, &session_of(c)->base, c->id);
  if (own && c->doubtful) {
    c->doubtful = false;
    c->made = true;
    set_name(c, own->name);
  }
  if (c->state == CONTENDER_LEAVING) {
    c->doubtful = false;
    if (own) {
      contender_drive(c);
    } else {
      finish(c);
      reap(c);
    }
  } else if (own) {
    place(c, listing, own);
  } else {
    start_over(c);
  }
}

/* Our node's data ask us to let go: the whole of them (as Curator's Revoker
 * writes) or a mark at their end (as we do). */
static void hear_revocation(struct contender *c, const struct reply *reply) {
  if (c->state != CONTENDER_HELD || c->revoked) return;
  if (!reply->revoked) return;
  c->revoked = true;
  session_tell(session_of(c), c, NEWS_REVOKED, VERDICT_LOST);
}

void contender_watch(struct contender *c, struct watch *watch,
                     enum watch_news news, const struct reply *reply) {
  if (is_unfair(c)) {
    unfair_watch(c, watch, news, reply);
    return;
  }
  bool waiting = c->state == CONTENDER_QUEUED;
  if (watch == c->own) {
    if (news == WATCH_ARMED && waiting && !c->proven) {
      c->czxid = reply->czxid;
      c->owner_session = reply->owner;
      c->proven = reply->owner == session_of(c)->id;
      if (!c->proven)
        start_over(c); /* a dying node of another session */
      else if (c->listed_in == session_of(c)->connection)
        settle(c);
    } else if (news == WATCH_ARMED) {
      hear_revocation(c, reply);
    } else if (news == WATCH_STALE) {
      watch_arm(watch); /* somebody wrote its data: what? */
    } else if (news == WATCH_GONE && waiting) {
      start_over(c);
    } else if (news == WATCH_GONE) {
      contender_lose(c, VERDICT_LOST);
    }
    return;
  }
  if (!waiting || news == WATCH_ARMED) return;
  if (news == WATCH_STALE && (watch == c->predecessor || watch == c->before)) {
    c->alone = false; /* only a deletion grants */
    c->listed_in = 0;
    watch_arm(watch);
    lane_want_list(c->lane, 0);
  } else if (watch == c->predecessor) {
    predecessor_gone(c);
  } else if (watch == c->before) {
    before_gone(c);
  }
}

void contender_guard(struct contender *c) {
  if (c->state != CONTENDER_HELD) return;
  if (!c->own) c->own = watch_want(c->lane, c->name);
  if (c->own) watch_arm(c->own);
}

/* The semaphore, by the protocol of Curator's InterProcessSemaphoreV2: an
 * inner mutex lets in one at a time; whoever is inside makes a lease and
 * waits until there are no more leases than permits.  Only who is inside
 * adds leases, so the count can only fall meanwhile. */

static void begin_gate(struct contender *c) {
  struct session *s = session_of(c);
  const struct lane *leases = c->lane;
  size_t parent = leases->length - strlen(LEASES);
  struct contender_options options = {.kind = KIND_MUTEX,
                                      .deadline = NEVER,
                                      .max_hold = NEVER,
                                      .patient = c->options.patient,
                                      .data = c->options.data,
                                      .size = c->options.size};
  if (c->gate_running) return;
  char *path = c->path; /* not yet in use */
  memcpy(path, leases->path, parent);
  memcpy(path + parent, LOCKS, sizeof LOCKS);
  struct lane *lane = session_lane(s, path);
  if (!lane) {
    session_retry(s);
    return;
  }
  contender_init(c->gate, &options, NULL);
  c->gate->lease_of = c;
  c->gate_running = true;
  contender_join(c->gate, lane);
}

/* Decided: the next one may ask. */
static void end_gate(struct contender *c) {
  if (!c->gate_running) return;
  if (c->gate->state == CONTENDER_HELD)
    contender_release(c->gate);
  else
    contender_refuse(c->gate, VERDICT_CANCELLED);
}

/* Somebody else may be inside now: give the lease back and begin again. */
static void gate_lost(struct contender *c) {
  c->gate_open = false;
  if (c->decided || c->state == CONTENDER_PARKED) return;
  if (c->state == CONTENDER_LEAVING) return; /* again already */
  c->again = true;
  leave(c);
}

void contender_gate_news(struct contender *c, enum news news,
                         enum verdict why) {
  switch (news) {
    case NEWS_GRANTED:
      c->gate_open = true;
      if (c->state == CONTENDER_PARKED) contender_drive(c);
      break;
    case NEWS_REFUSED:
      contender_refuse(c, why);
      break;
    case NEWS_LOST:
      gate_lost(c);
      break;
    case NEWS_REVOKED:
      break;
    case NEWS_REMOVED:
      c->gate_open = false;
      break;
    case NEWS_FORGOTTEN:
      c->gate_running = c->gate_open = false;
      if (c->state == CONTENDER_GONE)
        reap(c);
      else if (c->state == CONTENDER_PARKED)
        contender_drive(c);
      break;
  }
}

/* Driving. */

static void try_create(struct contender *c) {
  if (c->made || c->create.in_flight) return;
  if (c->lane->parent_missing) {
    session_dirty(session_of(c), c->lane);
    return;
  }
  if (session_submit(session_of(c), &c->create) && !is_unfair(c))
    lane_want_list(c->lane, c->create.serial);
}

void contender_drive(struct contender *c) {
  struct session *s = session_of(c);
  if (!session_is_connected(s)) return;
  check(c);
  switch (c->state) {
    case CONTENDER_PARKED:
      if (!contender_may_enter(c)) return;
      if (c->gate && !c->gate_open) {
        begin_gate(c);
        return;
      }
      take_new_name(c);
      enter(c, CONTENDER_ENTERING);
      try_create(c);
      break;
    case CONTENDER_ENTERING:
      if (c->made)
        lane_want_list(c->lane, 0);
      else
        try_create(c);
      break;
    case CONTENDER_FINDING:
      if (is_unfair(c))
        unfair_queue(c);
      else
        lane_want_list(c->lane, 0);
      break;
    case CONTENDER_QUEUED:
      if (is_unfair(c))
        unfair_look(c, c->made ? &c->own : &c->predecessor);
      else if (c->listed_in == s->connection)
        settle(c);
      else
        lane_want_list(c->lane, 0);
      break;
    case CONTENDER_HELD:
      /* After a reconnection: is our node still there? */
      if (s->connection > c->granted_in) contender_guard(c);
      break;
    case CONTENDER_LEAVING:
      if (c->made && !c->remove.in_flight)
        session_submit(s, &c->remove);
      else if (c->doubtful && is_unfair(c))
        lane_want_sync(c->lane);
      else if (c->doubtful)
        lane_want_list(c->lane, 0);
      break;
    case CONTENDER_GONE:
      break;
  }
}

static void retry_leaving(struct contender *c) {
  timer_set(&session_of(c)->timers, &c->timer,
            c->decided ? NEVER : c->options.deadline);
  contender_drive(c);
}

/* WAIT_POLL: the interval is over. */
static void look_again(struct contender *c) {
  timer_set(&session_of(c)->timers, &c->timer, c->options.deadline);
  c->listed_in = 0;
  lane_want_list(c->lane, session_of(c)->serial);
}

void contender_due(struct contender *c) {
  struct session *s = session_of(c);
  bool connected = session_is_connected(s);
  if (c->state == CONTENDER_HELD)
    contender_lose(c, VERDICT_LOST); /* max_hold */
  else if (!c->decided && s->now >= c->options.deadline)
    contender_refuse(c, connected && c->options.patient
                            ? VERDICT_TIMEOUT
                            : VERDICT_DISCONNECTED);
  else if (c->state == CONTENDER_QUEUED)
    look_again(c);
  else
    retry_leaving(c);
}

void contender_parent_failed(struct contender *c, enum verdict why) {
  if (c->state == CONTENDER_ENTERING && !c->made && !c->create.in_flight)
    contender_refuse(c, why);
}

/* Replies. */

static void create_failed(struct contender *c, int rc) {
  if (rc == REPLY_NO_NODE) {
    lane_want_parent(c->lane);
    return;
  }
  session_trouble(session_of(c), "cannot create a node", c->lane->path, rc);
  bool denied = rc == REPLY_NO_AUTH || rc == REPLY_AUTH_FAILED ||
                rc == REPLY_INVALID_ACL;
  contender_refuse(c, denied ? VERDICT_AUTH : VERDICT_INVALID);
}

static void on_create(struct op *op, const struct reply *reply) {
  struct contender *c = op->owner;
  switch (reply->rc) {
    case REPLY_OK:
      c->made = true;
      set_name(c, reply->path + c->lane->length + 1);
      c->czxid = reply->czxid;
      c->owner_session = reply->owner;
      c->proven = reply->owner == session_of(c)->id;
      c->doubtful = false;
      if (is_unfair(c) && c->state == CONTENDER_ENTERING) {
        unfair_mine(c);
        return;
      }
      break;
    case REPLY_LOST:
    case REPLY_SESSION_EXPIRED:
    case REPLY_SESSION_MOVED:
      c->doubtful = true;
      if (c->state == CONTENDER_ENTERING) enter(c, CONTENDER_FINDING);
      break;
    case REPLY_NODE_EXISTS:
      if (is_unfair(c)) {
        if (c->state == CONTENDER_ENTERING) {
          unfair_queue(c);
          return;
        }
        break;
      }
      /* fall through */
    default:
      if (c->state == CONTENDER_ENTERING) {
        create_failed(c, reply->rc);
        return;
      }
  }
  if (c->state == CONTENDER_LEAVING) {
    if (c->made || c->doubtful)
      contender_drive(c);
    else
      leave(c); /* nothing was made after all */
  } else {
    reap(c);
  }
}

static void on_remove(struct op *op, const struct reply *reply) {
  struct contender *c = op->owner;
  struct session *s = session_of(c);
  switch (reply->rc) {
    case REPLY_OK:
    case REPLY_NO_NODE:
      if (c->state == CONTENDER_LEAVING) finish(c);
      break;
    case REPLY_LOST:
    case REPLY_SESSION_EXPIRED:
    case REPLY_SESSION_MOVED:
      /* The connection is about to go; then again.  But a name that is not
       * ours alone may be somebody else's by then: look first. */
      if (is_unfair(c)) {
        c->made = false;
        c->doubtful = true;
      }
      break;
    default:
      session_trouble(s, "cannot delete our node", c->path, reply->rc);
      if (c->attempts < 6) c->attempts++;
      timer_set(&s->timers, &c->timer,
                s->now + (SECOND / 10 << c->attempts));
  }
  reap(c);
}
