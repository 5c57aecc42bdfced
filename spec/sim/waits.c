#include "waits.h"

#include <string.h>

#include "world.h"

bool waits_are_over(const struct world *w, const struct process *p) {
  for (int i = 0; i < w->wait_count; i++)
    if (w->waits[i].process == p && !w->waits[i].ended) return false;
  return p->looks_left == 0;
}

/* What it waits for. */

static int contenders_at(const struct world *w, int directory, int view) {
  const struct history *h = &w->zoo.history;
  int number = 0;
  int32_t sequence;
  for (CHILDREN(node, h, directory)) {
    const char *name = paths_name(&w->paths, node->path);
    number +=
        node_seen(node, view) && name_parse(name, &sequence) != ROLE_FOREIGN;
  }
  return number;
}

bool wait_is_met(struct world *w, const struct wait *wait, int view) {
  bool there =
      history_find(&w->zoo.history, &w->paths, wait->path, view) != NO_NODE;
  switch (wait->node_wait.kind) {
    case NODE_WAIT_GONE:
      return !there;
    case NODE_WAIT_EXISTS:
      return there;
    case NODE_WAIT_LEAVE:
      break;
    case NODE_WAIT_COUNT:
      return contenders_at(w, wait->path, view) != wait->node_wait.known;
  }
  return false;
}

/* Its end. */

static void look_later(struct world *w, const struct process *p) {
  int64_t at = p->opens_at > w->now ? p->opens_at : w->now;
  at += MICROSECOND + world_span(w, w->profile.timeout);
  agenda_add(&w->agenda, at, ONLOOKER_ACTS, p->number, 0);
}

static void ended(struct node_wait *v, bool met) {
  struct wait *wait = v->owner;
  struct process *p = wait->process;
  struct world *w = p->world;
  wait->ended = true;
  w->may_be_done = true;
  if (p->crashed) return;
  trace(w, p->number, "* <%d> %s (%d)", wait->number, met ? "is met" : "ends",
        met ? 0 : (int)v->refusal_code);
  invariants_waited(w, wait, met);
  if (wait->user == NOBODY)
    look_later(w, p);
  else
    user_goes_on(w, p, wait->user, met);
}

void wait_is_cancelled(struct world *w, struct process *p, int number) {
  struct wait *wait = &w->waits[number];
  if (wait->ended) return;
  trace(w, p->number, "cancels <%d>", number);
  wait->cancelled = true;
  session_end_node_wait(&p->session, p->now, &wait->node_wait);
}

/* Its beginning. */

static struct wait *new_wait(struct world *w, struct process *p, int user,
                             int path, enum node_wait_kind kind) {
  if (w->wait_count == WAITS_MAX) return NULL;
  struct wait *wait = &w->waits[w->wait_count];
  *wait = (struct wait){.process = p,
                        .number = w->wait_count++,
                        .user = user,
                        .path = path,
                        .since = w->zoo.history.log_count,
                        .seen = p->library.seen,
                        .begun_at = w->now,
                        .node_wait = {.path = paths_text(&w->paths, path),
                                      .kind = kind,
                                      .patient = true,
                                      .until = NEVER,
                                      .ended = ended,
                                      .owner = wait}};
  return wait;
}

/* (Where there is no memory it is as if it had never been.) */
static bool begin(struct world *w, struct process *p, struct wait *wait) {
  static const char *const kinds[] = {[NODE_WAIT_GONE] = "gone",
                                      [NODE_WAIT_EXISTS] = "there",
                                      [NODE_WAIT_COUNT] = "another crowd"};
  const struct node_wait *v = &wait->node_wait;
  trace(w, p->number, "<%d> waits until %s is %s (%d)%s%s", wait->number,
        v->path, kinds[v->kind], v->known, v->patient ? "" : ", tries",
        v->until == NEVER ? "" : ", with a deadline");
  if (v->until != NEVER) w->bound += v->until - p->now;
  if (session_begin_node_wait(&p->session, p->now, &wait->node_wait))
    return true;
  trace(w, p->number, "no memory for <%d>", wait->number);
  wait->ended = true;
  return false;
}

/* The barrier, or the node of an unfair lock, which contenders of the same
 * session watch as well. */
static int awaited(struct world *w, const struct lock *lock) {
  if (lock->family != FAMILY_UNFAIR) return lock->directory;
  return paths_below(&w->paths, lock->place, strlen(lock->place), NAME_UNFAIR);
}

bool wait_at_barrier(struct world *w, struct process *p, int user, int lock) {
  struct random *r = &w->random;
  int path = awaited(w, &w->profile.locks[lock]);
  struct wait *wait = new_wait(w, p, user, path, NODE_WAIT_GONE);
  if (!wait) return false;
  struct node_wait *v = &wait->node_wait;
  v->needs_heartbeat = true;
  v->patient = !(fault_is(w, FAULT_TRY) && random_chance(r, 50));
  if (fault_is(w, FAULT_TIMEOUT) && random_chance(r, 50))
    v->until = p->now + world_span(w, w->profile.timeout * 3 / 2);
  if (!v->patient && random_chance(r, 50))
    v->until = p->now + w->profile.timeout;
  return begin(w, p, wait);
}

/* Onlookers. */

/* Whoever stands first in the queue, as the process has been told. */
static const struct znode *some_head(struct world *w, const struct process *p,
                                     const struct lock *lock) {
  const struct znode *head = NULL;
  for (CHILDREN(child, &w->zoo.history, lock->directory))
    if (child->role != ROLE_FOREIGN && node_seen(child, p->library.seen) &&
        (!head || child->order < head->order))
      head = child;
  return head;
}

static struct wait *look_on(struct world *w, struct process *p) {
  struct random *r = &w->random;
  const struct lock *lock =
      &w->profile.locks[random_below(r, w->profile.lock_count)];
  const struct znode *head = some_head(w, p, lock);
  struct wait *wait;
  if (head && random_chance(r, 50))
    return new_wait(w, p, NOBODY, head->path, NODE_WAIT_GONE);
  if (random_chance(r, 30))
    return new_wait(w, p, NOBODY, lock->directory, NODE_WAIT_EXISTS);
  wait = new_wait(w, p, NOBODY, lock->directory, NODE_WAIT_COUNT);
  if (wait)
    wait->node_wait.known = random_chance(r, 80)
                                ? contenders_at(w, lock->directory, wait->seen)
                                : random_below(r, 3);
  return wait;
}

/* (What it looks at need never come: so it does not look for ever.) */
void onlooker_acts(struct world *w, struct process *p, int which) {
  (void)which;
  struct random *r = &w->random;
  if (p->looks_left == 0) return;
  if (!p->open) {
    look_later(w, p);
    return;
  }
  p->looks_left--;
  w->may_be_done = true;
  struct wait *wait = look_on(w, p);
  if (!wait) return;
  if (wait->node_wait.kind != NODE_WAIT_COUNT) { /* (its lists prove nothing) */
    wait->node_wait.patient = !random_chance(r, 15);
    wait->node_wait.needs_heartbeat = random_chance(r, 15);
  }
  wait->node_wait.until = p->now + world_span(w, 3 * w->profile.timeout);
  if (!begin(w, p, wait)) look_later(w, p);
}
