/* Orphans: nodes in a directory that are named like this session's nodes, but
 * that no contender knows. A create whose reply was lost can leave such a node.
 * zklock reads the owner of each orphan, and deletes the orphan if this session
 * owns it. The orphan's name only suggests this; the owner proves it.
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
#include <stdlib.h>
#include <string.h>

#include "directory.h"
#include "hash.h"

enum { ORPHANS_KNOWN = 1000, ORPHANS_IN_FLIGHT = 100 };

enum orphan_state {
  ORPHAN_WAITS,   /* its owner must be read */
  ORPHAN_ASKED,   /* a request is in flight */
  ORPHAN_IGNORED, /* another session's, or not deletable */
  ORPHAN_GONE,
};

struct orphan {
  struct orphan *next;
  struct directory *directory;
  enum orphan_state state;
  struct op op;
  uint64_t hash;
  int64_t czxid;
  char path[];
};

struct orphans {
  struct orphan *first;
  int known, in_flight;
  int64_t ignored_until; /* when to forget those that are ignored */
  bool more;             /* the list had more orphans than are stored */
  char beside[];         /* the path of NAME_UNFAIR in the directory */
};

static op_handler on_orphan;

static const char *name_of(const struct orphan *orphan) {
  return orphan->path + directory_length(orphan->directory) + 1;
}

/* Writes the path of the child `name` to `path`. */
static void set_path(char *path, const struct directory *d, const char *name) {
  memcpy(path, directory_path(d), directory_length(d));
  path[directory_length(d)] = '/';
  strcpy(path + directory_length(d) + 1, name);
}

/* Frees the orphans whose state is `state` or a later one of the enum. */
static void drop(struct orphans *s, enum orphan_state state) {
  for (struct orphan **link = &s->first, *orphan; (orphan = *link);) {
    if (orphan->state < state) {
      link = &orphan->next;
      continue;
    }
    *link = orphan->next;
    free(orphan);
    s->known--;
  }
}

void orphans_forget_ignored(struct directory *d) {
  if (d->orphans) drop(d->orphans, ORPHAN_IGNORED);
}

void orphans_closed(struct directory *d) {
  if (d->orphans) drop(d->orphans, ORPHAN_WAITS);
}

bool orphans_are_known(const struct directory *d) {
  return d->orphans && d->orphans->first;
}

/* Sends the reads of owners, as many as may be in flight. When all orphans are
 * deleted or ignored, requests another list if the last one showed more orphans
 * than zklock stores. */
void orphans_flush(struct directory *d) {
  struct orphans *s = d->orphans;
  bool done = true;
  if (!s) return;
  drop(s, ORPHAN_GONE);
  for (struct orphan *o = s->first; o; o = o->next) {
    if (o->state == ORPHAN_WAITS && s->in_flight < ORPHANS_IN_FLIGHT &&
        pipeline_submit(d->pipeline, &o->op)) {
      o->state = ORPHAN_ASKED;
      s->in_flight++;
    }
    done = done && o->state == ORPHAN_IGNORED;
  }
  if (!done || !s->more || s->known >= ORPHANS_KNOWN) return;
  s->more = false;
  directory_list(d, 0);
}

static void set_request(struct orphan *orphan, enum op_kind kind,
                        const char *path, op_handler *handler) {
  orphan->op = (struct op){.kind = kind,
                           .handler = handler,
                           .owner = orphan,
                           .path = path};
}

/* Ends the request of the orphan. ORPHAN_WAITS: zklock reads the owner again,
 * because a reply was lost or a request could not be sent. Without a
 * connection, the next connection sends the read. */
static void end_request(struct orphan *orphan, enum orphan_state state) {
  struct directory *d = orphan->directory;
  struct orphans *s = d->orphans;
  int64_t now = d->pipeline->now;
  if (state == ORPHAN_IGNORED && now >= s->ignored_until)
    s->ignored_until = now + d->pipeline->timeout;
  set_request(orphan, OP_PING, orphan->path, on_orphan);
  orphan->state = state;
  s->in_flight--;
  directory_wake(d);
}

static void delete_it(struct orphan *orphan, const char *beside) {
  struct pipeline *pipeline = orphan->directory->pipeline;
  set_request(orphan, OP_REMOVE, orphan->path, on_orphan);
  orphan->op.beside = beside;
  if (pipeline_submit(pipeline, &orphan->op))
    counter_add(&pipeline->counters.orphans, 1);
  else
    end_request(orphan, ORPHAN_WAITS);
}

/* Sends the delete of an orphan of an unfair lock, after a read of `holder`. If
 * both nodes have the same czxid, one transaction created them. Then one
 * transaction deletes both `holder` and the orphan. */
static void on_holder_read(struct op *op, const struct reply *reply) {
  struct orphan *orphan = op->owner;
  bool both = reply->rc == REPLY_OK && reply->czxid == orphan->czxid;
  /* If the czxids differ, `holder` may be an orphan itself, without the other
   * node of its acquisition. Only a list shows that. */
  if (!both && reply->rc == REPLY_OK) directory_list(orphan->directory, 0);
  if (reply_is_unknown(reply->rc))
    end_request(orphan, ORPHAN_WAITS);
  else
    delete_it(orphan, both ? NAME_UNFAIR : NULL);
}

/* Deletes an orphan of this session. If the orphan belongs to an unfair lock,
 * first reads `holder`. */
static void delete_own(struct orphan *orphan, int64_t czxid) {
  struct directory *d = orphan->directory;
  int32_t sequence;
  if (name_parse(name_of(orphan), &sequence) != ROLE_HOLD) {
    delete_it(orphan, NULL);
    return;
  }
  orphan->czxid = czxid;
  set_request(orphan, OP_PING, d->orphans->beside, on_holder_read);
  if (!pipeline_submit(d->pipeline, &orphan->op))
    end_request(orphan, ORPHAN_WAITS);
}

/* Continues after the reply to a read or a delete. Deletes the node if this
 * session owns it, reads the owner again, or forgets or ignores the orphan.
 * Sends the delete only if still no contender has the name. Since the list,
 * another session's orphan may have been deleted, and a contender's new node
 * may have got its name. This needs another session with the same base, or a
 * forged name, and numbers that a server has assigned again. If the ACL of an
 * orphan forbids reading, the orphan is another session's: zklock never creates
 * a node whose ACL forbids its own session to read it. */
static void on_orphan(struct op *op, const struct reply *reply) {
  struct orphan *orphan = op->owner;
  struct directory *d = orphan->directory;
  bool shown = op->kind == OP_PING && reply->rc == REPLY_OK;
  bool ours = shown && pipeline_owns(d->pipeline, reply->owner);
  if (ours && !d->owner->knows(d, name_of(orphan)))
    delete_own(orphan, reply->czxid);
  else if (reply_is_unknown(reply->rc) || reply->rc == REPLY_UNDONE)
    end_request(orphan, ORPHAN_WAITS);
  else if (ours || reply->rc == REPLY_NO_NODE ||
           (reply->rc == REPLY_OK && !shown))
    end_request(orphan, ORPHAN_GONE);
  else
    end_request(orphan, ORPHAN_IGNORED);
}

/* Returns the link to the orphan of this name, or to the end of the list. */
static struct orphan **find(struct orphans *s, const char *name,
                            uint64_t hash) {
  struct orphan **link = &s->first;
  while (*link && ((*link)->hash != hash || strcmp(name_of(*link), name) != 0))
    link = &(*link)->next;
  return link;
}

bool directory_accepts_orphans(struct directory *d) {
  struct orphans *s = d->orphans;
  if (!s) return true;
  if (d->pipeline->now >= s->ignored_until) orphans_forget_ignored(d);
  if (s->known < ORPHANS_KNOWN) return true;
  s->more = true;
  return false;
}

/* Returns false if there is no memory. */
static bool add(struct directory *d, const char *name) {
  size_t path = directory_length(d) + 1;
  struct orphans *s = d->orphans;
  if (!s) s = calloc(1, sizeof *s + path + sizeof NAME_UNFAIR);
  if (!s) return false;
  d->orphans = s;
  set_path(s->beside, d, NAME_UNFAIR);
  uint64_t hash = hash_text(HASH_BEGIN, name, strlen(name));
  struct orphan **link = find(s, name, hash);
  if (*link) return true;
  struct orphan *orphan = calloc(1, sizeof *orphan + path + strlen(name) + 1);
  if (!orphan) return false;
  orphan->directory = d;
  orphan->hash = hash;
  set_path(orphan->path, d, name);
  set_request(orphan, OP_PING, orphan->path, on_orphan);
  *link = orphan;
  s->known++;
  return true;
}

void directory_remove_orphan(struct directory *d, const char *name) {
  if (!directory_accepts_orphans(d)) return;
  if (!add(d, name)) d->list_wanted = true; /* a list shows the orphan again */
  directory_wake(d);
}
