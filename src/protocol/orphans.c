/* Reads the owner of each orphan, and deletes the orphan if this session owns
 * it. The orphan's name only suggests this; the owner proves it.
 *
 * Between that read and the delete, another session's node could get the name,
 * and the delete would hit that node. This is very unlikely. Only this client
 * or an operator deletes this session's node. Then a server would have to
 * assign its number again, to a session with equal base and id. Numbers only
 * grow, so the directory would have to be deleted and created again. All this
 * would have to happen within a round trip and the lag of the server that was
 * read. The odds of equal bases are 1 in 916 million. No client does better
 * with a delete by path.
 *
 * Any client can read this session's base and create thousands of nodes with
 * it. So zklock reads only a few orphans at a time, and other requests of the
 * session get through. It stores at most ORPHANS_KNOWN, to limit the memory;
 * another list shows the rest. If an orphan cannot be deleted, because of
 * children or an ACL, zklock ignores it for a while. It does the same with an
 * orphan of another session. */
#include "orphans.h"

#include <stdlib.h>
#include <string.h>

#include "hash.h"

enum { ORPHANS_KNOWN = 1000, ORPHANS_IN_FLIGHT = 100 };

struct orphan {
  struct orphan *next;
  struct orphans *all;
  struct op op;
  struct deferred_call end;
  uint64_t hash;
  bool foreign; /* a server has named another session as the owner */
  int64_t czxid;
  char path[];
};

struct orphans {
  struct orphans_owner owner;
  struct pipeline *pipeline;
  struct deferred_call *flush;
  const char *path; /* the path of the directory */
  size_t length;

  struct orphan *first, **end;
  struct orphan *waiting; /* the first orphan that is not being read */
  int known, in_flight;
  struct orphan *foreign; /* orphans of other sessions */
  int foreign_known;
  int64_t foreign_until; /* when to read the owners of `foreign` again */
  bool more;             /* the list had more orphans than are stored */
  bool refused;          /* an orphan could not be deleted */
  int64_t not_before;    /* add no orphans before this time */
  char beside[];         /* the path of NAME_UNFAIR in the directory */
};

struct orphans *orphans_new(const struct orphans_owner *owner,
                            struct pipeline *pipeline,
                            struct deferred_call *flush, const char *path,
                            size_t length) {
  struct orphans *s = calloc(1, sizeof *s + length + 1 + sizeof NAME_UNFAIR);
  if (!s) return NULL;
  memcpy(s->beside, path, length);
  s->beside[length] = '/';
  memcpy(s->beside + length + 1, NAME_UNFAIR, sizeof NAME_UNFAIR);
  s->owner = *owner;
  s->pipeline = pipeline;
  s->flush = flush;
  s->path = path;
  s->length = length;
  s->end = &s->first;
  return s;
}

void orphans_free(struct orphans *s) { free(s); }

bool orphans_are_known(const struct orphans *s) {
  return s->first || s->foreign;
}

static void wake(struct orphans *s) {
  deferred_call_add(&s->pipeline->batch, s->flush);
}

void orphans_send(struct orphans *s) {
  while (s->waiting && s->in_flight < ORPHANS_IN_FLIGHT &&
         pipeline_submit(s->pipeline, &s->waiting->op)) {
    s->waiting = s->waiting->next;
    s->in_flight++;
  }
}

void orphans_forget_foreign(struct orphans *s) {
  for (struct orphan *orphan = s->foreign, *next; orphan; orphan = next) {
    next = orphan->next;
    free(orphan);
  }
  s->foreign = NULL;
  s->foreign_known = 0;
}

static void keep_foreign(struct orphans *s, struct orphan *orphan) {
  if (!s->foreign) s->foreign_until = s->pipeline->now + s->pipeline->timeout;
  orphan->next = s->foreign;
  s->foreign = orphan;
  s->foreign_known++;
}

/* Called when each stored orphan has been read and, if possible, deleted. If
 * the last list had more orphans than zklock stores, requests another list. But
 * if an orphan could not be deleted, accepts no orphans for one session
 * timeout. */
static void on_all_done(struct orphans *s) {
  bool more = s->more;
  s->more = false;
  if (s->refused)
    s->not_before = s->pipeline->now + s->pipeline->timeout;
  else if (more)
    s->owner.list_again(s->owner.self);
  s->refused = false;
}

static void take_out(struct orphans *s, struct orphan *orphan) {
  struct orphan **link = &s->first;
  while (*link != orphan) link = &(*link)->next;
  *link = orphan->next;
  if (s->end == &orphan->next) s->end = link;
}

static void put_last(struct orphans *s, struct orphan *orphan) {
  orphan->next = NULL;
  *s->end = orphan;
  s->end = &orphan->next;
  if (!s->waiting) s->waiting = orphan;
}

static void destroy(struct deferred_call *call) {
  struct orphan *orphan =
      (struct orphan *)((char *)call - offsetof(struct orphan, end));
  struct orphans *s = orphan->all;
  take_out(s, orphan);
  if (orphan->foreign)
    keep_foreign(s, orphan);
  else
    free(orphan);
  s->known--;
  if (s->known == 0) on_all_done(s);
  wake(s);
}

/* Schedules another read of the orphan's owner, because a reply was lost or a
 * request could not be sent. Without a connection, the next connection sends
 * the read. */
static void read_owner_again(struct orphans *s, struct orphan *orphan) {
  orphan->op.kind = OP_PING;
  orphan->op.beside = NULL;
  take_out(s, orphan);
  put_last(s, orphan);
  wake(s);
}

static bool remove_one(struct orphans *s, struct orphan *orphan) {
  orphan->op.kind = OP_REMOVE;
  if (!pipeline_submit(s->pipeline, &orphan->op)) return false;
  counter_add(&s->pipeline->counters.orphans, 1);
  return true;
}

static op_handler on_orphan;

static void set_request(struct orphan *orphan, const char *path,
                        op_handler *handler) {
  orphan->op.path = path;
  orphan->op.handler = handler;
}

/* Sends the delete of an orphan of an unfair lock, after a read of `holder`. If
 * both nodes have the same czxid, one transaction created them. Then one
 * transaction deletes both `holder` and the orphan. If the reply was lost or
 * the delete cannot be sent, reads the orphan's owner again. */
static void on_holder_read(struct op *op, const struct reply *reply) {
  struct orphan *orphan = op->owner;
  struct orphans *s = orphan->all;
  bool both = reply->rc == REPLY_OK && reply->czxid == orphan->czxid;
  set_request(orphan, orphan->path, on_orphan);
  orphan->op.beside = both ? NAME_UNFAIR : NULL;
  /* If the czxids differ, `holder` may be an orphan itself, without the other
   * node of its acquisition. Only a list shows that. */
  if (!both && reply->rc == REPLY_OK) s->owner.list_again(s->owner.self);
  if (!reply_is_unknown(reply->rc) && remove_one(s, orphan)) return;
  s->in_flight--;
  read_owner_again(s, orphan);
}

static bool read_holder(struct orphans *s, struct orphan *orphan,
                        int64_t czxid) {
  orphan->czxid = czxid;
  set_request(orphan, s->beside, on_holder_read);
  if (pipeline_submit(s->pipeline, &orphan->op)) return true;
  set_request(orphan, orphan->path, on_orphan);
  return false;
}

/* Sends the delete of an orphan of this session. If the orphan belongs to an
 * unfair lock, first reads `holder`. Returns false if nothing was sent. */
static bool delete_orphan(struct orphans *s, struct orphan *orphan,
                          int64_t czxid) {
  int32_t sequence;
  bool hold = name_parse(orphan->path + s->length + 1, &sequence) == ROLE_HOLD;
  return hold ? read_holder(s, orphan, czxid) : remove_one(s, orphan);
}

/* Continues after the reply to a read or a delete. Deletes the node if this
 * session owns it, reads the owner again, or forgets the orphan. Sends the
 * delete only if still no contender has the name. Since the list, another
 * session's orphan may have been deleted, and a contender's new node may have
 * got its name. This needs another session with the same base, or a forged
 * name, and numbers that a server has assigned again. */
static void on_orphan(struct op *op, const struct reply *reply) {
  struct orphan *orphan = op->owner;
  struct orphans *s = orphan->all;
  bool shown = op->kind == OP_PING && reply->rc == REPLY_OK;
  bool ours = shown && pipeline_owns(s->pipeline, reply->owner) &&
              !s->owner.knows(s->owner.self, orphan->path + s->length + 1);
  if (ours && delete_orphan(s, orphan, reply->czxid)) return;
  s->in_flight--;
  if (ours || reply_is_unknown(reply->rc) || reply->rc == REPLY_UNDONE) {
    read_owner_again(s, orphan);
    return;
  }
  /* If the ACL of an orphan forbids reading, the orphan is another session's.
   * zklock never creates a node whose ACL forbids its own session to read
   * it. */
  bool hidden = op->kind == OP_PING && reply->rc == REPLY_NO_AUTH;
  orphan->foreign =
      hidden || (shown && !pipeline_owns(s->pipeline, reply->owner));
  if (!orphan->foreign && reply->rc != REPLY_OK && reply->rc != REPLY_NO_NODE)
    s->refused = true;
  deferred_call_add(&s->pipeline->step, &orphan->end);
}

static uint64_t hash_of(const char *name) {
  return hash_text(HASH_BEGIN, name, strlen(name));
}

static struct orphan *orphan_new(struct orphans *s, const char *name) {
  size_t size = strlen(name) + 1;
  struct orphan *orphan = calloc(1, sizeof *orphan + s->length + 1 + size);
  if (!orphan) return NULL;
  orphan->all = s;
  orphan->hash = hash_of(name);
  memcpy(orphan->path, s->path, s->length);
  orphan->path[s->length] = '/';
  memcpy(orphan->path + s->length + 1, name, size);
  orphan->op = (struct op){.kind = OP_PING,
                           .handler = on_orphan,
                           .owner = orphan,
                           .path = orphan->path};
  orphan->end = (struct deferred_call){.run = destroy};
  return orphan;
}

static bool has(const struct orphans *s, const struct orphan *first,
                const char *name) {
  uint64_t hash = hash_of(name);
  for (const struct orphan *orphan = first; orphan; orphan = orphan->next)
    if (orphan->hash == hash && strcmp(orphan->path + s->length + 1, name) == 0)
      return true;
  return false;
}

static bool is_known(const struct orphans *s, const char *name) {
  return has(s, s->first, name) || has(s, s->foreign, name);
}

bool orphans_accept_more(struct orphans *s) {
  if (s->pipeline->now < s->not_before) return false;
  if (s->pipeline->now >= s->foreign_until) orphans_forget_foreign(s);
  if (s->known + s->foreign_known < ORPHANS_KNOWN) return true;
  s->more = true;
  return false;
}

bool orphans_remove(struct orphans *s, const char *name) {
  if (!orphans_accept_more(s) || is_known(s, name)) return true;
  struct orphan *orphan = orphan_new(s, name);
  if (!orphan) return false;
  put_last(s, orphan);
  s->known++;
  orphans_send(s);
  return true;
}

void orphans_closed(struct orphans *s) {
  for (; s->waiting; s->waiting = s->waiting->next)
    deferred_call_add(&s->pipeline->step, &s->waiting->end);
  orphans_forget_foreign(s);
}
