/* How a contender in the queue learns of its turn: lists, watches, and what
 * they prove (contender.c has the argument). */
#include <string.h>

#include "moves.h"

/* Who is known by the name of its node: one of ours, or one that somebody of
 * ours watches, for a watch reads the node. */
static struct rival know(const struct lane *lane, const char *name) {
  uint64_t id;
  struct rival rival = {.holds = true};
  const struct watch *watch = watch_find(lane, name);
  const struct contender *ours =
      name_id(name, &lane->session->base, &id) ? lane_find(lane, id) : NULL;
  if (ours) {
    rival.data = ours->options.data;
    rival.size = ours->options.size;
    rival.holds = ours->state == CONTENDER_HELD;
  } else if (watch) {
    rival.data = watch->data;
    rival.size = watch->size;
  }
  return rival;
}

/* Either may be NULL.  Rather one that holds than the nearest. */
static void note_rival(struct contender *c, const char *nearest,
                       const char *before) {
  struct rival none = {0}, first = nearest ? know(c->lane, nearest) : none,
               second = before ? know(c->lane, before) : none;
  /* (Who is inside a semaphore's inner mutex holds no permit yet.) */
  first.holds = first.holds && c->predecessor_holds && !c->lease_of;
  second.holds = second.holds && c->before_holds && !c->lease_of;
  c->rival = !first.holds && second.holds && second.size > 0 ? second : first;
}

/* It waits for another of this session, or for a place. */
static void note_own_holder(struct contender *c) {
  bool alone = c->options.kind == KIND_MUTEX || contender_is_unfair(c);
  const struct contender *holder = alone ? lane_holder(c->lane) : NULL;
  if (holder)
    c->rival = (struct rival){holder->options.data, holder->options.size, true};
}

void turn_note_rival(struct contender *c) {
  const struct session *s = contender_session(c);
  if (c->gate_running && !c->gate_open) {
    turn_note_rival(c->gate);
    c->rival = c->gate->rival;
    c->ahead = c->gate->ahead;
  } else if (c->state == CONTENDER_PARKED) {
    note_own_holder(c);
  } else if (c->state == CONTENDER_QUEUED && c->predecessor &&
             (contender_is_unfair(c) ? watch_is_armed(c->predecessor)
                                     : c->listed_in == s->connection)) {
    note_rival(c, watch_name(c->predecessor),
               c->before ? watch_name(c->before) : NULL);
  }
}

/* The one ahead of us is gone.  If it was the only one we are first (2 and 3
 * above); else a list must tell, and one under way will do: its reply comes
 * after this news, so it is not older. */
static void predecessor_gone(struct contender *c) {
  const struct session *s = contender_session(c);
  bool first = c->alone && c->proven && c->listed_in == s->connection &&
               watch_is_armed(c->own);
  watch_drop(&c->predecessor);
  c->alone = false;
  if (!first) {
    c->listed_in = 0;
    lane_want_list(c->lane, 0);
    return;
  }
  c->ahead = 0;
  counter_add(&contender_session(c)->counters.handoffs, 1);
  contender_grant_or_prove(c);
}

/* The one before the predecessor is gone: the predecessor is about to hold
 * the lock.  Find out now, while it does, whether it is the only one ahead:
 * then its deletion will need no request. */
static void before_gone(struct contender *c) {
  const struct session *s = contender_session(c);
  watch_drop(&c->before);
  if (c->listed_in == s->connection && c->ahead == 2 && c->chain) {
    c->ahead = 1;
    c->alone = c->shortcut;
    /* (Between two writers there may be readers.) */
    if (c->options.kind != KIND_READ) c->predecessor_holds = true;
  } else {
    c->listed_in = 0;
    lane_want_list(c->lane, 0);
  }
}

/* Who waits for a change of the directory rather than of one node. */
static bool waits_for_children(const struct contender *c) {
  return c->options.kind == KIND_PERMIT || c->options.strategy == WAIT_PARENT;
}

/* All is known that a list can tell: grant, or watch for our turn. */
void turn_settle(struct contender *c) {
  if (c->proven && c->ahead == 0) {
    contender_grant_or_prove(c);
    return;
  }
  if (c->own && c->proven)
    watch_arm(c->own);
  else if (c->own)
    watch_read(c->own); /* whose is it? */
  if (waits_for_children(c)) {
    lane_watch_children(c->lane, c);
  } else if (c->options.strategy == WAIT_POLL) {
    int64_t next = contender_session(c)->now + c->options.poll_interval;
    timer_set(&contender_session(c)->timers, &c->timer,
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
  if (old && entry && watch_is_of(old, entry->name)) return true;
  *watch = entry ? watch_want(c->lane, entry->name) : NULL;
  if (old) watch_release(old);
  return *watch || !entry;
}

/* Is whatever keeps us waiting a node of ours that is on its way out? */
static bool only_ghosts_ahead(const struct contender *c,
                              const struct listing *listing,
                              const struct entry *own) {
  if (c->options.kind == KIND_PERMIT) return false;
  for (const struct entry *e = own; e-- > listing->entries;) {
    uint64_t id;
    if (!rule_blocks(c->options.kind, own, e)) continue;
    if (!name_id(e->name, &contender_session(c)->base, &id)) return false;
    const struct contender *ghost = lane_find(c->lane, id);
    if (!ghost || ghost->state != CONTENDER_LEAVING) return false;
  }
  return true;
}

/* Our node is in the list: where? */
static void place(struct contender *c, const struct listing *listing,
                  const struct entry *own) {
  struct session *s = contender_session(c);
  if (c->options.kind != KIND_PERMIT && !listing_orders(listing, own)) {
    c->again = true;
    contender_leave(c);
    lane_renew(c->lane);
    return;
  }
  /* A downgrade holds its place only if the writer was there after it: else
   * the next writer may have been granted in between. */
  if (c->options.downgrade && !c->anchored) {
    c->anchored = listing_find(listing, c->options.writer) != NULL;
    if (!c->anchored) {
      contender_refuse(c, VERDICT_LOST, 0);
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
  c->predecessor_holds = ahead.nearest && rule_holds(listing, ahead.nearest);
  c->before_holds = ahead.before && rule_holds(listing, ahead.before);
  if (c->ahead > 0 && !c->options.patient &&
      !only_ghosts_ahead(c, listing, own)) {
    note_rival(c, ahead.nearest ? ahead.nearest->name : NULL,
               ahead.before ? ahead.before->name : NULL);
    contender_refuse(c, VERDICT_BUSY, 0);
    return;
  }
  if (c->ahead > 0 || !c->proven) {
    contender_enter(c, CONTENDER_QUEUED);
    if (waits_for_children(c) || c->options.strategy == WAIT_POLL)
      ahead.nearest = ahead.before = NULL;
    if (!aim(c, &c->own, own) || !aim(c, &c->predecessor, ahead.nearest) ||
        !aim(c, &c->before, ahead.before)) {
      c->listed_in = 0; /* no memory: list again later */
      session_retry(s);
      return;
    }
  }
  turn_settle(c);
}

void contender_listed(struct contender *c, const struct listing *listing) {
  bool looked_for = c->made || c->doubtful;
  if (!looked_for || c->create.in_flight || c->state == CONTENDER_HELD) return;
  if (c->state == CONTENDER_LEAVING && c->made) return;
  if (contender_is_unfair(c)) {
    /* What the node is now tells whether it is ours. */
    if (c->state == CONTENDER_LEAVING) unfair_look(c, &c->predecessor);
    if (c->state == CONTENDER_FINDING) unfair_queue(c);
    return;
  }
  const struct entry *own =
      c->made ? listing_find(listing, c->name)
              : listing_find_id(listing, &contender_session(c)->base, c->id);
  if (own && c->doubtful) {
    c->doubtful = false;
    c->made = true;
    contender_set_name(c, own->name);
    session_found(contender_session(c), &c->create);
  }
  if (c->state == CONTENDER_LEAVING) {
    c->doubtful = false;
    if (own) {
      contender_drive(c);
    } else {
      contender_finish(c);
      contender_reap(c);
    }
  } else if (own) {
    place(c, listing, own);
  } else {
    contender_start_over(c);
  }
}

/* Our node's data ask us to let go: the whole of them (as Curator's Revoker
 * writes) or a mark at their end (as we do). */
void turn_hear_revocation(struct contender *c, const struct reply *reply) {
  c->asked |= reply->revoked;
  turn_tell_revocation(c);
}

void turn_tell_revocation(struct contender *c) {
  if (!c->asked || c->revoked || c->state != CONTENDER_HELD) return;
  c->revoked = true;
  c->tell(c, NEWS_REVOKED);
}

void contender_watch(struct contender *c, struct watch *watch,
                     enum watch_news news, const struct reply *reply) {
  if (contender_is_unfair(c)) {
    unfair_watch(c, watch, news, reply);
    return;
  }
  bool waiting = c->state == CONTENDER_QUEUED;
  if (watch == c->own) {
    if (news == WATCH_ARMED) turn_hear_revocation(c, reply);
    if (news == WATCH_ARMED && waiting && !c->proven) {
      c->czxid = reply->czxid;
      c->owner_session = reply->owner;
      c->proven = reply->owner == contender_session(c)->id;
      if (!c->proven)
        contender_start_over(c); /* a dying node of another session */
      else if (c->listed_in == contender_session(c)->connection)
        turn_settle(c);
    } else if (news == WATCH_STALE) {
      watch_arm(watch); /* somebody wrote its data: what? */
    } else if (news == WATCH_GONE && waiting) {
      contender_start_over(c);
    } else if (news == WATCH_GONE) {
      contender_lose_node(c);
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
  if (c->own) {
    watch_arm(c->own);
  } else if ((c->own = watch_want(c->lane, c->name))) {
    watch_read(c->own); /* one that waits may have it armed */
  }
}

/* WAIT_POLL: the interval is over. */
void turn_look_again(struct contender *c) {
  timer_set(&contender_session(c)->timers, &c->timer, c->options.deadline);
  c->listed_in = 0;
  lane_want_list(c->lane, contender_session(c)->serial);
}
