/* What must be true of those who wait for what becomes of a node, and of the
 * members of a double barrier.  Each is about moments: was it so at any of
 * them, between its beginning and now, in what the leader has committed? */

#include "invariants.h"
#include "world.h"

/* In peace everything is heard within this time: a node of a dead session may
 * live for a timeout and a tick, a request that got lost takes a quarter of a
 * second. */
static int64_t limit(const struct world *w) {
  return 3 * w->profile.timeout + SECOND;
}

/* Since when has nothing gone wrong for this process?  NEVER: it does. */
static int64_t peace_since(const struct world *w, const struct process *p) {
  if (!w->calm || !session_is_connected(&p->session)) return NEVER;
  if (p->library.state != LIBRARY_CONNECTED) return NEVER;
  return later(w->calm_since, p->library.connected_at);
}

/* Waits. */

/* The oldest view that counts: of one that proves what it sees, the state that
 * was committed when it began; of the others what their server had shown, for
 * servers may lag.  (A new session is a transaction, too, and its server has
 * seen that.) */
static int oldest_view(const struct wait *wait) {
  return wait->node_wait.needs_heartbeat ? wait->since : wait->seen;
}

/* Was it so, or not so, at any moment that counts? */
static bool was_ever(struct world *w, const struct wait *wait, bool met) {
  int view = oldest_view(wait);
  for (; view <= w->zoo.history.log_count; view++)
    if (wait_is_met(w, wait, view) == met) return true;
  return false;
}

static bool is_ever_shut(const struct world *w, const struct wait *wait) {
  const struct history *h = &w->zoo.history;
  int node = wait->path < h->known_paths ? h->newest[wait->path] : NO_NODE;
  while (node != NO_NODE &&
         !node_is_shut_to(&h->nodes[node], wait->process->number))
    node = h->nodes[node].older;
  return node != NO_NODE;
}

/* What ends a wait, or a barrier leave, beside what it waits for. */
static bool has_reason(const struct process *p, enum refusal_code why,
                       bool overdue, bool patient, bool cancelled) {
  switch (why) {
    case REFUSED_TIMEOUT:
    case REFUSED_DISCONNECTED:
      return !patient || overdue;
    case REFUSED_CANCELLED:
      return cancelled;
    case REFUSED_CLOSED:
      return p->session.state == SESSION_CLOSED;
    case REFUSED_AUTH:
      return p->shut_out;
    default:
      return false;
  }
}

static void check_refusal_code(struct world *w, const struct wait *wait) {
  const struct node_wait *v = &wait->node_wait;
  const struct process *p = wait->process;
  bool overdue = p->now >= v->until;
  if (v->refusal_code == REFUSED_TIMEOUT && !v->patient && !overdue &&
      !was_ever(w, wait, false))
    violate(w, "<%d> does not wait for what is so", wait->number);
  if (v->refusal_code == REFUSED_DENIED && v->kind == NODE_WAIT_COUNT &&
      is_ever_shut(w, wait))
    return; /* its directory may not be listed */
  if (!has_reason(p, v->refusal_code, overdue, v->patient, wait->cancelled))
    violate(w, "<%d> ends for no reason (%d)", wait->number,
            (int)v->refusal_code);
}

void invariants_waited(struct world *w, const struct wait *wait, bool met) {
  if (!met)
    check_refusal_code(w, wait);
  else if (!was_ever(w, wait, true))
    violate(w, "<%d> is met, and %s never was as it says", wait->number,
            wait->node_wait.path);
}

/* Since when has it been what it waits for, without a break?  NEVER: it is
 * not. */
static int64_t met_since(struct world *w, const struct wait *wait) {
  const struct history *h = &w->zoo.history;
  int view = h->log_count;
  if (!wait_is_met(w, wait, view)) return NEVER;
  while (view > wait->since && wait_is_met(w, wait, view - 1)) view--;
  return view == wait->since ? wait->begun_at : h->log[view - 1].at;
}

static void check_wait(struct world *w, const struct wait *wait) {
  const struct process *p = wait->process;
  int64_t peace = peace_since(w, p);
  if (wait->node_wait.until <= p->now)
    violate(w, "<%d> still waits after its deadline", wait->number);
  if (!wait->node_wait.patient && !session_is_connected(&p->session))
    violate(w, "<%d> waits for a connection", wait->number);
  if (peace == NEVER) return;
  if (!wait->node_wait.patient &&
      w->now > later(peace, wait->begun_at) + w->profile.timeout + SECOND)
    violate(w, "<%d> waits, and did not want to", wait->number);
  if (w->now <= later(peace, wait->begun_at) + limit(w)) return;
  int64_t since = met_since(w, wait);
  if (since != NEVER && w->now > later(peace, since) + limit(w))
    violate(w, "<%d> has not been told of what it waits for", wait->number);
}

/* Double barriers. */

static const struct lock *lock_of(const struct world *w,
                                  const struct acquisition *a) {
  return &w->profile.locks[a->lock];
}

/* Whoever made it had enough members before its eyes: there were so many at a
 * moment between the making of its own node and this.  (That they are there
 * still nobody can know: one may die at any moment; nor whether its own is, if
 * another of that name has taken its place.) */
static bool is_sound(const struct world *w, const struct lock *lock,
                     const struct znode *ready) {
  const struct history *h = &w->zoo.history;
  int request = h->log[ready->made].request;
  if (request == NOBODY) /* a foreign client, which sees what is */
    return members_at(w, lock->directory, ready->made) >= lock->permits;
  int session = w->zoo.connections[w->zoo.requests[request].connection].session;
  for (CHILDREN(own, h, lock->directory)) {
    if (own->session != session) continue;
    for (int view = own->made + 1; view <= ready->made; view++)
      if (members_at(w, lock->directory, view) >= lock->permits) return true;
  }
  return false;
}

/* By a `ready` that is younger than its own node, as far as it can know; in a
 * concert all are there then. */
void invariants_gathered(struct world *w, const struct acquisition *a) {
  const struct history *h = &w->zoo.history;
  const struct lock *lock = lock_of(w, a);
  const struct znode *own = &h->nodes[a->node];
  bool any = false;
  for (CHILDREN(ready, h, lock->directory)) {
    if (!is_ready(w, ready) || ready->made < own->made ||
        ready->made >= a->process->seen)
      continue;
    any = true;
    if (w->profile.concert
            ? members_at(w, lock->directory, ready->made) >= lock->permits
            : is_sound(w, lock, ready))
      return;
  }
  violate(w, "(%d) is let in %s", a->number,
          any ? "where too few have come" : "by nobody");
}

/* Who might see that all are there: ours, and foreign clients. */
static int openers_at(const struct world *w, const struct lock *lock,
                      int view) {
  const struct history *h = &w->zoo.history;
  int openers = 0;
  for (CHILDREN(node, h, lock->directory))
    openers += node_seen(node, view) && node->session != NOBODY &&
               w->zoo.sessions[node->session].client < IMPOSTOR;
  return openers;
}

/* Enough have been there, without a break, since then. */
static bool is_complete(const struct world *w, const struct lock *lock,
                        int64_t since) {
  const struct history *h = &w->zoo.history;
  int view = h->log_count;
  for (; view > 0; view--) {
    if (openers_at(w, lock, view) < lock->permits) return false;
    if (h->log[view - 1].at < since) return true;
  }
  return false;
}

/* All who were counted are let in, however late they hear of it: `ready` stays
 * while one of them is there, or is made anew.  (Unless somebody has other
 * rules.) */
static bool was_let_in(const struct world *w, const struct lock *lock,
                       const struct znode *own, const struct process *p) {
  const struct history *h = &w->zoo.history;
  for (CHILDREN(ready, h, lock->directory)) {
    if (!is_ready(w, ready) || ready->made < own->made) continue;
    if (node_is_shut_to(ready, p->number))
      continue; /* no server tells it which one that is */
    if (h->log[ready->made].at > w->now - limit(w)) continue;
    return node_is_there(ready) || h->log[ready->gone].request != NOBODY;
  }
  return false;
}

static void check_late(struct world *w, const struct acquisition *a, int own) {
  const struct history *h = &w->zoo.history;
  int64_t since = peace_since(w, a->process);
  if (since == NEVER || !node_is_there(&h->nodes[own])) return;
  since = later(since, h->log[h->nodes[own].made].at);
  if (w->now <= since + limit(w)) return;
  if (is_complete(w, lock_of(w, a), w->now - limit(w)))
    violate(w, "(%d) has waited in vain, and enough are there", a->number);
  else if (was_let_in(w, lock_of(w, a), &h->nodes[own], a->process))
    violate(w, "(%d) has waited in vain, and others were let in", a->number);
}

static void check_busy(struct world *w, const struct acquisition *a, int own) {
  const struct history *h = &w->zoo.history;
  for (int view = h->nodes[own].made + 1; view <= h->log_count; view++)
    if (openers_at(w, lock_of(w, a), view) < lock_of(w, a)->permits) return;
  violate(w, "(%d) would not wait, and enough are there", a->number);
}

/* In a concert each member has a node, and none is lost.  A concert ends once a
 * member has no node because its session's quota is used up. */
static bool is_concert(struct world *w) {
  for (int i = 0; i < w->acquisition_count; i++) {
    const struct acquisition *a = &w->acquisitions[i];
    if (a->lost) return false;
    if (a->contender && a->contender->state == CONTENDER_PARKED)
      w->profile.concert = false;
  }
  return w->profile.concert;
}

void invariants_not_gathered(struct world *w, const struct acquisition *a,
                             enum refusal_code why) {
  if (is_concert(w))
    violate(w, "(%d) is not let in, and all have come", a->number);
  int own = invariants_own_node(w, a);
  if (own == NO_NODE) return;
  if (why == REFUSED_TIMEOUT && a->patient) check_late(w, a, own);
  if (why == REFUSED_BUSY) check_busy(w, a, own);
}

/* `ready` is made.  Whoever has a node then, and the watch of a `ready` that is
 * not there, will be told in this connection, and is let in: even if it is gone
 * again when he looks. */
void invariants_invited(struct world *w, int node) {
  const struct znode *ready = &w->zoo.history.nodes[node];
  int lock = lock_of_directory(w, ready->parent);
  for (int i = w->first_alive; i < w->acquisition_count; i++) {
    struct acquisition *a = &w->acquisitions[i];
    const struct contender *c = a->contender;
    if (a->lock != lock || a->kind != KIND_MEMBER || !c) continue;
    if (!contender_is_waiting(c) || !contender_is_surely_ours(c) ||
        !watch_is_of(&c->predecessor, 0) ||
        node_is_shut_to(ready, a->process->number))
      continue;
    a->invited_in = a->process->session.pipeline.connection;
    a->invited_as = c->node.czxid;
    a->invited_at = w->now;
  }
}

static void check_invited(struct world *w, const struct acquisition *a) {
  const struct process *p = a->process;
  const struct contender *c = a->contender;
  int64_t peace = peace_since(w, p);
  if (!c || !a->invited_in || a->granted || a->refused) return;
  if (a->invited_in != p->session.pipeline.connection ||
      a->invited_as != c->node.czxid)
    return;
  if (peace != NEVER && w->now > later(peace, a->invited_at) + limit(w))
    violate(w, "(%d) was told to come in, and is outside", a->number);
}

/* Barrier leaves. */

static void check_departed(struct world *w, const struct leaving *l) {
  const struct history *h = &w->zoo.history;
  for (int i = 0; i < h->node_count; i++)
    if (l->members[i / 64] >> (i % 64) & 1 && node_is_there(&h->nodes[i]))
      violate(w, "{%d} has left with all others, and %s is there", l->number,
              paths_text(&w->paths, h->nodes[i].path));
}

void invariants_departed(struct world *w, const struct leaving *l, bool all) {
  const struct acquisition *a = &w->acquisitions[l->acquisition];
  const struct node_wait *d = &l->barrier_leave.wait;
  const struct process *p = l->process;
  if (!a->released && !a->lost)
    violate(w, "{%d} has ended, and holds its node", l->number);
  if (all)
    check_departed(w, l);
  else if (is_concert(w))
    violate(w, "{%d} waits no more, and all have come", l->number);
  else if (!has_reason(p, d->refusal_code, p->now >= d->until, d->patient,
                       l->cancelled))
    violate(w, "{%d} ends for no reason (%d)", l->number, (int)d->refusal_code);
}

/* Since when has nobody else been there?  NEVER: somebody is. */
static int64_t alone_since(const struct world *w, const struct leaving *l) {
  const struct history *h = &w->zoo.history;
  const struct acquisition *a = &w->acquisitions[l->acquisition];
  int64_t since = l->begun_at;
  for (CHILDREN(node, h, lock_of(w, a)->directory)) {
    if (node - h->nodes == a->node || is_ready(w, node)) continue;
    if (node_is_there(node)) return NEVER;
    since = later(since, h->log[node->gone].at);
  }
  return since;
}

static void check_leaving(struct world *w, const struct leaving *l) {
  int64_t peace = peace_since(w, l->process);
  if (l->barrier_leave.wait.until <= l->process->now)
    violate(w, "{%d} still waits after its deadline", l->number);
  if (!l->barrier_leave.wait.patient &&
      !session_is_connected(&l->process->session))
    violate(w, "{%d} waits for a connection", l->number);
  if (peace == NEVER || w->now <= peace + limit(w)) return;
  int64_t since = alone_since(w, l);
  if (since != NEVER && w->now > later(peace, since) + limit(w))
    violate(w, "{%d} waits, and all have left", l->number);
}

void invariants_waits(struct world *w, const struct process *p) {
  for (int i = 0; i < w->wait_count; i++)
    if (w->waits[i].process == p && !w->waits[i].ended)
      check_wait(w, &w->waits[i]);
  for (int i = 0; i < w->leaving_count; i++)
    if (w->leavings[i].process == p && !w->leavings[i].ended)
      check_leaving(w, &w->leavings[i]);
  for (int i = p->last_acquisition; i >= w->first_alive;
       i = w->acquisitions[i].previous)
    check_invited(w, &w->acquisitions[i]);
}
