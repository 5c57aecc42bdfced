/* Is a lock of another kind in use on the same path?
 *
 * A mutex and a readers-writer lock have nodes of different spellings in one
 * directory, and neither waits for the other's: both would be granted.  So each
 * contender looks once, after its node was made, for *live* nodes of another kind:
 * nodes that another session owns.  If it finds one it is refused, and its node is
 * deleted.
 *
 * Why two kinds are not granted side by side: each has made its node before it
 * looks.  ZooKeeper orders the two creates, and a server that has answered a
 * create of ours shows all that is older.  So the later of the two sees the
 * earlier, unless that is gone.  If a node is gone when its owner is to be read the
 * contender lists again: a writer that downgrades leaves a reader in its place.
 * In one directory all kinds count with one counter, so the numbers tell which
 * contender is later, and only that one is refused.
 *
 * A live node may be that of a contender which is about to be refused itself.  It
 * lives for two or three round trips, so a contender is refused only if the node
 * stays for longer (`stays`), or if its own time is over.
 *
 * What a name says is a hint: a node may be left over from a test, a directory
 * `leases` may be empty.  So an owner is read before a contender is refused.  That
 * costs requests only where a name of another kind is seen:
 *
 *   a contender in a queue    its own list shows the nodes of other kinds, an
 *                             unfair lock's node, and a semaphore's directory,
 *                             which is listed then
 *   an unfair lock's,         list nothing that other kinds use.  They list the
 *   a semaphore's             path before they are granted, if this session has
 *                             not done so for a session timeout
 *
 * What remains (doc/reliability.md): within that time a lock of another kind may
 * come while neither a permit nor an unfair lock's node is there, and the next of
 * these does not see it; a node whose ACL hides its owner counts as left over;
 * other libraries do not look.
 *
 * Nothing here ends a hold or a wait that has begun. */
#include "conflict.h"

#include <stdlib.h>
#include <string.h>

#include "life_leaving.h"
#include "way.h"

#define MOMENT INT64_C(100000000) /* nanoseconds */

/* One thing to ask a server: the names in a directory, or the owner of a node. */
struct question {
  struct question *next;
  enum op_kind kind; /* OP_LIST, OP_READ; OP_PING: it may not be read */
  enum role role;    /* the node's; ROLE_FOREIGN: an unfair lock's */
  char path[];
};

/* The questions of one contender, one under way at a time. */
struct look {
  struct contender *c;
  struct op op;
  struct question *first, **end;
  uint64_t id;            /* of the contender's node, ... */
  char own[NAME_MAX_OWN]; /* ... and its name, or what was taken for it */
  bool gone; /* a node was: another may have its place (a downgrade) */
  int64_t begun;
};

static op_handler on_answer;

/* Its beginning. */

static bool is_of_semaphore(const struct contender *c) {
  return c->options.kind == KIND_PERMIT;
}

/* It lists no directory that other kinds use. */
static bool lists_nothing(const struct contender *c) {
  return is_of_semaphore(c) || c->options.kind == KIND_UNFAIR;
}

/* (A gate is no lock of its own; a downgrade holds the lock already.) */
static bool is_cleared(const struct contender *c) {
  return c->node.cleared || c->options.shares_path || c->options.downgrade ||
         c->options.kind == KIND_GATE;
}

static struct look *look_new(struct contender *c) {
  struct look *look = calloc(1, sizeof *look);
  if (!look) return NULL;
  look->c = c;
  look->end = &look->first;
  look->id = c->node.id;
  strcpy(look->own, c->node.name);
  look->begun = contender_wire(c)->now;
  look->op.handler = on_answer;
  look->op.owner = look;
  return look;
}

static struct question *take_first(struct look *look) {
  struct question *q = look->first;
  look->first = q->next;
  if (!look->first) look->end = &look->first;
  return q;
}

static void look_free(struct look *look) {
  while (look->first) free(take_first(look));
  free(look);
}

/* About what is so far below the lock's path.  False: no memory. */
static bool add(struct look *look, enum op_kind kind, enum role role,
                const char *below, const char *name) {
  const struct directory *d = contender_directory(look->c);
  size_t length = directory_length(d);
  if (is_of_semaphore(look->c)) length -= strlen(PERMITS);
  struct question *q =
      malloc(sizeof *q + length + strlen(below) + strlen(name) + 1);
  if (!q) return false;
  q->next = NULL;
  q->kind = kind;
  q->role = role;
  memcpy(q->path, directory_path(d), length);
  strcpy(q->path + length, below);
  strcat(q->path + length, name);
  *look->end = q;
  look->end = &q->next;
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

/* Those before `last`, the nearest first. */
static bool add_suspects(struct look *look, const struct listing *listing,
                         const struct entry *last) {
  const struct contender *c = look->c;
  for (const struct entry *e = last; e-- > listing->entries;)
    if (is_suspect(c, e) && !add(look, OP_READ, e->role, "/", e->name))
      return false;
  return (!shows_holder(c, listing) ||
          add(look, OP_READ, ROLE_FOREIGN, "/", NAME_UNFAIR)) &&
         (!shows_permits(c, listing) ||
          add(look, OP_LIST, ROLE_PERMIT, PERMITS, ""));
}

static bool add_permits(struct look *look, const struct listing *listing) {
  for (const struct entry *e = listing->entries;
       e < listing->entries + listing->count; e++)
    if (e->role == ROLE_PERMIT &&
        !add(look, OP_READ, ROLE_PERMIT, PERMITS "/", e->name))
      return false;
  return true;
}

static bool ask(struct look *look) {
  const struct question *q = look->first;
  if (!q) return false;
  look->op.kind = q->kind;
  look->op.path = q->path;
  return wire_submit(contender_wire(look->c), &look->op);
}

/* (If it fails, the contender is driven again and begins another.) */
static void begin(struct contender *c, struct look *look, bool complete) {
  if (look && complete && ask(look)) {
    c->look = look;
    return;
  }
  wire_retry(contender_wire(c));
  if (look) look_free(look);
}

/* Its end. */

/* It is about the node that the contender has now. */
static bool is_current(const struct look *look) {
  const struct contender *c = look->c;
  return c->state == CONTENDER_QUEUED && c->node.id == look->id &&
         strcmp(c->node.name, look->own) == 0;
}

static int64_t *last_look(const struct contender *c) {
  const struct wire *wire = contender_wire(c);
  return looks_find(&c->queue->all->looks, directory_path(&c->queue->directory),
                    wire->now - wire->timeout);
}

static void end(struct look *look) {
  struct contender *c = look->c;
  c->look = NULL;
  look_free(look);
  if (c->decision != DECISION_NONE) contender_settle_later(c);
}

/* It could not be finished: the contender begins another when it is driven. */
static void give_up(struct look *look) {
  wire_retry(contender_wire(look->c));
  end(look);
}

static void find_nothing(struct look *look) {
  struct contender *c = look->c;
  if (is_current(look) && !look->gone) {
    c->node.cleared = true;
    if (lists_nothing(c)) *last_look(c) = look->begun;
  }
  end(look);
  if (c->state == CONTENDER_QUEUED) c->way->look(c);
}

static void refuse(struct contender *c, const struct reply *reply) {
  size_t size = reply->size > 0 ? (size_t)reply->size : 0;
  c->rival.data = reply->data;
  c->rival.size = reply->data ? (int)data_own_size(reply->data, size) : 0;
  life_refuse(c, VERDICT_CONFLICT, 0);
}

/* Is it there to stay?  A contender that is about to be refused, because we or
 * others of our kind are there, is alive for two or three round trips.  So it must
 * be there when it is looked at again, or others at each look for a while. */
static bool stays(const struct look *look, int64_t czxid) {
  struct node *node = &look->c->node;
  int64_t now = contender_wire(look->c)->now, trips = 4 * (now - look->begun);
  if (node->suspect.czxid == 0) node->suspect.since = now;
  if (node->suspect.czxid != czxid) node->suspect.seen_at = now;
  node->suspect.czxid = czxid;
  return now >= node->suspect.seen_at + (trips > MOMENT ? trips : MOMENT) ||
         now >= node->suspect.since + 10 * MOMENT;
}

static void find(struct look *look, const struct question *q,
                 const struct reply *reply) {
  if (is_current(look))
    look->c->other = (struct other_kind){q->role, reply->owner};
  if (!is_current(look)) {
    find_nothing(look);
  } else if (!stays(look, reply->czxid)) {
    give_up(look);
  } else {
    refuse(look->c, reply);
    end(look);
  }
}

/* Answers. */

/* (This session uses a path in one way: what is ours is on its way out.) */
static bool is_live(const struct look *look, const struct reply *reply) {
  return reply->owner != 0 && !wire_owns(contender_wire(look->c), reply->owner);
}

/* False: no memory. */
static bool note_list(struct look *look, enum role role,
                      const struct listing *listing) {
  if (!listing) return false;
  return role == ROLE_PERMIT
             ? add_permits(look, listing)
             : add_suspects(look, listing, listing->entries + listing->count);
}

static void go_on(struct look *look) {
  if (!look->first)
    find_nothing(look);
  else if (!ask(look))
    give_up(look);
}

static void listed(struct look *look, const struct reply *reply) {
  bool noted = note_list(look, look->first->role, reply->listing);
  free(take_first(look));
  if (noted)
    go_on(look);
  else
    give_up(look);
}

/* (What does not exist, or may not be seen, is no live node as far as we know.) */
static void on_answer(struct op *op, const struct reply *reply) {
  struct look *look = op->owner;
  struct question *q = look->first;
  bool found = reply->rc == REPLY_OK;
  if (reply_is_unknown(reply->rc)) {
    end(look);
  } else if (reply_is_transient(reply->rc)) {
    give_up(look);
  } else if (found && q->kind == OP_LIST) {
    listed(look, reply);
  } else if (found && is_live(look, reply)) {
    find(look, q, reply);
  } else if (reply->rc == REPLY_NO_AUTH && q->kind == OP_READ) {
    q->kind = OP_PING;
    go_on(look);
  } else {
    look->gone |= reply->rc == REPLY_NO_NODE;
    free(take_first(look));
    go_on(look);
  }
}

/* The two ways in. */

bool conflict_clears(struct contender *c, const struct listing *listing,
                     const struct entry *own) {
  if (is_cleared(c) || lists_nothing(c)) return true;
  if (!c->look && !has_suspects(c, listing, own)) return c->node.cleared = true;
  contender_enter(c, CONTENDER_QUEUED);
  c->view = (struct view){0};
  if (c->look) return false;
  struct look *look = look_new(c);
  begin(c, look, look && add_suspects(look, listing, own));
  return false;
}

bool conflict_permits(struct contender *c) {
  const struct wire *wire = contender_wire(c);
  if (is_cleared(c) || !lists_nothing(c)) return true;
  if (wire->now < *last_look(c) + wire->timeout) return c->node.cleared = true;
  contender_enter(c, CONTENDER_QUEUED);
  c->view.listed_in = 0; /* what grants must be newer than the look */
  if (c->look) return false;
  struct look *look = look_new(c);
  begin(c, look, look && add(look, OP_LIST, ROLE_FOREIGN, "", ""));
  return false;
}

bool conflict_is_suspected(const struct contender *c) {
  return c->state == CONTENDER_QUEUED && !is_cleared(c) &&
         c->node.suspect.czxid != 0;
}
