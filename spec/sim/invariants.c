#include "invariants.h"

#include <string.h>

#include "protocol/acquire_fsm.h"
#include "world.h"

static const struct znode *node_of(const struct world *w,
                                   const struct acquisition *a) {
  return &w->zoo.history.nodes[a->node];
}

/* An operator, or somebody else who closed the session, took its node away:
 * no protocol can help against that, and nobody promised to. */
static bool is_taken(const struct world *w, const struct acquisition *a) {
  const struct znode *node = node_of(w, a);
  return !node_is_there(node) && node->by_force;
}

/* A server has granted its session less than it was ever told, in an answer
 * that it has not got, and nobody has warned it: the option that says how
 * little a server may grant is there for that. */
static bool is_unwarned(const struct world *w, const struct process *p,
                        int session) {
  return !p->warned && session != NOBODY &&
         w->zoo.sessions[session].least > p->library.least;
}

/* Is it a list that this process is being told? */
static bool is_hearing_list(const struct world *w, const struct process *p) {
  const struct note *note =
      p->hearing == NOBODY ? NULL : &w->zoo.notes[p->hearing];
  return note && note->kind == NOTE_REPLY &&
         w->zoo.requests[note->request].op == OP_LIST;
}

/* Somebody has put another in its place, of the same name, in this connection:
 * until it is read nobody can know.  What its watch has read is known, where
 * not a list of this moment grants, which tells names alone. */
static bool is_supplanted(struct world *w, const struct acquisition *a) {
  struct history *h = &w->zoo.history;
  const struct process *p = a->process;
  const struct znode *node = node_of(w, a);
  const struct contender *c = a->contender;
  return node->by_force && h->log[node->gone].at >= p->library.connected_at &&
         history_find(h, &w->paths, node->path, p->seen) != NO_NODE &&
         (is_hearing_list(w, p) || !watch_is_armed(&c->own) ||
          watch_is_of(&c->own, c->node.czxid));
}

static bool is_excused(const struct world *w, const struct acquisition *a) {
  return is_taken(w, a) || is_unwarned(w, a->process, node_of(w, a)->session);
}

static int node_at(struct world *w, const struct process *p,
                   const struct contender *c) {
  return history_find(&w->zoo.history, &w->paths,
                      paths_number(&w->paths, c->path, strlen(c->path)),
                      p->seen);
}

/* ... and the node that comes and goes with it. */
static int node_beside(struct world *w, const struct process *p,
                       const struct contender *c) {
  const struct directory *d = &c->queue->directory;
  if (!contender_is_exclusive(c)) return NO_NODE;
  int path = paths_below(&w->paths, directory_path(d), directory_length(d),
                         NAME_UNFAIR);
  return history_find(&w->zoo.history, &w->paths, path, p->seen);
}

int invariants_own_node(struct world *w, const struct acquisition *a) {
  const struct contender *c = a->contender;
  return contender_has_node(c) ? node_at(w, a->process, c) : NO_NODE;
}

/* Is this node of a contender of ours that is on its way out? */
static bool is_ghost(const struct world *w, const struct acquisition *a,
                     const struct znode *node) {
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

/* Nobody's, and spelled like a contender. */
static bool is_unowned(const struct world *w, const struct znode *node) {
  int32_t sequence;
  const char *name = paths_name(&w->paths, node->path);
  return node->session == NOBODY && name_parse(name, &sequence) != ROLE_FOREIGN;
}

/* Busy is what somebody else keeps busy, as far as we have heard. */
static void check_busy(struct world *w, const struct acquisition *a) {
  const struct history *h = &w->zoo.history;
  const struct process *p = a->process;
  if (a->patient)
    violate(w, "(%d) is refused as busy, but would have waited", a->number);
  if (a->kind == KIND_PERMIT || a->kind == KIND_UNFAIR ||
      a->kind == KIND_MEMBER)
    return;
  int own = invariants_own_node(w, a);
  if (own == NO_NODE || p->hearing == NOBODY) return;
  int view = w->zoo.notes[p->hearing].view;
  for (CHILDREN(child, h, h->nodes[own].parent))
    if ((node_blocks(&h->nodes[own], child) ||
         child->order == NOT_YET || /* a downgrade that fails */
         is_unowned(w, child)) &&
        node_seen(child, view) && !is_ghost(w, a, child))
      return;
  violate(w, "(%d) is refused as busy, and nobody is ahead", a->number);
}

static bool is_hidden(struct world *w, const struct process *p, int node) {
  return node != NO_NODE &&
         node_is_shut_to(&w->zoo.history.nodes[node], p->number);
}

/* Has another client a node there that has the name of ours, or of the writer
 * that is downgraded, and may not be read?  Then no client can know that it is
 * not ours any more. */
static bool is_hidden_name(struct world *w, const struct acquisition *a) {
  const struct contender *c = a->contender;
  const struct process *p = a->process;
  const struct contender *writer =
      a->writer == NOBODY ? NULL : w->acquisitions[a->writer].contender;
  bool has_gate = c->has_gate;
  return is_hidden(w, p, node_at(w, p, c)) ||
         is_hidden(w, p, node_beside(w, p, c)) ||
         (has_gate && is_hidden(w, p, node_at(w, p, c->gate))) ||
         (writer && is_hidden(w, p, node_at(w, p, writer)));
}

/* For a reason: a directory forbids it, or what may be its own node does, or
 * earlier ones that could not be deleted, or a server has said so of
 * anything. */
static void check_denied(struct world *w, const struct acquisition *a) {
  const struct contender *c = a->contender;
  bool by_gate = c->denial.by_gate;
  if (!fault_is(w, FAULT_FORBIDDEN) && !fault_is(w, FAULT_DENIAL) &&
      !is_hidden_name(w, a) && (by_gate ? c->gate : c)->queue->undeletable == 0)
    violate(w, "(%d) is denied, and no ACL forbids it", a->number);
}

/* Not by a code that may pass; nor by one that no server has sent. */
static void check_code(struct world *w, const struct acquisition *a,
                       enum refusal_code why) {
  int reason = a->contender->reason;
  if (why == REFUSED_INVALID && reply_is_transient(reason))
    violate(w, "(%d) is refused by the code %d", a->number, reason);
  if (why == REFUSED_DENIED) check_denied(w, a);
  if (why == REFUSED_AUTH && !a->process->shut_out)
    violate(w, "(%d) is shut out, and its credentials are accepted", a->number);
}

/* Is it of a lock of another kind, on the path of this one?  (What does not
 * wait for our kind, and is not waited for.) */
static bool is_of_other_kind(const struct world *w, const struct acquisition *a,
                             const struct znode *node) {
  const struct lock *lock = &w->profile.locks[a->lock];
  const char *text = paths_text(&w->paths, node->path);
  size_t length = strlen(lock->path);
  if (strncmp(text, lock->path, length) != 0 || text[length] != '/')
    return false;
  text += length + 1;
  if (strcmp(text, NAME_UNFAIR) == 0) return a->kind != KIND_UNFAIR;
  if (strncmp(text, "leases/", 7) == 0)
    return a->kind != KIND_PERMIT && node->role == ROLE_PERMIT;
  return !strchr(text, '/') &&
         rule_is_of_other_kind(a->kind, lock->layout, node->role);
}

/* For longer than that of a contender which is refused itself, as far as the
 * process knows; or there was time for many such.  (A clock may be fast.) */
static bool has_lasted(const struct world *w, const struct acquisition *a,
                       int own, const struct znode *node) {
  const struct history *h = &w->zoo.history;
  int64_t until =
      node_seen(node, a->process->seen) ? w->now : h->log[node->gone].at;
  int64_t least = a->process->now >= a->deadline ? 0 : 90 * MILLISECOND;
  return until >= h->log[node->made].at + least ||
         w->now >= h->log[h->nodes[own].made].at + 10 * least;
}

/* Another session's node of another kind has been there since its own was
 * made. */
static void check_conflict(struct world *w, const struct acquisition *a) {
  const struct history *h = &w->zoo.history;
  int own = invariants_own_node(w, a);
  if (a->writer != NOBODY)
    violate(w, "(%d) downgrades, and is refused", a->number);
  /* (Of two sessions that draw the same names, one may know only the
   * other's.) */
  if (own == NO_NODE || h->nodes[own].session != a->process->library.session)
    return;
  for (int i = 0; i < h->node_count; i++) {
    const struct znode *node = &h->nodes[i];
    if (node->session != NOBODY && node->session != h->nodes[own].session &&
        node->made < a->process->seen && node->gone > h->nodes[own].made &&
        is_of_other_kind(w, a, node) && has_lasted(w, a, own, node))
      return;
  }
  violate(w, "(%d) is refused, and no other kind is there", a->number);
}

static void refused(struct world *w, const struct acquisition *a,
                    enum refusal_code why) {
  const struct process *p = a->process;
  bool impatient = !a->patient && reply_is_transient(a->contender->reason);
  if (a->granted || a->refused)
    violate(w, "(%d) is refused after a decision", a->number);
  check_code(w, a, why);
  if (why == REFUSED_TIMEOUT && p->now < a->deadline && !impatient)
    violate(w, "(%d) times out too early", a->number);
  if (why == REFUSED_LOST && a->writer == NOBODY)
    violate(w, "(%d) is refused as lost, and held nothing", a->number);
  if (why == REFUSED_BUSY) check_busy(w, a);
  if (why == REFUSED_CONFLICT) check_conflict(w, a);
  if (a->kind == KIND_MEMBER) invariants_not_gathered(w, a, why);
}

/* Has another of its session taken its node over? */
static bool is_passed_on(const struct world *w, const struct acquisition *a) {
  for (int i = 0; i < w->acquisition_count; i++) {
    const struct acquisition *other = &w->acquisitions[i];
    if (other != a && other->process == a->process && other->contender &&
        contender_has_node(other->contender) &&
        other->contender->node.id == a->contender->node.id)
      return true;
  }
  return false;
}

/* Is this a node that the contender has made? */
static bool is_of(const struct world *w, const struct contender *c,
                  const struct session *s, const struct znode *node) {
  uint64_t id;
  const char *name = paths_name(&w->paths, node->path);
  if (c->options.kind == KIND_UNFAIR)
    return c->node.known == NODE_OURS &&
           c->node.czxid == w->zoo.history.log[node->made].zxid;
  return pipeline_owns(&s->pipeline, zoo_session_id(node->session)) &&
         name_id(name, &s->pipeline.base, &id) && id == c->node.id;
}

/* Gone is gone, unless the session is, or has been given up: then the server
 * sees to it.  And unless the create comes late: check_orphans. */
static void check_removed(struct world *w, const struct acquisition *a) {
  const struct history *h = &w->zoo.history;
  const struct session *s = &a->process->session;
  if (s->state == SESSION_CLOSED || a->contender->node.id == 0) return;
  for (CHILDREN(node, h, w->profile.locks[a->lock].directory))
    if (node_is_there(node) && node->session != NOBODY &&
        is_of(w, a->contender, s, node) &&
        !w->zoo.sessions[node->session].given_up && !is_passed_on(w, a) &&
        (a->granted || !node->straggled))
      violate(w, "(%d) is said to be removed, and is there", a->number);
}

/* The reason that a loss is told with is true. */
static bool is_true(const struct world *w, const struct acquisition *a,
                    enum loss why) {
  const struct process *p = a->process;
  const struct znode *node = node_of(w, a);
  const struct zoo_session *z =
      node->session == NOBODY ? NULL : &w->zoo.sessions[node->session];
  switch (why) {
    case LOSS_NONE:
      return p->session.state == SESSION_CLOSED;
    case LOSS_MAX_HOLD_REACHED:
      return p->now >= a->hold_until;
    case LOSS_NODE_DELETED:
      return !node_is_there(node) && p->now < p->session.pipeline.lease.until;
    case LOSS_LEASE_EXPIRED:
      return p->now >= p->session.pipeline.lease.until &&
             p->shown != SESSION_CONNECTED;
    case LOSS_CONNECTION_LOST:
      return a->lose_on_suspend && p->shown == SESSION_SUSPENDED;
    case LOSS_SESSION_EXPIRED:
      return z && !z->alive;
    case LOSS_SESSION_CLOSED:
      return z && !z->alive && (z->forced || is_unwarned(w, p, node->session));
  }
  return false;
}

/* What a user sees of a session: nothing twice in a row. */
void invariants_shown(struct world *w, const struct process *p,
                      enum session_state state) {
  if (state == p->shown)
    violate(w, "process %d is shown \"%s\" twice", p->number,
            session_state_name(state));
}

void invariants_told(struct world *w, const struct acquisition *a,
                     enum news news, enum refusal_code why) {
  int number = a->number;
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
      else if (!is_true(w, a, a->contender->loss))
        violate(w, "(%d) is lost for a reason (%d) that is none", number,
                a->contender->loss);
      break;
    case NEWS_REVOKED:
      if (!a->granted || a->lost || a->released || a->revoked)
        violate(w, "(%d) is revoked, and does not hold, or knows", number);
      else if (node_of(w, a)->revoked >= a->process->seen)
        violate(w, "(%d) is revoked, and nobody has asked", number);
      break;
    case NEWS_UNCONTENDED:
    case NEWS_CONTENDED:
      if (!a->granted || a->uncontended == (news == NEWS_UNCONTENDED))
        violate(w, "(%d) hears again of contention, or does not hold", number);
      break;
    case NEWS_UNDELETABLE:
      if (fault_is(w, FAULT_DENIAL) || is_hidden_name(w, a)) break;
      violate(w, "(%d) keeps its node, which nobody has refused to delete",
              number);
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

static int node_of_czxid(const struct world *w, int64_t czxid) {
  const struct history *h = &w->zoo.history;
  int number = (int)(czxid & 0xffffffff) - 1;
  if (number < 0 || number >= h->log_count) return NO_NODE;
  const struct transaction *t = &h->log[number];
  return t->kind == DID_CREATE && t->zxid == czxid ? t->node : NO_NODE;
}

/* Who downgrades keeps the writer's place. */
static void check_place(struct world *w, const struct acquisition *a) {
  const struct znode *nodes = w->zoo.history.nodes;
  if (a->writer == NOBODY || is_excused(w, a)) return;
  if (nodes[a->node].order != nodes[w->acquisitions[a->writer].node].order)
    violate(w, "(%d) has not its writer's place", a->number);
}

/* As far as the process can know: nobody is ahead.  What it knows is as new
 * as the newest thing that it was told. */
static void check_first(struct world *w, const struct acquisition *a) {
  const struct history *h = &w->zoo.history;
  const struct znode *own = node_of(w, a);
  for (CHILDREN(child, h, own->parent))
    if (node_blocks(own, child) && node_seen(child, a->process->seen))
      violate(w, "(%d) is granted behind %s", a->number,
              paths_text(&w->paths, child->path));
}

/* The nodes of a session go in one transaction, and whoever hears of two of
 * them hears of one first: it cannot know better in between. */
static bool is_half_told(const struct world *w, const struct znode *node,
                         int view) {
  return node->gone == view - 1 && node->by_force &&
         w->zoo.history.log[node->gone].kind == DID_CLOSE_SESSION;
}

static void check_node(struct world *w, const struct acquisition *a) {
  const struct process *p = a->process;
  const struct znode *own = node_of(w, a);
  if (own->session != p->library.session)
    violate(w, "(%d) is granted for a node of another session", a->number);
  else if (!node_seen(own, p->seen) && !is_half_told(w, own, p->seen) &&
           !is_supplanted(w, a))
    violate(w, "(%d) is granted though its node is known to be gone",
            a->number);
  else if (!node_is_there(own) && !own->by_force)
    violate(w, "(%d) is granted without a node", a->number);
}

/* Readers, members, and holders of permits, may be told in any order; the order
 * of permits is that of the inner mutex, unless somebody takes its nodes
 * away. */
static bool must_be_newest(const struct lock *lock,
                           const struct acquisition *a) {
  return a->kind != KIND_READ && a->kind != KIND_MEMBER &&
         (a->kind != KIND_PERMIT || !lock->tampered);
}

/* A token grows with every hold; a reader's is newer than those of all writers
 * before it. */
static void check_token(struct world *w, const struct acquisition *a) {
  struct lock *lock = &w->profile.locks[a->lock];
  int64_t token = a->token;
  /* (An answer that comes late, of servers that have lost their data since.) */
  if (node_of(w, a)->made < w->zoo.data_lost_at) return;
  if (a->writer != NOBODY) {
    if (token != w->acquisitions[a->writer].token)
      violate(w, "(%d) has not its writer's token", a->number);
    return;
  }
  bool newest = token > lock->token;
  bool good = must_be_newest(lock, a) ? newest : token > lock->writer_token;
  if (!good && !is_excused(w, a))
    violate(w, "(%d) has a token that is not newer than the last", a->number);
  if (newest) lock->token = token;
  if (a->kind == KIND_WRITE && token > lock->writer_token)
    lock->writer_token = token;
}

/* Of one session, in the order in which they came: where nothing has happened
 * to anybody's node or request, and nobody is let in before. */
static void check_order(struct world *w, const struct acquisition *a) {
  const uint64_t disturbing =
      FAULT_BIT(REMOVE) | FAULT_BIT(REMOVE_ALL) | FAULT_BIT(FORCE) |
      FAULT_BIT(MEMORY) | FAULT_BIT(REAP) | FAULT_BIT(COUNTER) |
      FAULT_BIT(IMPOSTOR) | FAULT_BIT(THROTTLE) | FAULT_BIT(QUOTA);
  if (a->kind != KIND_MUTEX && a->kind != KIND_WRITE) return;
  if (w->faults.classes & disturbing) return;
  if (!w->profile.locks[a->lock].made) return; /* who makes it may be late */
  for (const struct acquisition *b = w->acquisitions; b < a; b++)
    if (b->process == a->process && b->lock == a->lock && !b->granted &&
        !b->refused && !a->local_turns == !b->local_turns &&
        b->writer == NOBODY &&
        b->enters_in == a->process->session.pipeline.connection)
      violate(w, "(%d) is granted before (%d)", a->number, b->number);
}

void invariants_granted(struct world *w, struct acquisition *a) {
  a->node = node_of_czxid(w, a->contender->node.czxid);
  if (a->node == NO_NODE) {
    violate(w, "(%d) is granted for a node that never was", a->number);
    a->node = 0;
    return;
  }
  /* By the clock that it went by: it may have been stopped since. */
  if (a->process->now >= a->process->session.pipeline.lease.until)
    violate(w, "(%d) is granted without a lease", a->number);
  if (!believes(w, a)) return;
  check_node(w, a);
  check_first(w, a);
  if (a->kind == KIND_MEMBER) invariants_gathered(w, a);
  check_place(w, a);
  check_token(w, a);
  check_order(w, a);
}

/* Holding. */

static bool may_hold_beside(const struct acquisition *a,
                            const struct acquisition *b) {
  if (a->kind == KIND_READ && b->kind == KIND_READ) return true;
  return a->writer == b->number || b->writer == a->number;
}

/* Two kinds on one path: the later one checked after its node was made.  (A
 * session whose kind lists no directory that others use checks once in a
 * timeout.) */
static bool could_not_know(struct world *w, const struct acquisition *a) {
  const struct process *p = a->process;
  if (a->kind != KIND_PERMIT && a->kind != KIND_UNFAIR) return false;
  int64_t looked =
      conflict_checked_at(&p->session.all, w->profile.locks[a->lock].place);
  int64_t made = w->zoo.history.log[node_of(w, a)->made].at;
  return looked < process_clock_at(p, made) &&
         looked + 2 * w->profile.timeout > process_clock_at(p, a->granted_at);
}

/* (A downgrade came when its writer did.) */
static int came_at(const struct world *w, const struct acquisition *a) {
  while (a->writer != NOBODY) a = &w->acquisitions[a->writer];
  return node_of(w, a)->made;
}

static void check_kinds(struct world *w, const struct acquisition *a,
                        const struct acquisition *b) {
  const struct acquisition *later = came_at(w, a) > came_at(w, b) ? a : b;
  if (!could_not_know(w, later))
    violate(w, "(%d) believes to hold %s beside another kind, (%d)", a->number,
            w->profile.locks[a->lock].path, b->number);
}

static void check_exclusion(struct world *w) {
  const struct acquisition *holders[ACQUISITIONS_MAX];
  int holder_count = 0;
  for (int i = w->first_alive; i < w->acquisition_count; i++) {
    const struct acquisition *a = &w->acquisitions[i];
    if (!believes(w, a) || is_excused(w, a)) continue;
    if (a->kind == KIND_MEMBER) continue; /* that is what it is for */
    int beside = 0;
    for (int j = 0; j < holder_count; j++)
      if (holders[j]->lock != a->lock && fault_is(w, FAULT_MIXED))
        check_kinds(w, a, holders[j]);
      else if (holders[j]->lock == a->lock && !may_hold_beside(a, holders[j]))
        beside++;
    const struct lock *lock = &w->profile.locks[a->lock];
    if (beside >= (a->kind == KIND_PERMIT ? lock->permits : 1))
      violate(w, "(%d) believes to hold %s beside %d others", i, lock->path,
              beside);
    holders[holder_count++] = a;
  }
}

void invariants_foreign(struct world *w, int lock, bool reads, int permits) {
  int holders = 0;
  for (int i = w->first_alive; i < w->acquisition_count; i++) {
    const struct acquisition *a = &w->acquisitions[i];
    if (a->lock != lock || !believes(w, a) || is_excused(w, a)) continue;
    if (a->kind == KIND_PERMIT)
      holders++;
    else if (!reads || a->kind != KIND_READ)
      violate(w, "(%d) believes to hold what a foreign client was given", i);
  }
  if (holders + permits > w->profile.locks[lock].permits && holders)
    violate(w, "%d of ours and %d foreign ones hold a permit", holders,
            permits);
}

/* A deadline is kept in the first batch after it. */
static void check_deadline(struct world *w, const struct acquisition *a) {
  if (!a->granted && !a->refused && a->deadline <= a->process->now)
    violate(w, "(%d) still waits after its deadline", a->number);
}

/* One that does not wait has one flight to a server, and waits for no
 * connection. */
static void check_reach(struct world *w, const struct acquisition *a) {
  if (!a->patient && !a->granted && !a->refused &&
      !session_is_connected(&a->process->session))
    violate(w, "(%d) waits for a connection, and did not want to", a->number);
}

/* Who does not wait may only wait for a node of its own process, and for an
 * answer. */
static void check_impatience(struct world *w, const struct acquisition *a) {
  const struct history *h = &w->zoo.history;
  const struct contender *c = a->contender;
  if (a->patient || !c || c->state != CONTENDER_QUEUED ||
      !contender_has_node(c))
    return;
  if (!contender_sees(c)) return;
  if (a->kind == KIND_PERMIT || a->kind == KIND_UNFAIR ||
      a->kind == KIND_MEMBER)
    return;
  int own = invariants_own_node(w, a);
  if (own == NO_NODE) return;
  for (CHILDREN(child, h, h->nodes[own].parent))
    if (node_blocks(&h->nodes[own], child) &&
        node_seen(child, a->process->seen) &&
        child->session != h->nodes[own].session &&
        !is_ghost(w, a, child)) /* (for all that is known) */
      violate(w, "(%d) waits, and did not want to", a->number);
}

/* Has its server lost it, and not been able to say so? */
static bool is_cut_off(const struct world *w, const struct process *p) {
  int connection = p->library.connection;
  if (connection == NOBODY) return true;
  const struct connection *c = &w->zoo.connections[connection];
  return !c->server_has_it || c->up_closed || c->down_closed;
}

static int64_t in_peace_since(const struct world *w,
                              const struct acquisition *a) {
  int64_t connected_at = a->process->library.connected_at;
  return later(a->granted_at, later(w->calm_since, connected_at));
}

/* Whose node is deleted learns of it, once it has a connection, after the
 * next heartbeat at the latest; that it has none the library's clock tells,
 * after 2/3 T of silence. */
static void check_news(struct world *w, const struct acquisition *a) {
  const struct process *p = a->process;
  if (!w->calm || !a->granted || a->lost || a->released || !believes(w, a))
    return;
  if (!session_is_connected(&p->session)) return;
  const struct znode *node = node_of(w, a);
  bool gone = is_taken(w, a);
  if (!gone && (node->revoked == NOT_YET || a->revoked)) return;
  int64_t since = w->zoo.history.log[gone ? node->gone : node->revoked].at;
  since = later(since, in_peace_since(w, a));
  int64_t timeout = p->session.pipeline.timeout;
  int64_t silence = is_cut_off(w, p) ? timeout / 3 * 2 : timeout / 2;
  /* (What a server has throttled is asked again after a pause.) */
  if (fault_is(w, FAULT_THROTTLE)) silence += PAUSE_MAX + PAUSE_MAX / 10;
  if (w->now > since + silence + 8 * w->profile.latency)
    violate(w, "(%d) has not been told that its node is %s", a->number,
            gone ? "gone" : "asked for");
}

/* What ends a hold by itself has ended it. */
static void check_ends(struct world *w, const struct acquisition *a) {
  const struct process *p = a->process;
  if (!a->granted || a->lost || a->released) return;
  if (a->hold_until <= p->now)
    violate(w, "(%d) is held for longer than it may be", a->number);
  if (a->lose_on_suspend && !session_is_connected(&p->session))
    violate(w, "(%d) is held in a suspension", a->number);
}

/* Who holds in peace has a lease as long as doc/guarantees.md says. As lease.h
 * counts, with renewals no further apart than i < T/10, wherever other requests
 * fall between them: until the next one, Q is less than i + T/96 before P -
 * gap, P less than i + T/96 before S - T/24, for it forgets renewals that close
 * together; S less than i ago, and 0.95 T - T/24 - T/48 - 3 i > 0.58 T. */
static void check_length(struct world *w, const struct acquisition *a) {
  const struct process *p = a->process;
  if (!w->calm || !a->granted || a->lost || a->released) return;
  int64_t timeout = p->session.pipeline.lease.timeout,
          left = p->session.pipeline.lease.until;
  if (!session_is_connected(&p->session) || 240 * w->profile.latency > timeout)
    return;
  int64_t since = in_peace_since(w, a);
  int64_t tick = w->profile.tick_told;
  int64_t gap = tick ? tick / 2 : timeout / 4;
  left -= p->now;
  if (w->now > since + w->profile.timeout && left < timeout / 50 * 29 - gap)
    violate(w, "(%d) has a lease of %.0f ms only", a->number,
            (double)left / 1e6);
}

/* Who waits without a list waits for a node that came before its own, and that
 * keeps it waiting, whatever a list would show; or for one of nobody's, which
 * it has yet to read.  (Should its own be another's by now the next list
 * tells.) */
static void check_follower(struct world *w, const struct acquisition *a) {
  const struct contender *c = a->contender;
  const struct history *h = &w->zoo.history;
  const struct directory *d = &c->queue->directory;
  const char *name = watch_name(&c->predecessor);
  int own = invariants_own_node(w, a);
  if (!c->options.patient)
    violate(w, "(%d) follows, but does not wait", a->number);
  if (!name || own == NO_NODE) return;
  if (h->nodes[own].session != a->process->library.session) return;
  int node = h->newest[paths_below(&w->paths, directory_path(d),
                                   directory_length(d), name)];
  for (; node != NO_NODE; node = h->nodes[node].older)
    if (node_blocks(&h->nodes[own], &h->nodes[node]) ||
        is_unowned(w, &h->nodes[node]))
      return;
  violate(w, "(%d) follows %s, which is not ahead of it", a->number, name);
}

/* What becomes of an earlier node is not to be taken for what becomes of
 * this. */
static void check_name(struct world *w, struct acquisition *a) {
  uint64_t id = a->contender->node.id;
  if (id <= a->last_id)
    violate(w, "(%d) enters under a name that it has had", a->number);
  a->last_id = id;
}

static void note_state(struct world *w, struct acquisition *a) {
  enum contender_state last = a->last_state, now = a->contender->state;
  a->last_state = now;
  if (last == now) return;
  if (now == CONTENDER_ENTERING) check_name(w, a);
  if (now == CONTENDER_QUEUED && a->contender->view.phase == VIEW_AT_LEAST)
    check_follower(w, a);
}

/* Once a connection is confirmed, no op waits in the queue. */
static void check_queued(struct world *w, const struct session *s) {
  const struct op *waits = s->pipeline.queued;
  if (fault_is(w, FAULT_MEMORY)) return; /* (then others may wait, too) */
  if (s->pipeline.confirmed_in != s->pipeline.connection) return;
  if (waits)
    violate(w, "#%llu is still queued", (unsigned long long)waits->serial);
}

/* The lease. */

/* What lease.h derives: as the leader counts, the session lives for at least
 * as long as is proved, whatever it hears from now on. */
static void check_lease(struct world *w, const struct process *p) {
  const struct session *s = &p->session;
  int64_t left = s->pipeline.lease.until - p->now;
  if (s->pipeline.session == 0 || left <= 0 || p->inbox_first != p->inbox_last)
    return;
  int session = zoo_session_number(s->pipeline.session);
  const struct zoo_session *z = &w->zoo.sessions[session];
  if (z->alive && w->now + left + left / 16 <= z->expires) return; /* surely */
  if (z->forced || is_unwarned(w, p, session)) return;
  if (p->drift != 0) left = left / (10000 + p->drift) * 10000;
  if (!z->alive || z->expires < w->now + left)
    violate(w, "process %d believes in session %d for longer than the leader",
            p->number, session);
}

/* A connection stands on its start until its renewals carry it. */
void invariants_proved(struct world *w, const struct process *p) {
  int64_t least = w->zoo.grants[GRANTS - 1];
  if (p->now < p->library.started + least / 2 &&
      p->now >= p->session.pipeline.lease.until)
    violate(w, "a renewal of process %d has proved nothing", p->number);
}

/* A session that is idle has renewals 0.3 T apart, and the one before P is Q if
 * it was answered T/4 before P was sent: within 0.035 T, with a clock that is 5
 * % slow. A write is four messages long.  Where it takes longer, who was idle
 * is granted by a lease that may end before its next renewals can renew it. */
static bool is_short_at_first(const struct world *w,
                              const struct acquisition *a, int64_t least) {
  return w->now < a->granted_at + least &&
         4 * w->profile.latency > least / 1000 * 35;
}

/* Who has a connection through which all goes well renews it. */
void invariants_lease_over(struct world *w, const struct acquisition *a) {
  const struct library *l = &a->process->library;
  int64_t least = w->zoo.grants[GRANTS - 1];
  if (!w->calm || l->state != LIBRARY_CONNECTED) return;
  if (32 * w->profile.latency > least || is_short_at_first(w, a, least)) return;
  int64_t since = later(w->calm_since, l->connected_at);
  if (a->granted_at > since) return; /* (of these a few remain: lease.h) */
  if (w->now > since + w->profile.timeout)
    violate(w, "(%d) is lost, and all goes well", a->number);
}

/* Who was told that nobody else stands in its queue knows of nobody: what its
 * process knows is as new as the newest thing that it was told.  (One that has
 * the very name of its own node stands in its place: it has lost, and will hear
 * of that.) */
static void check_contention(struct world *w, const struct acquisition *a) {
  const struct history *h = &w->zoo.history;
  const struct process *p = a->process;
  if (!a->uncontended || a->lost || a->released)
    return; /* (it may have no node) */
  if (p->library.state != LIBRARY_CONNECTED) return;
  const struct znode *own = node_of(w, a);
  for (CHILDREN(other, h, own->parent))
    if (other->path != own->path && node_seen(other, p->seen) &&
        (node_blocks(own, other) || node_blocks(other, own)))
      violate(w, "(%d) believes to be uncontended, and %s is there", a->number,
              paths_text(&w->paths, other->path));
}

/* When the lease is over its holds are, at once: nothing else needs to come. */
void invariants_on_time(struct world *w, const struct process *p) {
  int64_t slack = MILLISECOND + (p->has_timer ? 0 : SECOND);
  int64_t late = p->now - p->session.pipeline.lease.until;
  if (p->session.all.holders == 0) return;
  if (late > w->now - p->paused_until) late = w->now - p->paused_until;
  if (late > slack)
    violate(w, "process %d has had holds for %.0f ms since its lease was over",
            p->number, (double)late / 1e6);
}

void invariants_after_batch(struct world *w, struct process *p) {
  /* (Who did not believe before may do so now: a hold, or a longer lease.) */
  if (p->session.all.holders > 0) check_exclusion(w);
  if (!p->open) return;
  check_queued(w, &p->session);
  invariants_counts(w, p);
  check_lease(w, p);
  invariants_waits(w, p);
  if (p->session.all.active == 0) return;
  for (int i = p->last_acquisition; i >= w->first_alive;
       i = w->acquisitions[i].previous) {
    struct acquisition *a = &w->acquisitions[i];
    if (!a->contender) continue;
    note_state(w, a);
    check_deadline(w, a);
    check_reach(w, a);
    check_impatience(w, a);
    check_news(w, a);
    check_ends(w, a);
    check_length(w, a);
    check_contention(w, a);
  }
}

/* The leader's acts. */

void invariants_expiring(struct world *w, int session) {
  for (int i = w->first_alive; i < w->acquisition_count; i++) {
    const struct acquisition *a = &w->acquisitions[i];
    if (believes(w, a) && node_of(w, a)->session == session &&
        !is_excused(w, a))
      violate(w, "(%d) believes beyond the end of its session", i);
  }
}

void invariants_deleting(struct world *w, int node) {
  if (w->zoo.history.nodes[node].size > 0)
    violate(w, "a directory that is somebody's own is deleted");
}

/* A name is no proof. */
void invariants_anothers(struct world *w, int node) {
  violate(w, "%s is deleted by somebody whose it is not",
          paths_text(&w->paths, w->zoo.history.nodes[node].path));
}

void invariants_removed(struct world *w, int node) {
  for (int i = w->first_alive; i < w->acquisition_count; i++) {
    const struct acquisition *a = &w->acquisitions[i];
    if (a->node == node && believes(w, a) && !is_excused(w, a))
      violate(w, "the node of (%d), who believes to hold, is deleted", i);
  }
}

/* The end. */

/* An operator has deleted the node beside it. */
static bool is_bereft(const struct world *w, const struct znode *node) {
  const struct history *h = &w->zoo.history;
  int beside = h->log[node->made].beside;
  return beside != NO_NODE && h->nodes[beside].by_force;
}

/* A node of a live session that has forgotten it would block for ever.  (One
 * that was given up may live on for a while, by an attempt that a server has
 * heard.) */
static void check_orphans(struct world *w) {
  const struct history *h = &w->zoo.history;
  for (int i = 0; i < h->node_count; i++) {
    const struct znode *node = &h->nodes[i];
    if (!node_is_there(node) || node->session == NOBODY) continue;
    if (is_bereft(w, node)) continue;
    if (lock_of_directory(w, node->parent) == NOBODY) continue;
    const struct zoo_session *s = &w->zoo.sessions[node->session];
    if (s->client >= PROCESSES_MAX || s->given_up) continue;
    const struct process *p = &w->processes[s->client];
    if (s->alive && p->open && p->library.session == node->session)
      violate(w, "%s is left behind", paths_text(&w->paths, node->path));
  }
}

/* Of a node's making there no server has told it, for it may not read the node:
 * the library keeps its half of the watch until it connects again. */
static bool was_shut(const struct world *w, int path, const struct process *p) {
  const struct history *h = &w->zoo.history;
  for (int i = 0; i < h->node_count; i++)
    if (h->nodes[i].path == path && node_is_shut_to(&h->nodes[i], p->number))
      return true;
  return false;
}

/* Nobody waits, nobody holds: no server needs to tell us anything.  (But a
 * server that is asked too much may not take a watch away.) */
static void check_watches(struct world *w, const struct process *p) {
  const struct library *l = &p->library;
  if (fault_is(w, FAULT_MEMORY) || fault_is(w, FAULT_THROTTLE)) return;
  if (l->state != LIBRARY_CONNECTED || p->session.pipeline.flight) return;
  /* (A reply that is lost with its connection: the next event clears it.) */
  if (p->session.pipeline.counters.reconnects > 0) return;
  /* (It asks a server again to take a watch away, once it goes on.) */
  if (process_is_paused(w, p)) return;
  for (int path = 0; path < w->paths.count; path++)
    if (path_set_has(&l->data, path) || path_set_has(&l->children, path) ||
        (path_set_has(&l->missing, path) && !was_shut(w, path, p)))
      violate(w, "a watch of %s is left", paths_text(&w->paths, path));
}

void invariants_at_end(struct world *w) {
  for (int i = 0; i < w->process_count; i++) {
    const struct process *p = &w->processes[i];
    if (!users_are_done(w, p)) violate(w, "process %d has not finished", i);
    if (p->open) check_watches(w, p);
  }
  check_orphans(w);
}
