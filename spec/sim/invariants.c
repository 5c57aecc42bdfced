#include "invariants.h"

#include <string.h>

#include "world.h"

static int number_of(const struct world *w, const struct acquisition *a) {
  return (int)(a - w->acquisitions);
}

static const struct node *node_of(const struct world *w,
                                  const struct acquisition *a) {
  return &w->zoo.history.nodes[a->node];
}

/* An operator, or somebody else who closed the session, took its node away:
 * no protocol can help against that, and nobody promised to. */
static bool is_excused(const struct world *w, const struct acquisition *a) {
  const struct node *node = node_of(w, a);
  return !node_is_there(node) && node->by_force;
}

static int own_node(struct world *w, const struct acquisition *a) {
  const struct contender *c = a->contender;
  return history_find(&w->zoo.history, &w->paths,
                      paths_number(&w->paths, c->path, strlen(c->path)),
                      a->process->seen);
}

/* Is this node of a contender of ours that is on its way out? */
static bool is_ghost(const struct world *w, const struct acquisition *a,
                     const struct node *node) {
  for (int i = 0; i < w->acquisition_count; i++) {
    const struct acquisition *other = &w->acquisitions[i];
    if (other->process != a->process || !other->contender) continue;
    if (other->contender->state == CONTENDER_LEAVING &&
        strcmp(other->contender->path, paths_text(&w->paths, node->path)) == 0)
      return true;
  }
  return false;
}

/* News. */

/* Busy is what somebody else keeps busy, as far as we have heard. */
static void check_busy(struct world *w, const struct acquisition *a) {
  const struct history *h = &w->zoo.history;
  const struct process *p = a->process;
  if (a->patient)
    violate(w, "(%d) is refused as busy, but would have waited",
            number_of(w, a));
  int own = own_node(w, a);
  if (own == NO_NODE || p->hearing == NOBODY) return;
  int view = w->zoo.notes[p->hearing].view;
  int child = history_first_child(h, h->nodes[own].parent);
  for (; child != NO_NODE; child = h->nodes[child].sibling)
    if (h->nodes[child].made < h->nodes[own].made &&
        node_seen(&h->nodes[child], view) && !is_ghost(w, a, &h->nodes[child]))
      return;
  violate(w, "(%d) is refused as busy, and nobody is ahead", number_of(w, a));
}

static void refused(struct world *w, const struct acquisition *a,
                    enum verdict why) {
  const struct process *p = a->process;
  if (a->granted || a->refused)
    violate(w, "(%d) is refused after a decision", number_of(w, a));
  if (why == VERDICT_TIMEOUT && p->now < a->deadline)
    violate(w, "(%d) times out too early", number_of(w, a));
  if (why == VERDICT_BUSY) check_busy(w, a);
}

/* Gone is gone, unless the session is: then the server sees to it. */
static void check_removed(struct world *w, const struct acquisition *a) {
  const struct history *h = &w->zoo.history;
  const struct process *p = a->process;
  const char *lock = w->profile.locks[a->lock];
  char prefix[128];
  if (p->session.state == SESSION_CLOSED || a->contender->id == 0) return;
  size_t length = strlen(lock) + 1;
  memcpy(prefix, lock, length - 1);
  prefix[length - 1] = '/';
  name_format(prefix + length, sizeof prefix - length, &p->session.base,
              a->contender->id, ROLE_LOCK);
  int child =
      history_first_child(h, paths_number(&w->paths, lock, strlen(lock)));
  for (; child != NO_NODE; child = h->nodes[child].sibling) {
    const char *path = paths_text(&w->paths, h->nodes[child].path);
    if (node_is_there(&h->nodes[child]) &&
        strncmp(path, prefix, strlen(prefix)) == 0)
      violate(w, "(%d) is said to be removed, and is there", number_of(w, a));
  }
}

void invariants_told(struct world *w, const struct acquisition *a,
                     enum news news, enum verdict why) {
  int number = number_of(w, a);
  if (a->forgotten) violate(w, "(%d) has news after the last", number);
  switch (news) {
    case NEWS_GRANTED:
      if (a->granted || a->refused)
        violate(w, "(%d) is granted after a decision", number);
      break;
    case NEWS_REFUSED:
      refused(w, a, why);
      break;
    case NEWS_LOST:
      if (!a->granted || a->lost || a->released)
        violate(w, "(%d) loses what it does not hold", number);
      break;
    case NEWS_REVOKED: /* (no operator of ours writes such data) */
      violate(w, "(%d) is revoked, and nobody has asked", number);
      break;
    case NEWS_REMOVED:
      if (a->removed || !(a->granted || a->refused))
        violate(w, "(%d) is removed too early or twice", number);
      check_removed(w, a);
      break;
    case NEWS_FORGOTTEN:
      if (!a->refused && !(a->granted && (a->lost || a->released)))
        violate(w, "(%d) is forgotten without a word", number);
  }
}

/* Granting. */

static int node_of_token(const struct world *w, int64_t czxid) {
  const struct history *h = &w->zoo.history;
  int number = (int)(czxid & 0xffffffff) - 1;
  if (number < 0 || number >= h->log_count) return NO_NODE;
  const struct transaction *t = &h->log[number];
  return t->kind == DID_CREATE && t->zxid == czxid ? t->node : NO_NODE;
}

/* As far as the process can know: nobody is ahead.  What it knows is as new
 * as the newest thing that it was told. */
static void check_first(struct world *w, const struct acquisition *a) {
  const struct history *h = &w->zoo.history;
  const struct node *own = node_of(w, a);
  int child = history_first_child(h, own->parent);
  for (; child != NO_NODE; child = h->nodes[child].sibling)
    if (h->nodes[child].made < own->made &&
        node_seen(&h->nodes[child], a->process->seen))
      violate(w, "(%d) is granted behind %s", number_of(w, a),
              paths_text(&w->paths, h->nodes[child].path));
}

/* The nodes of a session go in one transaction, and whoever hears of two of
 * them hears of one first: it cannot know better in between. */
static bool is_half_told(const struct world *w, const struct node *node,
                         int view) {
  return node->gone == view - 1 && node->by_force &&
         w->zoo.history.log[node->gone].kind == DID_CLOSE_SESSION;
}

static void check_node(struct world *w, const struct acquisition *a) {
  const struct process *p = a->process;
  const struct node *own = node_of(w, a);
  if (own->session != p->library.session)
    violate(w, "(%d) is granted for a node of another session",
            number_of(w, a));
  else if (!node_seen(own, p->seen) && !is_half_told(w, own, p->seen))
    violate(w, "(%d) is granted though its node is known to be gone",
            number_of(w, a));
  else if (!node_is_there(own) && !own->by_force)
    violate(w, "(%d) is granted without a node", number_of(w, a));
}

static void check_token(struct world *w, const struct acquisition *a) {
  int64_t *last = &w->last_token[a->lock];
  int64_t token = a->contender->czxid;
  if (token <= *last && !is_excused(w, a))
    violate(w, "(%d) has a token that is not newer than the last",
            number_of(w, a));
  if (token > *last) *last = token;
}

void invariants_granted(struct world *w, struct acquisition *a) {
  a->node = node_of_token(w, a->contender->czxid);
  if (a->node == NO_NODE) {
    violate(w, "(%d) has a token that no node ever had", number_of(w, a));
    a->node = 0;
    return;
  }
  /* By the clock that it went by: it may have been stopped since. */
  if (a->process->now >= a->process->session.lease.until)
    violate(w, "(%d) is granted without a lease", number_of(w, a));
  if (!believes(w, a)) return;
  check_node(w, a);
  check_first(w, a);
  check_token(w, a);
}

/* Holding. */

static void check_exclusion(struct world *w) {
  const struct acquisition *holders[LOCKS_MAX] = {NULL};
  for (int i = 0; i < w->acquisition_count; i++) {
    const struct acquisition *a = &w->acquisitions[i];
    if (!a->granted || a->ended || !believes(w, a)) continue;
    if (is_excused(w, a)) {
      count(w, SAW_OVERLAP_EXCUSED);
      continue;
    }
    const struct acquisition *other = holders[a->lock];
    if (other)
      violate(w, "(%d) and (%d) both believe that they hold %s",
              number_of(w, other), i, w->profile.locks[a->lock]);
    holders[a->lock] = a;
  }
}

/* A deadline is kept in the first batch after it. */
static void check_deadlines(struct world *w, const struct process *p) {
  for (int i = 0; i < w->acquisition_count; i++) {
    const struct acquisition *a = &w->acquisitions[i];
    if (a->process != p || a->granted || a->refused || !p->open) continue;
    if (a->deadline <= p->now)
      violate(w, "(%d) still waits after its deadline", i);
  }
}

/* Who does not wait may only wait for a node of its own process. */
static void check_impatience(struct world *w, const struct acquisition *a) {
  const struct history *h = &w->zoo.history;
  const struct contender *c = a->contender;
  if (a->patient || !c || c->state != CONTENDER_QUEUED || !c->made) return;
  int own = own_node(w, a);
  if (own == NO_NODE) return;
  int child = history_first_child(h, h->nodes[own].parent);
  for (; child != NO_NODE; child = h->nodes[child].sibling)
    if (h->nodes[child].made < h->nodes[own].made &&
        node_seen(&h->nodes[child], a->process->seen) &&
        h->nodes[child].session != h->nodes[own].session)
      violate(w, "(%d) waits, and did not want to", number_of(w, a));
}

/* Whose node is deleted learns of it, once it has a connection, after the
 * next heartbeat at the latest. */
static void check_news(struct world *w, const struct acquisition *a) {
  const struct process *p = a->process;
  if (!w->calm || !a->granted || a->ended || !believes(w, a)) return;
  if (!is_excused(w, a)) return;
  int64_t since = w->zoo.history.log[node_of(w, a)->gone].at;
  if (w->calm_since > since) since = w->calm_since;
  if (p->library.connected_at > since) since = p->library.connected_at;
  int64_t allowed = p->session.timeout / 2 + 8 * w->profile.latency;
  if (w->now > since + allowed)
    violate(w, "(%d) has not been told that its node is gone", number_of(w, a));
}

static void check_each(struct world *w, const struct process *p) {
  for (int i = 0; i < w->acquisition_count; i++) {
    const struct acquisition *a = &w->acquisitions[i];
    if (a->process != p || !p->open) continue;
    check_impatience(w, a);
    check_news(w, a);
  }
}

static void count_states(struct world *w, const struct process *p) {
  for (int i = 0; i < w->acquisition_count; i++) {
    struct acquisition *a = &w->acquisitions[i];
    if (a->process != p || !a->contender) continue;
    enum contender_state last = a->last_state, now = a->contender->state;
    a->last_state = now;
    if (last == now) continue;
    if (now == CONTENDER_QUEUED) count(w, SAW_QUEUED);
    if (now == CONTENDER_FINDING) count(w, SAW_FINDING);
    if (now == CONTENDER_PARKED) count(w, SAW_REPARKED);
    if (last == CONTENDER_FINDING && now == CONTENDER_ENTERING)
      count(w, SAW_NOT_FOUND);
    if (last == CONTENDER_FINDING &&
        (now == CONTENDER_QUEUED || now == CONTENDER_HELD))
      count(w, SAW_FOUND);
    if (last == CONTENDER_QUEUED && now == CONTENDER_ENTERING)
      count(w, SAW_OWN_NODE_GONE);
  }
}

void invariants_turned(struct world *w, struct process *p) {
  count_states(w, p);
  check_exclusion(w);
  check_deadlines(w, p);
  check_each(w, p);
}

/* The leader's acts. */

void invariants_expiring(struct world *w, int session) {
  for (int i = 0; i < w->acquisition_count; i++) {
    const struct acquisition *a = &w->acquisitions[i];
    if (!a->granted || a->ended || !believes(w, a)) continue;
    if (node_of(w, a)->session == session && !is_excused(w, a))
      violate(w, "(%d) believes beyond the end of its session", i);
  }
}

void invariants_removed(struct world *w, int node) {
  for (int i = 0; i < w->acquisition_count; i++) {
    const struct acquisition *a = &w->acquisitions[i];
    if (!a->granted || a->ended || a->node != node || !believes(w, a)) continue;
    if (!is_excused(w, a))
      violate(w, "the node of (%d), who believes to hold, is deleted", i);
  }
}

/* The end. */

static void check_counters(struct world *w, const struct process *p) {
  const struct counters *c = &p->session.counters;
  if (c->waiting || c->holding || c->pending_releases)
    violate(w, "process %d counts waiting %d, holding %d, leaving %d",
            p->number, (int)c->waiting, (int)c->holding,
            (int)c->pending_releases);
}

static bool is_lock(const struct world *w, int path) {
  for (int i = 0; i < w->profile.lock_count; i++)
    if (strcmp(paths_text(&w->paths, path), w->profile.locks[i]) == 0)
      return true;
  return false;
}

/* A node of a live session that has forgotten it would block for ever. */
static void check_orphans(struct world *w) {
  const struct history *h = &w->zoo.history;
  for (int i = 0; i < h->node_count; i++) {
    const struct node *node = &h->nodes[i];
    if (!node_is_there(node) || node->session == NOBODY) continue;
    if (!is_lock(w, node->parent)) continue;
    const struct zoo_session *s = &w->zoo.sessions[node->session];
    const struct process *p = &w->processes[s->client];
    if (s->alive && p->open && p->library.session == node->session)
      violate(w, "%s is left behind", paths_text(&w->paths, node->path));
  }
}

void invariants_at_end(struct world *w) {
  for (int i = 0; i < w->process_count; i++) {
    const struct process *p = &w->processes[i];
    if (p->open) check_counters(w, p);
    if (!users_are_done(w, p)) violate(w, "process %d has not finished", i);
  }
  check_orphans(w);
}
