#include "contender.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

static const unsigned legal_moves[] = {
#define TO(state) (1u << CONTENDER_##state)
    [CONTENDER_PARKED] = TO(ENTERING) | TO(GONE),
    [CONTENDER_ENTERING] = TO(FINDING) | TO(QUEUED) | TO(HELD) | TO(LEAVING) |
                           TO(PARKED) | TO(GONE),
    [CONTENDER_FINDING] = TO(ENTERING) | TO(QUEUED) | TO(HELD) | TO(LEAVING) |
                          TO(PARKED) | TO(GONE),
    [CONTENDER_QUEUED] = TO(ENTERING) | TO(FINDING) | TO(HELD) | TO(LEAVING) |
                         TO(PARKED) | TO(GONE),
    [CONTENDER_HELD] = TO(LEAVING) | TO(GONE),
    [CONTENDER_LEAVING] = TO(PARKED) | TO(GONE),
    [CONTENDER_GONE] = 0,
#undef TO
};

const char *contender_state_name(enum contender_state state) {
  static const char *const names[] = {
#define X(name, text) text,
      CONTENDER_STATES(X)
#undef X
  };
  return names[state];
}

const char *contender_loss_name(enum loss loss) {
  static const char *const names[] = {NULL,
#define X(name, text) text,
                                      LOSSES(X)
#undef X
  };
  return names[loss];
}

enum refusal_code refusal_code_of(int rc) {
  return reply_is_transient(rc)         ? REFUSED_TIMEOUT
         : reply_is_denied(rc)          ? REFUSED_DENIED
         : reply_is_unauthenticated(rc) ? REFUSED_AUTH
                                        : REFUSED_INVALID;
}

int64_t contender_token(const struct contender *c) {
  return c->options.downgrade ? c->options.writer_token : c->node.czxid;
}

int contender_ahead(const struct contender *c) {
  return c->view.phase == VIEW_AT_LEAST ? -1 : c->view.ahead;
}

/* Asserts the facts that must hold in the state of `c`. */
void contender_assert(const struct contender *c) {
  const struct node *node = &c->node;
  bool decided = c->decision != DECISION_NONE;
  assert(c->view.phase != VIEW_UNCONTENDED ||
         (c->state == CONTENDER_HELD && c->watches_children));
  switch (c->state) {
    case CONTENDER_PARKED:
      assert(!decided && node->known == NODE_NONE);
      break;
    case CONTENDER_ENTERING:
      assert(!decided && node->known != NODE_MAYBE);
      break;
    case CONTENDER_FINDING:
      assert(!decided && node->known >= NODE_MAYBE);
      assert(!contender_is_creating(c));
      break;
    case CONTENDER_QUEUED:
      assert(!decided && !contender_is_creating(c));
      assert(node->known >= NODE_MADE || contender_is_exclusive(c));
      /* While a waiter awaits a longer lease, no list counts: its grant needs a
       * new list. */
      assert(c->view.phase != VIEW_AWAITS_LEASE || c->view.listed_in == 0 ||
             contender_is_exclusive(c));
      break;
    case CONTENDER_HELD:
      assert(c->decision == DECISION_GRANTED && node->known == NODE_OURS);
      assert(!c->predecessor.watch && !c->before.watch);
      assert(!c->watches_children || c->options.local_turns > 0);
      break;
    case CONTENDER_LEAVING: /* without a decision it begins again */
      assert(c->decision != DECISION_GRANTED && node->known != NODE_NONE);
      break;
    case CONTENDER_GONE:
      assert(decided && c->decision != DECISION_GRANTED);
      assert(node->known == NODE_NONE && !c->own.watch);
      break;
  }
  assert(node->known != NODE_ASKED || contender_is_creating(c));
  assert(!contender_has_node(c) || !contender_is_creating(c));
  assert(!c->undeletable || c->state == CONTENDER_LEAVING);
}

/* Creating a contender. */

size_t contender_size(size_t path_length) {
  return sizeof(struct contender) + path_length + 1 + NAME_MAX_OWN;
}

void contender_init(struct contender *c,
                    const struct contender_options *options,
                    news_handler *notify, void *owner) {
  memset(c, 0, sizeof *c);
  c->options = *options;
  c->notify = notify;
  c->owner = owner;
  c->path = (char *)(c + 1);
  c->node.name = "";
  timer_init(&c->timer);
}

/* The list of a queue. */

static void append(struct queue *queue, struct contender *c) {
  c->previous = queue->last;
  c->next = NULL;
  if (queue->last)
    queue->last->next = c;
  else
    queue->first = c;
  queue->last = c;
  if (!queue->parked) queue->parked = c;
}

void contender_drop(struct contender *c) {
  struct queue *queue = c->queue;
  if (queue->parked == c) queue->parked = c->next;
  if (c->previous)
    c->previous->next = c->next;
  else
    queue->first = c->next;
  if (c->next)
    c->next->previous = c->previous;
  else
    queue->last = c->previous;
  directory_wake(&queue->directory); /* the queue may be idle now */
}

/* Changing the state. */

static bool has_entered(enum contender_state state) {
  return state != CONTENDER_PARKED && state != CONTENDER_GONE;
}

static size_t quota_of(const struct contender *c) {
  size_t node = quota_of_node(directory_length(&c->queue->directory));
  return contender_is_exclusive(c) ? 2 * node : node;
}

static void count_in_queue(const struct contender *c,
                           enum contender_state next) {
  struct queue *queue = c->queue;
  enum contender_state last = c->state;
  bool had = has_entered(last), has = has_entered(next);
  if (has && !had) quota_take(&queue->all->quota, quota_of(c));
  if (had && !has) quota_give(&queue->all->quota, quota_of(c));
  queue->entered += has - had;
  if (!c->options.patient)
    queue->impatient += (next == CONTENDER_PARKED) - (last == CONTENDER_PARKED);
  if (!contender_is_admitted_alone(c)) return;
  /* A contender that is deleting its node no longer blocks the next contender,
   * so it is not counted. In an unfair lock it still blocks: every holder
   * creates the same node `holder`, which must be deleted first. */
  if (!contender_is_exclusive(c)) {
    had = had && last != CONTENDER_LEAVING;
    has = has && next != CONTENDER_LEAVING;
  }
  queue->admitted_alone += has - had;
}

static void count_in_session(const struct contender *c,
                             enum contender_state next) {
  struct contenders *all = c->queue->all;
  struct counters *counters = &all->pipeline->counters;
  enum contender_state last = c->state;
  if (next == CONTENDER_HELD && all->holders == 0)
    all->own_watched_at = all->pipeline->now;
  all->holders += (next == CONTENDER_HELD) - (last == CONTENDER_HELD);
  all->active -= (next == CONTENDER_GONE) - (last == CONTENDER_GONE);
  counter_add(&counters->waiting,
              (next < CONTENDER_HELD) - (last < CONTENDER_HELD));
  counter_add(&counters->pending_releases,
              (next == CONTENDER_LEAVING) - (last == CONTENDER_LEAVING));
}

static void count_undeletable(struct contender *c, int more) {
  c->queue->undeletable += more;
  counter_add(&c->queue->all->pipeline->counters.refused_releases, more);
}

void contender_set_undeletable(struct contender *c, int rc) {
  assert(c->state == CONTENDER_LEAVING);
  if (!c->undeletable) count_undeletable(c, 1);
  c->undeletable = rc;
}

static void move(struct contender *c, enum contender_state next) {
  if (c->undeletable && next != CONTENDER_LEAVING) {
    count_undeletable(c, -1);
    c->undeletable = 0;
  }
  count_in_queue(c, next);
  count_in_session(c, next);
  c->state = next;
}

/* Starts in GONE, a state that no counter includes. So `move` only increments
 * the counters of PARKED. */
void contender_join(struct contender *c, struct queue *queue) {
  c->queue = queue;
  c->state = CONTENDER_GONE;
  move(c, CONTENDER_PARKED);
  append(queue, c);
  directory_wake(&queue->directory);
}

/* Returns whether `c` is allowed to enter the state `next`. If not, prints the
 * values that the failed assertion does not show. */
static bool is_legal(const struct contender *c, enum contender_state next) {
  static const char *const kinds[] = {
      [KIND_MUTEX] = "mutex",  [KIND_READ] = "reader",
      [KIND_WRITE] = "writer", [KIND_PERMIT] = "permit",
      [KIND_GATE] = "gate",    [KIND_UNFAIR] = "unfair",
      [KIND_MEMBER] = "member"};
  if (next == c->state || legal_moves[c->state] & (1u << next)) return true;
  fprintf(stderr, "zklock: illegal move from %s to %s: %s, decision %d\n",
          contender_state_name(c->state), contender_state_name(next),
          kinds[c->options.kind], c->decision);
  return false;
}

void contender_enter(struct contender *c, enum contender_state next) {
  enum contender_state last = c->state;
  assert(is_legal(c, next));
  move(c, next);
  /* If `c` has just given up its node, another parked contender can enter, or
   * `c` itself again. */
  if (has_entered(next) || !has_entered(last)) return;
  if (next == CONTENDER_PARKED) c->queue->parked = c->queue->first;
  directory_wake(&c->queue->directory);
}

void contender_new_name(const struct contender *c, char *name, size_t size) {
  name_format(name, size, &contender_pipeline(c)->base, c->node.id,
              rule_role(c->options.kind, c->options.layout));
  if (!c->options.downgrade) return;
  size_t length = strlen(name);
  snprintf(name + length, size - length, "%010d", c->options.writer_number);
}

void contender_set_name(struct contender *c, const char *name) {
  const struct directory *d = &c->queue->directory;
  size_t size = strlen(name) + 1;
  char *own = c->path + directory_length(d) + 1;
  assert(size <= NAME_MAX_OWN);
  memmove(own, name, size);
  memcpy(c->path, directory_path(d), directory_length(d));
  c->path[directory_length(d)] = '/';
  c->node.name = own;
}

bool contender_owns(const struct contender *c, const struct reply *reply) {
  return reply->owner == contender_pipeline(c)->session &&
         (c->node.known != NODE_OURS || reply->czxid == c->node.czxid);
}

void contender_prove(struct contender *c, const struct reply *reply) {
  c->node.owner_seen_in = contender_pipeline(c)->connection;
  c->node.unconfirmed = false;
  c->node.czxid = reply->czxid;
  c->node.owner_session = reply->owner;
  c->node.known = NODE_OURS;
}

bool contender_is_surely_ours(const struct contender *c) {
  return c->node.known == NODE_OURS &&
         c->node.owner_seen_in == contender_pipeline(c)->connection;
}

void contender_refute(struct contender *c) {
  assert(c->node.known == NODE_MADE);
  c->node.known = NODE_MAYBE;
  c->node.refuted = true;
  c->view = (struct view){0};
  contender_unwatch(c);
}

void contender_prepare(struct contender *c, enum op_kind kind) {
  bool creates = kind == OP_CREATE;
  bool both = contender_is_exclusive(c) &&
              (creates || (kind == OP_REMOVE && !c->undone));
  c->op = (struct op){.kind = kind,
                      .handler = c->op.handler,
                      .owner = c,
                      .path = c->path,
                      .beside = both ? NAME_UNFAIR : NULL,
                      .data = creates ? c->options.data : NULL,
                      .size = creates ? c->options.size : 0,
                      .exact = c->options.downgrade};
}

/* Watches of a contender. */

void contender_watch_children(struct contender *c) {
  bool more = !c->watches_children;
  c->watches_children = true;
  directory_watch_children(contender_directory(c), more);
}

void contender_unwatch_others(struct contender *c) {
  if (c->watches_children) {
    c->watches_children = false;
    if (c->view.phase == VIEW_UNCONTENDED) c->view.phase = VIEW_PLAIN;
    directory_unwatch_children(&c->queue->directory);
  }
  watch_drop(&c->predecessor);
  watch_drop(&c->before);
}

void contender_unwatch(struct contender *c) {
  watch_drop(&c->own);
  contender_unwatch_others(c);
}

void contender_list_again(struct contender *c) {
  c->view.listed_in = 0;
  directory_list(contender_directory(c), 0);
}

void contender_decide(struct contender *c, enum decision decision) {
  c->decision = decision;
  if (c->options.kind == KIND_PERMIT) contender_settle_later(c);
}

void contender_settle_later(struct contender *c) {
  deferred_call_add(&contender_pipeline(c)->step, &c->deferred_call);
}

/* Returns whether this session is deleting a node, and no server has refused
 * that delete so far. */
static bool are_leaving(const struct contenders *all) {
  const struct counters *counters = &all->pipeline->counters;
  return counters->pending_releases > counters->refused_releases;
}

enum quota_answer contender_quota(const struct contender *c, bool urgent) {
  const struct contenders *all = c->queue->all;
  return quota_ask(&all->quota, quota_of(c), urgent, are_leaving(all));
}
