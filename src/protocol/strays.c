/* The name of a stray says that it may be ours, and its owner proves whether it
 * is.  So the owner of each stray is read, and the node is deleted if it is
 * ours.
 *
 * Between that read and the delete the name could pass to another session's
 * node, which the delete would hit.  Only this client or an operator deletes
 * our node.  Then its number would have to be assigned again, to a session with
 * our base and the same id.  Numbers only grow, so the directory would have to
 * be deleted and created again.  All this within a round trip and the lag of
 * the server that was read, and with odds of 1 in 916 million.  No client does
 * better with a delete by path.
 *
 * Any client can read our base and create thousands of nodes with it.  So only
 * a few strays are read at a time, so that other requests of the session get
 * through.  And only as many are known as is cheap to store; another list shows
 * the rest.  A stray that cannot be deleted, because it has children or because
 * of an ACL, is left alone for a while.  So is another session's. */
#include "strays.h"

#include <stdlib.h>
#include <string.h>

#include "hash.h"

enum { STRAYS_KNOWN = 1000, STRAYS_FLYING = 100 };

struct stray {
  struct stray *next;
  struct strays *all;
  struct op op;
  struct chore end;
  uint64_t hash;
  bool foreign; /* a server has named another owner */
  int64_t czxid;
  char path[];
};

struct strays {
  struct strays_owner owner;
  struct wire *wire;
  struct chore *flush;
  const char *path; /* of the directory */
  size_t length;

  struct stray *first, **end;
  struct stray *waiting; /* the first stray that is not being read */
  int known, flying;
  struct stray *foreign; /* strays of other sessions */
  int foreign_known;
  int64_t foreign_until; /* when `foreign` may be read again */
  bool more;             /* the list had more strays */
  bool refused;          /* a stray could not be deleted */
  int64_t not_before;    /* accept no strays before this time */
  char beside[];         /* the path of NAME_UNFAIR in the directory */
};

struct strays *strays_new(const struct strays_owner *owner, struct wire *wire,
                          struct chore *flush, const char *path,
                          size_t length) {
  struct strays *s = calloc(1, sizeof *s + length + 1 + sizeof NAME_UNFAIR);
  if (!s) return NULL;
  memcpy(s->beside, path, length);
  s->beside[length] = '/';
  memcpy(s->beside + length + 1, NAME_UNFAIR, sizeof NAME_UNFAIR);
  s->owner = *owner;
  s->wire = wire;
  s->flush = flush;
  s->path = path;
  s->length = length;
  s->end = &s->first;
  return s;
}

void strays_free(struct strays *s) { free(s); }

bool strays_are_known(const struct strays *s) { return s->first || s->foreign; }

static void wake(struct strays *s) { chore_add(&s->wire->batch, s->flush); }

void strays_send(struct strays *s) {
  while (s->waiting && s->flying < STRAYS_FLYING &&
         wire_submit(s->wire, &s->waiting->op)) {
    s->waiting = s->waiting->next;
    s->flying++;
  }
}

void strays_forget_foreign(struct strays *s) {
  for (struct stray *stray = s->foreign, *next; stray; stray = next) {
    next = stray->next;
    free(stray);
  }
  s->foreign = NULL;
  s->foreign_known = 0;
}

static void keep_foreign(struct strays *s, struct stray *stray) {
  if (!s->foreign) s->foreign_until = s->wire->now + s->wire->timeout;
  stray->next = s->foreign;
  s->foreign = stray;
  s->foreign_known++;
}

/* Called when all known strays are handled. */
static void done(struct strays *s) {
  bool more = s->more;
  s->more = false;
  if (s->refused)
    s->not_before = s->wire->now + s->wire->timeout;
  else if (more)
    s->owner.list_again(s->owner.self);
  s->refused = false;
}

static void take_out(struct strays *s, struct stray *stray) {
  struct stray **link = &s->first;
  while (*link != stray) link = &(*link)->next;
  *link = stray->next;
  if (s->end == &stray->next) s->end = link;
}

static void put_last(struct strays *s, struct stray *stray) {
  stray->next = NULL;
  *s->end = stray;
  s->end = &stray->next;
  if (!s->waiting) s->waiting = stray;
}

static void destroy(struct chore *chore) {
  struct stray *stray =
      (struct stray *)((char *)chore - offsetof(struct stray, end));
  struct strays *s = stray->all;
  take_out(s, stray);
  if (stray->foreign)
    keep_foreign(s, stray);
  else
    free(stray);
  s->known--;
  if (s->known == 0) done(s);
  wake(s);
}

/* Reads the owner again, perhaps in the next connection.  The reply was lost,
 * or the request could not be sent. */
static void ask_again(struct strays *s, struct stray *stray) {
  stray->op.kind = OP_PING;
  stray->op.beside = NULL;
  take_out(s, stray);
  put_last(s, stray);
  wake(s);
}

static bool remove_one(struct strays *s, struct stray *stray) {
  stray->op.kind = OP_REMOVE;
  if (!wire_submit(s->wire, &stray->op)) return false;
  counter_add(&s->wire->counters.strays, 1);
  return true;
}

static op_handler on_stray;

static void set_question(struct stray *stray, const char *path,
                         op_handler *handler) {
  stray->op.path = path;
  stray->op.handler = handler;
}

/* Handles a read of `holder`.  If both nodes have one czxid, one transaction
 * created them. */
static void on_beside(struct op *op, const struct reply *reply) {
  struct stray *stray = op->owner;
  struct strays *s = stray->all;
  bool both = reply->rc == REPLY_OK && reply->czxid == stray->czxid;
  set_question(stray, stray->path, on_stray);
  stray->op.beside = both ? NAME_UNFAIR : NULL;
  /* The node beside that `holder` may be gone. */
  if (!both && reply->rc == REPLY_OK) s->owner.list_again(s->owner.self);
  if (!reply_is_unknown(reply->rc) && remove_one(s, stray)) return;
  s->flying--;
  ask_again(s, stray);
}

static bool ask_beside(struct strays *s, struct stray *stray, int64_t czxid) {
  stray->czxid = czxid;
  set_question(stray, s->beside, on_beside);
  if (wire_submit(s->wire, &stray->op)) return true;
  set_question(stray, stray->path, on_stray);
  return false;
}

/* Deletes a stray of this session.  False: no memory. */
static bool go_on(struct strays *s, struct stray *stray, int64_t czxid) {
  int32_t sequence;
  bool hold = name_parse(stray->path + s->length + 1, &sequence) == ROLE_HOLD;
  return hold ? ask_beside(s, stray, czxid) : remove_one(s, stray);
}

/* Handles the reply to a read or a delete.  Before the delete it checks again
 * that no contender has the name.  Another session's stray may be gone since
 * the list, and a node of ours may have its name now.  That takes a session
 * with our base, or a forged name, and numbers that were assigned again. */
static void on_stray(struct op *op, const struct reply *reply) {
  struct stray *stray = op->owner;
  struct strays *s = stray->all;
  bool shown = op->kind == OP_PING && reply->rc == REPLY_OK;
  bool ours = shown && wire_owns(s->wire, reply->owner) &&
              !s->owner.claims(s->owner.self, stray->path + s->length + 1);
  if (ours && go_on(s, stray, reply->czxid)) return;
  s->flying--;
  if (ours || reply_is_unknown(reply->rc) || reply->rc == REPLY_UNDONE) {
    ask_again(s, stray);
    return;
  }
  /* A stray that may not be read is not ours: our ACL lets us read our
   * nodes. */
  bool hidden = op->kind == OP_PING && reply->rc == REPLY_NO_AUTH;
  stray->foreign = hidden || (shown && !wire_owns(s->wire, reply->owner));
  if (!stray->foreign && reply->rc != REPLY_OK && reply->rc != REPLY_NO_NODE)
    s->refused = true;
  chore_add(&s->wire->step, &stray->end);
}

static uint64_t hash_of(const char *name) {
  return hash_text(HASH_BEGIN, name, strlen(name));
}

static struct stray *stray_new(struct strays *s, const char *name) {
  size_t size = strlen(name) + 1;
  struct stray *stray = calloc(1, sizeof *stray + s->length + 1 + size);
  if (!stray) return NULL;
  stray->all = s;
  stray->hash = hash_of(name);
  memcpy(stray->path, s->path, s->length);
  stray->path[s->length] = '/';
  memcpy(stray->path + s->length + 1, name, size);
  stray->op = (struct op){.kind = OP_PING,
                          .handler = on_stray,
                          .owner = stray,
                          .path = stray->path};
  stray->end = (struct chore){.run = destroy};
  return stray;
}

static bool has(const struct strays *s, const struct stray *first,
                const char *name) {
  uint64_t hash = hash_of(name);
  for (const struct stray *stray = first; stray; stray = stray->next)
    if (stray->hash == hash && strcmp(stray->path + s->length + 1, name) == 0)
      return true;
  return false;
}

static bool is_known(const struct strays *s, const char *name) {
  return has(s, s->first, name) || has(s, s->foreign, name);
}

bool strays_take_more(struct strays *s) {
  if (s->wire->now < s->not_before) return false;
  if (s->wire->now >= s->foreign_until) strays_forget_foreign(s);
  if (s->known + s->foreign_known < STRAYS_KNOWN) return true;
  s->more = true;
  return false;
}

bool strays_remove(struct strays *s, const char *name) {
  if (!strays_take_more(s) || is_known(s, name)) return true;
  struct stray *stray = stray_new(s, name);
  if (!stray) return false;
  put_last(s, stray);
  s->known++;
  strays_send(s);
  return true;
}

void strays_closed(struct strays *s) {
  for (; s->waiting; s->waiting = s->waiting->next)
    chore_add(&s->wire->step, &s->waiting->end);
  strays_forget_foreign(s);
}
