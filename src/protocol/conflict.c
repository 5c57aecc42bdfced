/* Checks whether a lock of another kind is in use on the same path.
 *
 * A mutex and a readers-writer lock have nodes of different names in one
 * directory. Neither waits for the other's nodes, so both would be granted. So
 * each contender makes one check after its node was created. It searches for
 * *live* nodes of another kind: nodes that another session owns. If it finds
 * such a node, zklock refuses the contender and deletes the contender's node.
 *
 * Locks of two kinds are not granted at the same time, because each contender
 * creates its node before its check. ZooKeeper orders the two creates, and a
 * server that has answered a create shows all older changes. So the later
 * contender sees the earlier contender's node, unless that node is deleted. If
 * a node is missing when zklock reads its owner, the contender lists again: a
 * downgrading writer leaves a reader in its place. All kinds in one directory
 * share its counter, so the numbers show which contender is later. Only the
 * later contender is refused.
 *
 * The contender of a live node may be about to be refused itself. Then its node
 * exists for only two or three round trips. So zklock refuses a contender only
 * if the live node exists for longer (`has_existed_long`), or if the
 * contender's deadline passes.
 *
 * A name is only a hint: a node may be left over from a test, or a directory
 * `leases` may be empty. So zklock reads the owner before it refuses a
 * contender. This costs requests only if a name of another kind is seen:
 *
 *   a contender in a queue    its own list shows the nodes of other kinds, an
 *                             unfair lock's node, and a semaphore's directory,
 *                             which zklock then lists
 *   an unfair lock,           its own lists show no node of another kind. It
 *   a permit                  lists the path before its grant, if this session
 *                             has not listed the path for a session timeout
 *
 * The check misses other kinds in three cases (doc/guarantees.md):
 *
 *   * Within that session timeout, a lock of another kind may come while no
 *     permit and no unfair lock's node exists. The next permit or unfair lock
 *     does not see it.
 *   * A node whose ACL hides its owner does not count as live.
 *   * Other libraries make no such check.
 *
 * The check never ends a hold or a wait that has begun. */

#include <stdlib.h>
#include <string.h>

#include "acquire_fsm.h"
#include "hash.h"

#define MOMENT INT64_C(100000000) /* nanoseconds */

/* A read that a check needs: the names in a directory, or the owner of a
 * node. */
struct question {
  struct question *next;
  enum op_kind kind; /* OP_LIST, OP_READ, or OP_PING if reading is denied */
  enum role role;    /* the node's role; ROLE_FOREIGN: unfair lock */
  char path[];
};

/* The conflict check of one contender. It sends its questions, which are reads,
 * one at a time. */
struct conflict_check {
  struct contender *c;
  struct op op;
  struct question *first, **end;
  uint64_t id;            /* the id of the contender's node */
  char own[NAME_MAX_OWN]; /* the name of the contender's node */
  bool gone;              /* a suspect node was missing: list again */
  int64_t begun;
};

static op_handler on_answer;

/* Which paths were checked lately. */

int64_t conflict_checked_at(const struct contenders *all, const char *path) {
  uint64_t hash = hash_text(HASH_BEGIN, path, strlen(path));
  bool known = all->checked[hash % CHECKED_MAX].path == hash;
  return known ? all->checked[hash % CHECKED_MAX].at : INT64_MIN / 2;
}

static void store_check(const struct contender *c, int64_t at) {
  const struct directory *d = &c->queue->directory;
  uint64_t hash = hash_text(HASH_BEGIN, directory_path(d), directory_length(d));
  c->queue->all->checked[hash % CHECKED_MAX].path = hash;
  c->queue->all->checked[hash % CHECKED_MAX].at = at;
}

/* Beginning a check. */

static bool is_of_semaphore(const struct contender *c) {
  return c->options.kind == KIND_PERMIT;
}

/* Returns true if the lists of `c` cannot show nodes of other kinds. A permit
 * lists a directory of its own, and an unfair lock needs no list. */
static bool lists_nothing(const struct contender *c) {
  return is_of_semaphore(c) || c->options.kind == KIND_UNFAIR;
}

/* Returns true if `c` needs no conflict check, or was checked already. A gate,
 * which waits for a semaphore's inner mutex, needs none: zklock checks the
 * permit of that semaphore. A contender that downgrades needs none, because it
 * already holds the lock. With `shares_path`, the user allows locks of other
 * kinds on the path. */
static bool needs_no_check(const struct contender *c) {
  return c->node.cleared || c->options.shares_path || c->options.downgrade ||
         c->options.kind == KIND_GATE;
}

static struct conflict_check *check_new(struct contender *c) {
  struct conflict_check *check = calloc(1, sizeof *check);
  if (!check) return NULL;
  check->c = c;
  check->end = &check->first;
  check->id = c->node.id;
  strcpy(check->own, c->node.name);
  check->begun = contender_pipeline(c)->now;
  check->op.handler = on_answer;
  check->op.owner = check;
  return check;
}

static struct question *take_first(struct conflict_check *check) {
  struct question *q = check->first;
  check->first = q->next;
  if (!check->first) check->end = &check->first;
  return q;
}

static void check_free(struct conflict_check *check) {
  while (check->first) free(take_first(check));
  free(check);
}

/* Adds a question of this `kind` about a node. The node's path is the lock's
 * path, then `below`, then `name`. `role`: the role of that node. Returns false
 * if there is no memory. */
static bool add(struct conflict_check *check, enum op_kind kind, enum role role,
                const char *below, const char *name) {
  const struct directory *d = contender_directory(check->c);
  size_t length = directory_length(d);
  if (is_of_semaphore(check->c)) length -= strlen(PERMITS);
  struct question *q =
      malloc(sizeof *q + length + strlen(below) + strlen(name) + 1);
  if (!q) return false;
  q->next = NULL;
  q->kind = kind;
  q->role = role;
  memcpy(q->path, directory_path(d), length);
  strcpy(q->path + length, below);
  strcat(q->path + length, name);
  *check->end = q;
  check->end = &q->next;
  return true;
}

static bool is_suspect(const struct contender *c, const struct entry *e) {
  return rule_is_of_other_kind(c->options.kind, c->options.layout, e->role);
}

static bool shows_holder(const struct contender *c,
                         const struct listing *listing) {
  return listing->has_holder && c->options.kind != KIND_UNFAIR;
}

static bool shows_permits(const struct contender *c,
                          const struct listing *listing) {
  return listing->has_permits && !is_of_semaphore(c);
}

static bool has_suspects(const struct contender *c,
                         const struct listing *listing,
                         const struct entry *last) {
  for (const struct entry *e = last; e-- > listing->entries;)
    if (is_suspect(c, e)) return true;
  return shows_holder(c, listing) || shows_permits(c, listing);
}

/* Adds a question for each suspect node (of another kind) before `last`, the
 * nearest first. Also adds questions about `holder` and the directory of
 * permits, if the list shows them. Returns false if there is no memory. */
static bool add_suspects(struct conflict_check *check,
                         const struct listing *listing,
                         const struct entry *last) {
  const struct contender *c = check->c;
  for (const struct entry *e = last; e-- > listing->entries;)
    if (is_suspect(c, e) && !add(check, OP_READ, e->role, "/", e->name))
      return false;
  return (!shows_holder(c, listing) ||
          add(check, OP_READ, ROLE_FOREIGN, "/", NAME_UNFAIR)) &&
         (!shows_permits(c, listing) ||
          add(check, OP_LIST, ROLE_PERMIT, PERMITS, ""));
}

static bool add_permits(struct conflict_check *check,
                        const struct listing *listing) {
  for (const struct entry *e = listing->entries;
       e < listing->entries + listing->count; e++)
    if (e->role == ROLE_PERMIT &&
        !add(check, OP_READ, ROLE_PERMIT, PERMITS "/", e->name))
      return false;
  return true;
}

static bool send_question(struct conflict_check *check) {
  const struct question *q = check->first;
  if (!q) return false;
  check->op.kind = q->kind;
  check->op.path = q->path;
  return pipeline_submit(contender_pipeline(check->c), &check->op);
}

/* Sends the first question of the new check. `complete`: all questions were
 * added. If memory was missing or the send fails, schedules a retry, at which
 * the contender begins another check. */
static void begin(struct contender *c, struct conflict_check *check,
                  bool complete) {
  if (check && complete && send_question(check)) {
    c->check = check;
    return;
  }
  pipeline_retry(contender_pipeline(c));
  if (check) check_free(check);
}

/* Ending a check. */

/* Returns whether the check was begun for the contender's current node. */
static bool is_current(const struct conflict_check *check) {
  const struct contender *c = check->c;
  return c->state == CONTENDER_QUEUED && c->node.id == check->id &&
         strcmp(c->node.name, check->own) == 0;
}

static void end(struct conflict_check *check) {
  struct contender *c = check->c;
  c->check = NULL;
  check_free(check);
  if (c->decision != DECISION_NONE) contender_settle_later(c);
}

/* Ends an unfinished check, and schedules a retry, at which the contender
 * begins another check. */
static void give_up(struct conflict_check *check) {
  pipeline_retry(contender_pipeline(check->c));
  end(check);
}

static void finish(struct conflict_check *check) {
  struct contender *c = check->c;
  if (is_current(check) && !check->gone) {
    c->node.cleared = true;
    if (lists_nothing(c)) store_check(c, check->begun);
  }
  end(check);
  if (c->state == CONTENDER_QUEUED) c->wait_ops->check(c);
}

static void refuse(struct contender *c, const struct reply *reply) {
  size_t size = reply->size > 0 ? (size_t)reply->size : 0;
  c->blocker.data = reply->data;
  c->blocker.size = reply->data ? (int)data_own_size(reply->data, size) : 0;
  acquire_fsm_refuse(c, REFUSED_CONFLICT, 0);
}

/* Returns whether the suspect node has existed long enough to prove a conflict.
 * Its contender may itself be about to be refused, because of the node of this
 * check's contender. Then the suspect node exists for only two or three round
 * trips. So a later check must find the same node again. At least 0.1 seconds,
 * and four times the duration of that check, must lie in between. It is also a
 * proof if checks have found suspect nodes for one second. */
static bool has_existed_long(const struct conflict_check *check,
                             int64_t czxid) {
  struct node *node = &check->c->node;
  int64_t now = contender_pipeline(check->c)->now,
          trips = 4 * (now - check->begun);
  if (node->suspect.czxid == 0) node->suspect.since = now;
  if (node->suspect.czxid != czxid) node->suspect.seen_at = now;
  node->suspect.czxid = czxid;
  return now >= node->suspect.seen_at + (trips > MOMENT ? trips : MOMENT) ||
         now >= node->suspect.since + 10 * MOMENT;
}

static void on_live_node(struct conflict_check *check, const struct question *q,
                         const struct reply *reply) {
  if (is_current(check))
    check->c->other = (struct other_kind){q->role, reply->owner};
  if (!is_current(check)) {
    finish(check);
  } else if (!has_existed_long(check, reply->czxid)) {
    give_up(check);
  } else {
    refuse(check->c, reply);
    end(check);
  }
}

/* Handling replies. */

/* Returns whether another session owns the node. Nodes of this session do not
 * count: a session allows only one kind on a path. So it is already deleting
 * its nodes of another kind. */
static bool is_live(const struct conflict_check *check,
                    const struct reply *reply) {
  return reply->owner != 0 &&
         !pipeline_owns(contender_pipeline(check->c), reply->owner);
}

/* Adds a question for each suspect node in `listing`. `role`: ROLE_PERMIT if
 * this is the list of a semaphore's permits. Returns false if there is no
 * memory. */
static bool add_listed(struct conflict_check *check, enum role role,
                       const struct listing *listing) {
  if (!listing) return false;
  return role == ROLE_PERMIT
             ? add_permits(check, listing)
             : add_suspects(check, listing, listing->entries + listing->count);
}

static void go_on(struct conflict_check *check) {
  if (!check->first)
    finish(check);
  else if (!send_question(check))
    give_up(check);
}

static void listed(struct conflict_check *check, const struct reply *reply) {
  bool added = add_listed(check, check->first->role, reply->listing);
  free(take_first(check));
  if (added)
    go_on(check);
  else
    give_up(check);
}

/* Continues a check after a reply. If the reply shows a live node, it may prove
 * a conflict (has_existed_long). Otherwise sends the next question. A node that
 * is missing, or whose ACL hides its owner, is not live. */
static void on_answer(struct op *op, const struct reply *reply) {
  struct conflict_check *check = op->owner;
  struct question *q = check->first;
  bool found = reply->rc == REPLY_OK;
  if (reply_is_unknown(reply->rc)) {
    end(check);
  } else if (reply_is_transient(reply->rc)) {
    give_up(check);
  } else if (found && q->kind == OP_LIST) {
    listed(check, reply);
  } else if (found && is_live(check, reply)) {
    on_live_node(check, q, reply);
  } else if (reply->rc == REPLY_NO_AUTH && q->kind == OP_READ) {
    q->kind = OP_PING;
    go_on(check);
  } else {
    check->gone |= reply->rc == REPLY_NO_NODE;
    free(take_first(check));
    go_on(check);
  }
}

/* The two entry points. */

bool conflict_is_excluded(struct contender *c, const struct listing *listing,
                          const struct entry *own) {
  if (needs_no_check(c) || lists_nothing(c)) return true;
  if (!c->check && !has_suspects(c, listing, own))
    return c->node.cleared = true;
  contender_enter(c, CONTENDER_QUEUED);
  c->view = (struct view){0};
  if (c->check) return false;
  struct conflict_check *check = check_new(c);
  begin(c, check, check && add_suspects(check, listing, own));
  return false;
}

bool conflict_permits_grant(struct contender *c) {
  const struct pipeline *pipeline = contender_pipeline(c);
  if (needs_no_check(c) || !lists_nothing(c)) return true;
  int64_t at =
      conflict_checked_at(c->queue->all, directory_path(&c->queue->directory));
  if (pipeline->now < at + pipeline->timeout) return c->node.cleared = true;
  contender_enter(c, CONTENDER_QUEUED);
  c->view.listed_in = 0; /* the grant needs a list newer than the check */
  if (c->check) return false;
  struct conflict_check *check = check_new(c);
  begin(c, check, check && add(check, OP_LIST, ROLE_FOREIGN, "", ""));
  return false;
}

bool conflict_is_suspected(const struct contender *c) {
  return c->state == CONTENDER_QUEUED && !needs_no_check(c) &&
         c->node.suspect.czxid != 0;
}
