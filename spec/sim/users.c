#include "users.h"

#include <string.h>

#include "memory.h"
#include "world.h"

bool believes(const struct world *w, const struct acquisition *a) {
  const struct process *p = a->process;
  return a->granted && !a->lost && !a->released && a->contender &&
         !p->crashed && p->open && a->contender->state == CONTENDER_HELD &&
         process_clock(w, p) < p->session.pipeline.lease.until &&
         process_clock(w, p) < a->hold_until;
}

/* Where the schedule aims at a holder: beside it there are some who keep the
 * connection busy, with renewals or with reads. */
static bool is_busy(const struct world *w, int user) {
  return (w->faults.aimed || fault_is(w, FAULT_SKIP)) && user > 0;
}

void users_reset(struct world *w, struct process *p) {
  int users = 1;
  if (fault_is(w, FAULT_TWIN)) users += random_below(&w->random, USERS_MAX);
  if (w->faults.aimed) users = 1 + random_below(&w->random, 3);
  if (fault_is(w, FAULT_SKIP)) users = 2;
  for (int i = 0; i < USERS_MAX; i++) {
    p->users[i].left =
        i < users ? 1 + random_below(&w->random, users == 1 ? 3 : 2) : 0;
    if (i < users && fault_is(w, FAULT_CONVOY))
      p->users[i].left += users == 1 ? 3 + random_below(&w->random, 6) : 2;
    if (i < users && is_busy(w, i))
      p->users[i].left = 3 + random_below(&w->random, 8);
    /* One is refused again and again, while the first user holds for long. */
    if (i < users && i > 0 && fault_is(w, FAULT_SKIP)) p->users[i].left = 40;
    p->users[i].busy = p->users[i].left > 0;
    if (!p->users[i].left) continue;
    agenda_add(&w->agenda, world_span(w, w->profile.think), USER_ACTS,
               p->number, i);
  }
  p->looks_left = 0;
  if (!fault_is(w, FAULT_ONLOOKER) || random_chance(&w->random, 30)) return;
  p->looks_left = 1 + random_below(&w->random, 8);
  agenda_add(&w->agenda, world_span(w, w->profile.think), ONLOOKER_ACTS,
             p->number, 0);
}

/* A concert: exactly as many come as a double barrier waits for, each as often
 * as the others, nothing goes wrong, and nobody gives up. */
void users_decide_concert(struct world *w) {
  const uint64_t harmless =
      FAULT_BIT(LAG) | FAULT_BIT(DRIFT) | FAULT_BIT(TWIN) |
      FAULT_BIT(UNREADABLE) | FAULT_BIT(OLD) | FAULT_BIT(EQUAL) |
      FAULT_BIT(CONVOY) | FAULT_BIT(OBSERVER) | FAULT_BIT(GARBLE) |
      FAULT_BIT(TIMEOUT) | FAULT_BIT(TRY) | FAULT_BIT(MAX_HOLD) |
      FAULT_BIT(SUSPEND) | FAULT_BIT(ONLOOKER);
  struct profile *f = &w->profile;
  struct lock *lock = &f->locks[0];
  int members = 0, rounds = 1 + random_below(&w->random, 3);
  f->concert = lock->family == FAMILY_DOUBLE && f->lock_count == 1 &&
               !(w->faults.classes & ~harmless);
  if (!f->concert) return;
  for (int i = 0; i < w->process_count; i++)
    for (int j = 0; j < USERS_MAX; j++)
      if (w->processes[i].users[j].left > 0) {
        w->processes[i].users[j].left = rounds;
        members++;
      }
  lock->permits = members;
}

bool users_are_done(const struct world *w, const struct process *p) {
  if (p->crashed) return true;
  if (!waits_are_over(w, p) || !leavings_are_over(w, p)) return false;
  for (int i = 0; i < USERS_MAX; i++)
    if (p->users[i].busy) return false;
  for (int i = 0; i < w->acquisition_count; i++)
    if (w->acquisitions[i].process == p && !w->acquisitions[i].forgotten)
      return false;
  return true;
}

static void act_later(struct world *w, const struct process *p, int user,
                      int64_t longest) {
  if (is_busy(w, user)) longest = w->profile.timeout / 16;
  agenda_add(&w->agenda, w->now + world_span(w, longest), USER_ACTS, p->number,
             user);
}

/* (A downgrade is a part of what its writer does.) */
static void end(struct world *w, struct acquisition *a, int64_t longest) {
  if (a->ended) return;
  a->ended = true;
  if (a->writer == NOBODY) act_later(w, a->process, a->user, longest);
}

/* Acquiring. */

/* Others need never come: so nobody waits for ever. */
static void be_member(struct world *w, const struct acquisition *a,
                      struct contender_options *options) {
  const struct profile *f = &w->profile;
  int64_t now = a->process->now;
  if (f->concert) {
    options->patient = true;
    options->lose_on_suspend = false;
    options->max_hold = NEVER;
    options->deadline = now + 12 * f->timeout + 4 * (f->think + f->hold);
  } else if (options->deadline == NEVER) {
    options->deadline = now + world_span(w, 6 * f->timeout);
    if (w->now < f->active && random_chance(&w->random, 50))
      options->deadline += f->active - w->now;
  }
  w->bound += options->deadline - now + 4 * f->timeout;
}

static struct contender_options options_of(struct world *w,
                                           struct acquisition *a) {
  const struct lock *lock = &w->profile.locks[a->lock];
  const struct process *p = a->process;
  struct random *r = &w->random;
  struct contender_options options = {.kind = a->kind,
                                      .layout = lock->layout,
                                      .permits = lock->permits,
                                      .local_turns = random_chance(r, 80)
                                                         ? lock->local_turns
                                                         : 0,
                                      .deadline = NEVER,
                                      .max_hold = NEVER};
  if (a->kind == KIND_MUTEX && !options.local_turns && random_chance(r, 15)) {
    options.strategy = random_chance(r, 50) ? WAIT_PARENT : WAIT_POLL;
    options.poll_interval = w->profile.timeout / 40 + world_span(w, SECOND);
  }
  if (a->writer != NOBODY) {
    const struct contender *writer = w->acquisitions[a->writer].contender;
    options.downgrade = true;
    int32_t number;
    name_parse(writer->node.name, &number);
    options.writer_number = number;
    options.writer_token = contender_token(writer);
  }
  if (fault_is(w, FAULT_TIMEOUT) && random_chance(r, 50))
    options.deadline = p->now + world_span(w, w->profile.timeout * 3 / 2);
  if (fault_is(w, FAULT_MAX_HOLD) && random_chance(r, 50))
    options.max_hold = world_span(w, w->profile.timeout);
  options.patient = !(fault_is(w, FAULT_TRY) && random_chance(r, 50));
  /* Somebody who does not wait still wants an answer in some time. */
  if (!options.patient && options.deadline == NEVER)
    options.deadline = p->now + w->profile.timeout;
  options.lose_on_suspend = fault_is(w, FAULT_SUSPEND) && random_chance(r, 50);
  if (is_busy(w, a->user) && a->kind == KIND_MUTEX) {
    options.patient = random_chance(r, 40);
    options.deadline = p->now + world_span(w, w->profile.timeout);
    options.strategy = options.local_turns ? WAIT_PREDECESSOR : WAIT_POLL;
    options.poll_interval =
        w->profile.timeout / 60 + world_span(w, w->profile.timeout / 8);
  }
  if (a->kind == KIND_MEMBER) be_member(w, a, &options);
  a->deadline = options.deadline;
  a->patient = options.patient;
  a->local_turns = options.local_turns;
  a->max_hold = options.max_hold;
  a->lose_on_suspend = options.lose_on_suspend;
  return options;
}

static enum kind kind_of(struct world *w, const struct lock *lock) {
  switch (lock->family) {
    case FAMILY_RWLOCK:
      return random_chance(&w->random, 55) ? KIND_READ : KIND_WRITE;
    case FAMILY_SEMAPHORE:
      return KIND_PERMIT;
    case FAMILY_UNFAIR:
      return KIND_UNFAIR;
    case FAMILY_DOUBLE:
      return KIND_MEMBER;
    default:
      return KIND_MUTEX;
  }
}

static void forget(struct world *w, struct acquisition *a) {
  memory_free(a->contender);
  memory_free(a->gate);
  a->contender = a->gate = NULL;
  a->forgotten = true;
  while (w->first_alive < w->acquisition_count &&
         w->acquisitions[w->first_alive].forgotten)
    w->first_alive++;
  w->may_be_done = true;
}

static news_handler on_user_news;

/* For a downgrade: `writer`, who holds. */
static void acquire(struct world *w, struct process *p, int user, int number,
                    int writer) {
  static const char *const kinds[] = {"mutex",  "read",   "write",
                                      "permit", "unfair", "member"};
  struct acquisition *a = &w->acquisitions[w->acquisition_count];
  const struct lock *lock = &w->profile.locks[number];
  *a = (struct acquisition){
      .process = p,
      .number = w->acquisition_count,
      .previous = p->last_acquisition,
      .user = user,
      .lock = number,
      .kind = writer == NOBODY ? kind_of(w, lock) : KIND_READ,
      .writer = writer,
      .node = NO_NODE,
  };
  p->last_acquisition = w->acquisition_count;
  a->hold = world_span(w, is_busy(w, user) ? w->profile.timeout / 16
                                           : w->profile.hold);
  a->hold_until = NEVER;
  a->enters_in =
      p->session.pipeline.connection + !session_is_connected(&p->session);
  struct contender_options options = options_of(w, a);
  trace(w, p->number, "user %d acquires %s (%d), %s%s%s%s%s", user, lock->path,
        w->acquisition_count, kinds[a->kind],
        writer == NOBODY ? "" : ", downgrades",
        a->local_turns ? ", with local turns" : "", a->patient ? "" : ", tries",
        a->deadline == NEVER ? "" : ", with a deadline");
  w->acquisition_count++;
  w->bound += a->hold + 4 * options.poll_interval;
  size_t size = contender_size(strlen(lock->place));
  a->contender = memory_take(size);
  contender_init(a->contender, &options, on_user_news, a);
  if (a->kind == KIND_PERMIT) a->gate = a->contender->gate = memory_take(size);
  if (session_acquire(&p->session, p->now, a->contender, lock->place)) return;
  trace(w, p->number, "no memory for (%d)", w->acquisition_count - 1);
  a->refused = a->ended = true;
  forget(w, a);
  if (writer == NOBODY) act_later(w, p, user, w->profile.think);
}

static bool is_over(const struct acquisition *a) {
  return a->lost || a->released || !a->contender;
}

/* Does it wait for a node that it does not contend for? */
static bool waits(struct world *w, const struct lock *lock) {
  return lock->family == FAMILY_BARRIER ||
         (lock->family == FAMILY_UNFAIR && fault_is(w, FAULT_ONLOOKER) &&
          random_chance(&w->random, 25));
}

static void act(struct world *w, struct process *p, int user) {
  struct user *u = &p->users[user];
  if (u->left == 0 || w->acquisition_count >= ACQUISITIONS_MAX) {
    u->left = 0;
    u->busy = false;
    w->may_be_done = true;
    return;
  }
  if (!p->open) {
    int64_t at = p->opens_at > w->now ? p->opens_at : w->now;
    at += MILLISECOND + world_span(w, w->profile.think / 8);
    agenda_add(&w->agenda, at, USER_ACTS, p->number, user);
    return;
  }
  int lock = lock_of_process(w, p->number);
  if (fault_is(w, FAULT_SKIP) && !fault_is(w, FAULT_MIXED))
    lock = user > 0 ? w->profile.lock_count - 1 : 0;
  u->left--;
  if (!waits(w, &w->profile.locks[lock]))
    acquire(w, p, user, lock, NOBODY);
  else if (!wait_at_barrier(w, p, user, lock))
    act_later(w, p, user, w->profile.think);
}

/* (Who has passed a barrier may come to the next one at once.) */
void user_goes_on(struct world *w, struct process *p, int user, bool at_once) {
  if (at_once && p->users[user].left > 0 && random_chance(&w->random, 30))
    act(w, p, user);
  else
    act_later(w, p, user, w->profile.think);
}

void user_has_left(struct world *w, int acquisition) {
  end(w, &w->acquisitions[acquisition], w->profile.think);
}

/* Together with the others.  False: alone. */
static bool departs(struct world *w, struct process *p, int acquisition) {
  struct acquisition *a = &w->acquisitions[acquisition];
  if (a->kind != KIND_MEMBER || a->departs) return false;
  if (!w->profile.concert && random_chance(&w->random, 25)) return false;
  a->departs = true;
  return leaving_begins(w, p, acquisition);
}

/* (In a convoy most are back in the same batch.) */
static void release(struct world *w, struct process *p, int acquisition) {
  struct acquisition *a = &w->acquisitions[acquisition];
  if (is_over(a) || departs(w, p, acquisition)) return;
  bool back = fault_is(w, FAULT_CONVOY) && !a->ended && a->writer == NOBODY &&
              random_chance(&w->random, 80);
  trace(w, p->number, "releases (%d)", acquisition);
  a->released = true;
  if (back)
    a->ended = true;
  else
    end(w, a, w->profile.think);
  session_release(&p->session, p->now, a->contender);
  if (back) act(w, p, a->user);
}

/* Who holds the write lock takes the read lock, too. */
static void downgrade(struct world *w, struct process *p, int acquisition) {
  const struct acquisition *a = &w->acquisitions[acquisition];
  if (is_over(a) || !believes(w, a)) return;
  if (w->acquisition_count < DOWNGRADES_UNTIL)
    acquire(w, p, a->user, a->lock, acquisition);
}

static void cancel(struct world *w, struct process *p, int acquisition) {
  const struct acquisition *a = &w->acquisitions[acquisition];
  if (a->granted || a->refused || !a->contender) return;
  trace(w, p->number, "cancels (%d)", acquisition);
  session_cancel(&p->session, p->now, a->contender);
}

static void watch_contention(struct world *w, struct process *p,
                             int acquisition) {
  struct acquisition *a = &w->acquisitions[acquisition];
  if (is_over(a) || !a->granted) return;
  trace(w, p->number, "(%d) looks around", acquisition);
  session_watch_contention(&p->session, p->now, a->contender);
}

void user_does(struct world *w, struct process *p, int what, int which) {
  static void (*const deeds[])(struct world *, struct process *,
                               int) = {[USER_ACTS] = act,
                                       [USER_RELEASES] = release,
                                       [USER_DOWNGRADES] = downgrade,
                                       [USER_CANCELS] = cancel,
                                       [USER_CHECKS_QUEUE] = watch_contention,
                                       [USER_STOPS_WAITING] = wait_is_cancelled,
                                       [USER_STOPS_LEAVING] =
                                           leaving_is_cancelled,
                                       [ONLOOKER_ACTS] = onlooker_acts};
  if (!p->crashed) deeds[what](w, p, which);
}

void user_wants(struct world *w, struct process *p, int what, int which) {
  if (p->crashed) return;
  bool of_acquisition = what == USER_RELEASES || what == USER_DOWNGRADES ||
                        what == USER_CANCELS || what == USER_CHECKS_QUEUE;
  if (of_acquisition && is_over(&w->acquisitions[which])) return;
  if (process_puts_off(w, p, what, which)) return;
  user_does(w, p, what, which);
  if (p->open) process_ends(w, p);
}

/* Of all that was ever begun. */
void user_cancels(struct world *w) {
  int all = w->acquisition_count + w->wait_count + w->leaving_count;
  if (all == 0) return;
  int which = random_below(&w->random, all), what = USER_CANCELS;
  struct process *p;
  if (which < w->acquisition_count) {
    p = w->acquisitions[which].process;
  } else if ((which -= w->acquisition_count) < w->wait_count) {
    what = USER_STOPS_WAITING;
    p = w->waits[which].process;
  } else {
    which -= w->wait_count;
    what = USER_STOPS_LEAVING;
    p = w->leavings[which].process;
  }
  if (p->open) user_wants(w, p, what, which);
}

/* News. */

/* In kazoo's layout a mutex cannot tell a writer from another mutex, and does
 * not wait for the reader that the writer becomes. */
static bool is_like_mutex(const struct world *w, const struct acquisition *a) {
  return fault_is(w, FAULT_MIXED) &&
         w->profile.locks[a->lock].layout == LAYOUT_KAZOO;
}

/* Its user does something within that time. */
static void acts_within(struct world *w, const struct acquisition *a, int what,
                        int64_t longest) {
  agenda_add(&w->agenda, w->now + world_span(w, longest), what,
             a->process->number, a->number);
}

static void granted(struct world *w, struct acquisition *a) {
  a->granted = true;
  a->granted_at = w->now;
  if (a->max_hold != NEVER)
    a->hold_until = a->process->session.pipeline.now + a->max_hold;
  a->token = contender_token(a->contender);
  invariants_granted(w, a);
  agenda_add(&w->agenda, w->now + a->hold, USER_RELEASES, a->process->number,
             a->number);
  if (a->local_turns && random_chance(&w->random, 60))
    acts_within(w, a, USER_CHECKS_QUEUE, a->hold / 2);
  if (a->kind == KIND_WRITE && !is_like_mutex(w, a) &&
      random_chance(&w->random, 40))
    acts_within(w, a, USER_DOWNGRADES, a->hold);
}

/* Who has lost its node leaves no more; or goes on, as others do. */
static void stop_leaving(struct world *w, const struct acquisition *a) {
  for (int i = 0; i < w->leaving_count; i++)
    if (w->leavings[i].acquisition == a->number)
      agenda_add(&w->agenda, w->now + MICROSECOND, USER_STOPS_LEAVING,
                 a->process->number, i);
}

static void on_user_news(struct contender *c, enum news news) {
  static const char *const names[] = {
      [NEWS_GRANTED] = "granted",     [NEWS_REFUSED] = "refused",
      [NEWS_LOST] = "lost",           [NEWS_REVOKED] = "revoked",
      [NEWS_REMOVED] = "removed",     [NEWS_FORGOTTEN] = "forgotten",
      [NEWS_UNDELETABLE] = "kept",    [NEWS_UNCONTENDED] = "uncontended",
      [NEWS_CONTENDED] = "contended",
  };
  struct acquisition *a = c->owner;
  struct world *w = a->process->world;
  enum refusal_code why = c->refusal_code;
  if (a->process->crashed) {
    if (news == NEWS_FORGOTTEN) forget(w, a);
    return;
  }
  w->decided_at = w->now;
  trace(w, a->process->number, "* %s (%d) %d, %s", names[news], a->number, why,
        c->node.name);
  invariants_told(w, a, news, why);
  switch (news) {
    case NEWS_GRANTED:
      granted(w, a);
      break;
    case NEWS_REFUSED:
      a->refused = true;
      end(w, a, w->profile.think);
      break;
    case NEWS_LOST:
      if (a->process->now >= a->process->session.pipeline.lease.until)
        invariants_lease_over(w, a);
      a->lost = true;
      end(w, a, w->profile.think);
      if (a->departs && random_chance(&w->random, 50)) stop_leaving(w, a);
      break;
    case NEWS_REVOKED: /* some listen */
      a->revoked = true;
      if (random_chance(&w->random, 50))
        acts_within(w, a, USER_RELEASES, w->profile.hold);
      break;
    case NEWS_UNCONTENDED:
      a->uncontended = true;
      break;
    case NEWS_CONTENDED:
      a->uncontended = false;
      break;
    case NEWS_UNDELETABLE: /* (no server here refuses a deletion) */
      break;
    case NEWS_REMOVED:
      a->removed = true;
      break;
    case NEWS_FORGOTTEN:
      forget(w, a);
  }
}
