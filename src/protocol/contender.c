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
 *      after our create, in this connection, which begins with a round if it
 *      is not the first (session.c); or the deletion of the only one that such
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

#include "moves.h"

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
static void create_failed(struct contender *c, int rc);

const char *contender_state_name(enum contender_state state) {
  static const char *const names[] = {
#define X(name, text) text,
      CONTENDER_STATES(X)
#undef X
  };
  return names[state];
}

static bool has_entered(enum contender_state state) {
  return state != CONTENDER_PARKED && state != CONTENDER_GONE;
}

const char *contender_loss_name(enum loss loss) {
  static const char *const names[] = {NULL,
#define X(name, text) text,
                                      LOSSES(X)
#undef X
  };
  return names[loss];
}

/* Of these a lane has one at a time: the others queue in the session. */
static bool is_sharing(const struct contender *c) {
  return c->options.handoffs > 0 || contender_is_unfair(c);
}

/* An unfair lock's node has one name for all: ours must be gone before we
 * may make another. */
static bool occupies(const struct contender *c, enum contender_state state) {
  return has_entered(state) &&
         (state != CONTENDER_LEAVING || contender_is_unfair(c));
}

/* Must not wait for others of this session to leave (room.h): the first on
 * its path, who asks for one more permit, who holds the lock as a writer. */
bool contender_is_urgent(const struct contender *c) {
  return c->lane->entered == 0 || c->options.kind == KIND_PERMIT ||
         c->options.downgrade;
}

enum room_answer contender_room(const struct contender *c) {
  return room_for(c->lane, contender_is_urgent(c));
}

bool contender_is_kept_out(const struct contender *c) {
  if (c->lane->entered >= LANE_ENTERED_MAX) return true;
  if (!contender_is_urgent(c) && contender_room(c) != ROOM_YES) return true;
  if (c->lane->renewal == RENEWAL_CROWDED) return true;
  bool by_all = c->lane->renewal != RENEWAL_NONE, by_sharing = is_sharing(c);
  if (!by_all && !by_sharing) return false;
  for (const struct contender *o = c->lane->first; o; o = o->next)
    if ((by_all || is_sharing(o)) && has_entered(o->state) &&
        o->state != CONTENDER_LEAVING)
      return true;
  return false;
}

bool contender_may_enter(const struct contender *c) {
  if (c->lane->renewal != RENEWAL_NONE) return false;
  if (is_sharing(c) && c->lane->sharing > 0) return false;
  return c->lane->entered < LANE_ENTERED_MAX && contender_room(c) == ROOM_YES;
}

/* May it come to watch others? */
static bool looks_for_place(enum contender_state state) {
  return state == CONTENDER_ENTERING || state == CONTENDER_FINDING;
}

static void take_room(struct contender *c, enum contender_state next) {
  struct session *s = contender_session(c);
  enum contender_state last = c->state;
  size_t room = room_of(c->lane);
  if (!has_entered(last) && has_entered(next)) room_take(s, room);
  if (!looks_for_place(last) && looks_for_place(next))
    room_promise(s, 2 * room);
  if (has_entered(last) && !has_entered(next)) room_give(s, room);
  if (looks_for_place(last) && !looks_for_place(next))
    room_break_promise(s, 2 * room);
}

/* The facts that hold in each state. */
static void check(const struct contender *c) {
  assert(!c->decided || !contender_is_waiting(c));
  assert(c->decided || contender_is_waiting(c) || c->again);
  assert(c->state != CONTENDER_PARKED || (!c->made && !c->doubtful));
  assert(c->state != CONTENDER_QUEUED || c->made || contender_is_unfair(c));
  assert(c->state != CONTENDER_HELD || (c->made && c->proven && c->announced));
  assert(c->state != CONTENDER_FINDING || c->made != c->doubtful ||
         contender_is_unfair(c));
  assert(!(c->made && c->create.in_flight));
  (void)c;
}

/* The only writer of `state`. */
void contender_enter(struct contender *c, enum contender_state next) {
  struct session *s = contender_session(c);
  enum contender_state last = c->state;
  assert(next == last || (legal_moves[last] & (1u << next)));
  take_room(c, next);
  c->lane->entered += has_entered(next) - has_entered(last);
  if (is_sharing(c)) c->lane->sharing += occupies(c, next) - occupies(c, last);
  if (!c->options.patient)
    c->lane->impatient +=
        (next == CONTENDER_PARKED) - (last == CONTENDER_PARKED);
  if (next == CONTENDER_HELD && s->holders == 0) s->guarded = s->now;
  s->holders += (next == CONTENDER_HELD) - (last == CONTENDER_HELD);
  s->active -= next == CONTENDER_GONE && last != CONTENDER_GONE;
  counter_add(&s->counters.waiting,
              (next < CONTENDER_HELD) - (last < CONTENDER_HELD));
  counter_add(&s->counters.pending_releases,
              (next == CONTENDER_LEAVING) - (last == CONTENDER_LEAVING));
  c->state = next;
}

int64_t contender_token(const struct contender *c) {
  return c->options.downgrade ? c->options.writer_token : c->czxid;
}

int contender_bytes(const struct contender *c) {
  if (c->gate_running && !c->gate_open) c = c->gate;
  return op_bytes(&c->create);
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
                    const struct contender_options *options, news_handler *tell,
                    void *owner) {
  memset(c, 0, sizeof *c);
  c->options = *options;
  c->tell = tell;
  c->owner = owner;
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
  lane->impatient += !c->options.patient;
  lane_add(lane, c);
  timer_set(&s->timers, &c->timer, c->options.deadline);
  if (s->refused) {
    session_trouble(s, "cannot contend", lane->path, REASON_CREDENTIALS);
    contender_refuse(c, VERDICT_AUTH, REASON_CREDENTIALS);
  } else if (!c->options.patient && !session_is_connected(s) &&
             s->state != SESSION_CONNECTING) {
    contender_refuse(c, VERDICT_DISCONNECTED, 0);
  }
}

/* The node's path from the last part of it. */
void contender_set_name(struct contender *c, const char *name) {
  const struct lane *lane = c->lane;
  size_t size = strlen(name) + 1;
  assert(size <= sizeof c->name);
  memcpy(c->name, name, size);
  memcpy(c->path, lane->path, lane->length);
  c->path[lane->length] = '/';
  memcpy(c->path + lane->length + 1, name, size);
}

void contender_unwatch(struct contender *c) {
  lane_unwatch_children(c->lane, c);
  watch_drop(&c->predecessor);
  watch_drop(&c->before);
  c->alone = false;
}

/* A name that no node of ours has had: whatever happened to earlier ones
 * cannot be mistaken for what happens to this one. */
static void take_new_name(struct contender *c) {
  struct session *s = contender_session(c);
  char name[NAME_MAX_OWN] = NAME_UNFAIR;
  c->id = s->next_id++;
  if (!contender_is_unfair(c))
    name_format(name, sizeof name, &s->base, c->id,
                rule_role(c->options.kind, c->options.layout));
  if (c->options.downgrade) {
    int32_t sequence = 0;
    size_t length = strlen(name);
    name_parse(c->options.writer, &sequence);
    snprintf(name + length, sizeof name - length, "%010d", (int)sequence);
  }
  contender_set_name(c, name);
  /* An unfair lock's name is always the same: a doubt stays one. */
  c->doubtful = c->doubtful && contender_is_unfair(c);
  c->made = c->proven = c->asked = c->unproved = false;
  c->listed_in = 0;
}

static void tell(struct contender *c, enum news news, enum verdict why) {
  c->verdict = why;
  c->tell(c, news);
}

/* Death. */

/* Gives the memory back once no reply can come any more. */
void contender_reap(struct contender *c) {
  if (c->state != CONTENDER_GONE) return;
  if (c->create.in_flight || c->remove.in_flight || c->gate_running) return;
  lane_drop(c->lane, c);
  tell(c, NEWS_FORGOTTEN, VERDICT_LOST);
}

/* Nothing of it is left, but it is not over: it begins again. */
static void park_again(struct contender *c) {
  c->again = c->made = c->doubtful = false;
  contender_enter(c, CONTENDER_PARKED);
  c->lane->parked = c->lane->first;
  session_dirty(contender_session(c), c->lane);
}

void contender_finish(struct contender *c) {
  struct session *s = contender_session(c);
  watch_drop(&c->own);
  contender_unwatch(c);
  c->made = c->doubtful = false;
  if (c->again && !c->decided) {
    park_again(c);
    return;
  }
  permit_end(c);
  timer_set(&s->timers, &c->timer, NEVER);
  contender_enter(c, CONTENDER_GONE);
  session_dirty(s, c->lane); /* a parked one may enter */
  tell(c, NEWS_REMOVED, VERDICT_LOST);
}

/* Our node must go, if there is one.  Ends with contender_reap(). */
void contender_leave(struct contender *c) {
  struct session *s = contender_session(c);
  if (!c->made && !c->doubtful && !c->create.in_flight) {
    contender_finish(c);
    contender_reap(c);
    return;
  }
  contender_enter(c, CONTENDER_LEAVING);
  if (c->decided) {
    permit_end(c);
    timer_set(&s->timers, &c->timer, NEVER);
  }
  contender_unwatch(c);
  contender_drive(c);
}

/* LEAVING, and it is known now whether there is a node. */
void contender_leave_or_finish(struct contender *c) {
  if (c->made) {
    contender_drive(c);
  } else {
    contender_finish(c);
    contender_reap(c);
  }
}

void contender_refuse(struct contender *c, enum verdict why, int reason) {
  if (c->decided) return; /* the grant was first */
  check(c);
  c->decided = true;
  c->reason = reason;
  if (why == VERDICT_TIMEOUT)
    counter_add(&contender_session(c)->counters.timeouts, 1);
  if ((why == VERDICT_TIMEOUT || why == VERDICT_BUSY) && c->rival.size == 0)
    turn_note_rival(c);
  tell(c, NEWS_REFUSED, why);
  c->rival.size = 0;
  contender_leave(c);
}

/* A local turn: the next of this session's waiters takes the node over, with
 * everything that is known of it, and no request is sent.  Nothing that the
 * grant stood on changes: the node is the same, nobody is ahead of it. */
static void pass(struct contender *c, struct contender *next) {
  struct session *s = contender_session(c);
  next->turn = c->turn + 1;
  next->id = c->id;
  contender_set_name(next, c->name);
  next->made = next->proven = true;
  next->czxid = c->czxid;
  next->owner_session = c->owner_session;
  next->own = c->own;
  next->create.serial = c->create.serial;
  c->own = NULL;
  c->made = false;
  contender_finish(c);
  counter_add(&s->counters.local_turns, 1);
  grant(next);
  next->granted_in = c->granted_in;
  contender_reap(c);
}

void contender_release(struct contender *c) {
  if (c->state != CONTENDER_HELD) return;
  check(c);
  /* Somebody asks for the lock: then it is not ours to pass on. */
  struct contender *next = c->turn < c->options.handoffs && !c->revoked &&
                                   session_is_connected(contender_session(c)) &&
                                   session_lease_stands(contender_session(c))
                               ? lane_next_sharing(c->lane)
                               : NULL;
  if (next)
    pass(c, next);
  else
    contender_leave(c);
}

static void tell_loss(struct contender *c, enum loss why, enum verdict as) {
  struct session *s = contender_session(c);
  counter_add(&s->counters.lost, 1);
  c->loss = why;
  tell(c, NEWS_LOST, as);
}

/* The hold ends without our releasing it; the node goes, if there is one. */
static void lose(struct contender *c, enum loss why, bool node) {
  if (c->state != CONTENDER_HELD) return;
  check(c);
  tell_loss(c, why, VERDICT_LOST);
  c->made = node;
  contender_leave(c);
}

void contender_lose(struct contender *c, enum loss why) { lose(c, why, true); }

void contender_lose_node(struct contender *c) { lose(c, LOSS_DELETED, false); }

/* Whichever was over first: its own time or the session's. */
void contender_lose_by_lease(struct contender *c) {
  struct session *s = contender_session(c);
  if (c->state != CONTENDER_HELD) return;
  bool silence = c->timer.due > s->lease.until;
  if (silence) session_fall_silent(s, s->now);
  contender_lose(c, silence ? LOSS_SILENCE : LOSS_MAX_HOLD);
}

void contender_close(struct contender *c) {
  if (!c->decided) {
    c->decided = true;
    tell(c, NEWS_REFUSED, VERDICT_CLOSED);
  } else if (c->state == CONTENDER_HELD) {
    tell(c, NEWS_LOST, VERDICT_CLOSED);
  }
  if (c->state != CONTENDER_GONE) contender_finish(c);
  contender_reap(c);
}

/* The ZooKeeper session is over, and every node of it with it. */
void contender_session_ended(struct contender *c) {
  struct session *s = contender_session(c);
  /* No server ends by itself what is proved to live. */
  if (c->state == CONTENDER_HELD)
    tell_loss(c, s->now < s->lease.until ? LOSS_CLOSED : LOSS_EXPIRED,
              VERDICT_EXPIRED);
  if (contender_is_waiting(c) || (c->again && !c->decided)) {
    c->again = false;
    watch_drop(&c->own);
    contender_unwatch(c);
    c->made = c->doubtful = false;
    contender_enter(c, CONTENDER_PARKED);
    /* The writer is gone, and its place. */
    if (c->options.downgrade) contender_refuse(c, VERDICT_LOST, 0);
    return;
  }
  if (c->state != CONTENDER_GONE) contender_finish(c);
  contender_reap(c);
}

void contender_disconnected(struct contender *c) {
  bool waiting = contender_is_waiting(c) || (c->again && !c->decided);
  if (waiting && !c->options.patient)
    contender_refuse(c, VERDICT_DISCONNECTED, 0);
  else if (c->state == CONTENDER_HELD && c->options.lose_on_suspend)
    contender_lose(c, LOSS_SUSPENDED);
}

static void grant(struct contender *c) {
  struct session *s = contender_session(c);
  timer_set(&s->timers, &c->timer,
            c->options.max_hold == NEVER ? NEVER
                                         : s->now + c->options.max_hold);
  contender_unwatch(c);
  c->announced = c->decided = true;
  permit_end(c);
  c->granted_in = s->connection;
  contender_enter(c, CONTENDER_HELD);
  check(c);
  counter_add(&s->counters.grants, 1);
  tell(c, NEWS_GRANTED, VERDICT_LOST);
  turn_tell_revocation(c);
}

/* Nobody is ahead.  Without a lease that may be old news: look again behind
 * a committed round. */
void contender_grant_or_prove(struct contender *c) {
  struct session *s = contender_session(c);
  if (session_lease_stands(s)) {
    grant(c);
    return;
  }
  contender_enter(c, CONTENDER_QUEUED);
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
  if (contender_is_unfair(c))
    unfair_look(c, &c->own);
  else
    lane_want_new_list(c->lane);
}

/* Our node does not exist: begin again at the tail, same deadline. */
void contender_start_over(struct contender *c) {
  c->anchored = false;
  watch_drop(&c->own);
  contender_unwatch(c);
  if (!contender_is_unfair(c) && room_for(c->lane, true) != ROOM_YES) {
    park_again(c); /* many begin again at once */
    return;
  }
  take_new_name(c);
  contender_enter(c, CONTENDER_ENTERING);
  contender_drive(c);
}

/* Driving. */

/* Who waits keeps those behind it waiting: they would come before it. */
static bool must_come_later(struct contender *c) {
  struct session *s = contender_session(c);
  if (session_defers(s, &c->create)) c->lane->creates_from = s->trusted_at;
  return s->now < c->lane->creates_from;
}

static void try_create(struct contender *c) {
  if (c->made || c->create.in_flight) return;
  if (c->lane->parent_missing) {
    session_dirty(contender_session(c), c->lane);
    return;
  }
  if (session_refuses(contender_session(c), &c->create)) {
    create_failed(c, REASON_TOO_LARGE);
    return;
  }
  if (must_come_later(c)) return;
  if (session_submit(contender_session(c), &c->create) &&
      !contender_is_unfair(c))
    lane_want_list(c->lane, c->create.serial);
}

void contender_drive(struct contender *c) {
  struct session *s = contender_session(c);
  if (!session_is_connected(s)) return;
  check(c);
  switch (c->state) {
    case CONTENDER_PARKED:
      if (!contender_may_enter(c)) {
        c->lane->parked = c->lane->first;
        session_dirty(s, c->lane);
        return;
      }
      if (c->gate && !c->gate_open) {
        permit_begin(c);
        return;
      }
      take_new_name(c);
      contender_enter(c, CONTENDER_ENTERING);
      try_create(c);
      break;
    case CONTENDER_ENTERING:
      if (c->made)
        lane_want_list(c->lane, 0);
      else
        try_create(c);
      break;
    case CONTENDER_FINDING:
      lane_want_list(c->lane, 0);
      break;
    case CONTENDER_QUEUED:
      if (contender_is_unfair(c))
        unfair_look(c, c->made ? &c->own : &c->predecessor);
      else if (c->listed_in == s->connection)
        turn_settle(c);
      else
        lane_want_list(c->lane, 0);
      break;
    case CONTENDER_HELD:
      /* After a reconnection: is our node still there? */
      if (s->connection > c->granted_in) contender_guard(c);
      break;
    case CONTENDER_LEAVING:
      if (c->made && contender_is_unfair(c) && !watch_is_armed(c->own))
        unfair_look(c, &c->own); /* still ours? */
      else if (c->made && !c->remove.in_flight)
        session_submit(s, &c->remove);
      else if (c->doubtful && contender_is_unfair(c))
        lane_want_new_list(c->lane);
      else if (c->doubtful)
        lane_want_list(c->lane, 0);
      break;
    case CONTENDER_GONE:
      break;
  }
}

static void retry_leaving(struct contender *c) {
  timer_set(&contender_session(c)->timers, &c->timer,
            c->decided ? NEVER : c->options.deadline);
  contender_drive(c);
}

void contender_due(struct contender *c) {
  struct session *s = contender_session(c);
  bool connected = session_is_connected(s);
  if (c->state == CONTENDER_HELD)
    contender_lose(c, LOSS_MAX_HOLD);
  else if (!c->decided && s->now >= c->options.deadline)
    contender_refuse(c,
                     connected && c->options.patient ? VERDICT_TIMEOUT
                                                     : VERDICT_DISCONNECTED,
                     0);
  else if (c->state == CONTENDER_QUEUED)
    turn_look_again(c);
  else
    retry_leaving(c);
}

void contender_parent_failed(struct contender *c, enum verdict why,
                             int reason) {
  if (c->state == CONTENDER_ENTERING && !c->made && !c->create.in_flight)
    contender_refuse(c, why, reason);
}

/* Replies. */

static void create_failed(struct contender *c, int rc) {
  if (rc == REPLY_NO_NODE && c->options.downgrade) {
    contender_refuse(c, VERDICT_LOST, 0); /* and so the writer is gone, too */
    return;
  }
  if (rc == REPLY_NO_NODE) {
    lane_want_parent(c->lane);
    return;
  }
  session_trouble(contender_session(c), "cannot create a node", c->lane->path,
                  rc);
  bool denied =
      rc == REPLY_NO_AUTH || rc == REPLY_AUTH_FAILED || rc == REPLY_INVALID_ACL;
  contender_refuse(c, denied ? VERDICT_AUTH : VERDICT_INVALID, rc);
}

static void on_create(struct op *op, const struct reply *reply) {
  struct contender *c = op->owner;
  switch (reply->rc) {
    case REPLY_OK:
      c->made = true;
      contender_set_name(c, reply->path + c->lane->length + 1);
      c->czxid = reply->czxid;
      c->owner_session = reply->owner;
      c->proven = reply->owner == contender_session(c)->id;
      c->doubtful = false;
      if (contender_is_unfair(c) && c->state == CONTENDER_ENTERING) {
        unfair_mine(c);
        return;
      }
      break;
    case REPLY_LOST:
    case REPLY_SESSION_EXPIRED:
    case REPLY_SESSION_MOVED:
      c->doubtful = true;
      if (c->state == CONTENDER_ENTERING) contender_enter(c, CONTENDER_FINDING);
      break;
    case REPLY_NODE_EXISTS:
      if (contender_is_unfair(c)) {
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
      contender_leave(c); /* nothing was made after all */
  } else {
    contender_reap(c);
  }
}

static void on_remove(struct op *op, const struct reply *reply) {
  struct contender *c = op->owner;
  struct session *s = contender_session(c);
  switch (reply->rc) {
    case REPLY_OK:
    case REPLY_NO_NODE:
      if (c->state == CONTENDER_LEAVING) contender_finish(c);
      break;
    case REPLY_LOST:
    case REPLY_SESSION_EXPIRED:
    case REPLY_SESSION_MOVED:
      /* The connection is about to go; then again.  But a name that is not
       * ours alone may be somebody else's by then: look first. */
      if (contender_is_unfair(c)) {
        c->made = false;
        c->doubtful = true;
      }
      break;
    default:
      session_trouble(s, "cannot delete our node", c->path, reply->rc);
      if (c->attempts < 6) c->attempts++;
      timer_set(&s->timers, &c->timer, s->now + (SECOND / 10 << c->attempts));
  }
  contender_reap(c);
}
