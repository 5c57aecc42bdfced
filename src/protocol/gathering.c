/* The members of a double barrier, by the protocol of Curator's
 * DistributedDoubleBarrier: each makes a node, and whoever finds `permits` of them
 * there makes one more, `ready`, by which all the others know that they may go on.
 *
 * How many there are only a list shows that was sent after our own create.  So of
 * the last `permits` to come at least one sees them all, and makes `ready`.
 *
 * A `ready` that is older than our node says nothing: it let others in, who may have
 * died inside.  Whoever finds enough members makes it anew; so it is always newer
 * than the nodes of those whom it lets in, and stays while more than one of them is
 * left (departure.c).  A member that had no connection finds it when it has one
 * again.
 *
 * A server may make `ready` late, when the connection that it was asked for in is
 * over and others have left (doubts.h).  So it is made in a transaction that checks
 * that its maker's node is there.  If the answer is lost and `ready` is not there in
 * the next connection, the maker gives that node back and makes another: then the
 * late transaction is refused.  (Members do not stand in a line: it loses nothing.) */
#include <stdlib.h>
#include <string.h>

#include "conflict.h"
#include "life.h"
#include "place.h"
#include "queue.h"
#include "queued.h"
#include "way.h"

#define CANNOT_OPEN "cannot create " NAME_READY " in"

static op_handler on_made;

/* `ready` is being made. */
struct opening {
  struct op make; /* (first: a queue knows it by that) */
  bool in_doubt;  /* its answer was lost */
  char *own;      /* the path of the node of the member that asks for it */
  char path[];
};

static struct opening *known_opening(const struct queue *queue) {
  return (struct opening *)queue->opening;
}

/* NULL: no memory; it is tried again. */
static struct opening *opening_of(struct queue *queue) {
  struct opening *o = known_opening(queue);
  const struct directory *d = &queue->directory;
  if (o) return o;
  size_t path = directory_length(d) + 1 + sizeof NAME_READY;
  o = calloc(1, sizeof *o + path + directory_length(d) + 1 + NAME_MAX_OWN);
  if (!o) {
    wire_retry(d->wire);
    return NULL;
  }
  memcpy(o->path, directory_path(d), directory_length(d));
  o->path[directory_length(d)] = '/';
  strcpy(o->path + directory_length(d) + 1, NAME_READY);
  o->own = o->path + path;
  o->make = (struct op){.kind = OP_MKDIR,
                        .handler = on_made,
                        .owner = queue,
                        .path = o->path,
                        .provided = o->own,
                        .persistent = true,
                        .shared = true};
  queue->opening = &o->make;
  return o;
}

/* `ready`, as it was seen; 0: it is not there, or may not be looked at. */
static int64_t seen(const struct contender *c) {
  return watch_seen(&c->predecessor);
}

static bool is_there(const struct contender *c) {
  return seen(c) || watch_is_hidden(&c->predecessor);
}

static bool is_complete(const struct contender *c) {
  return c->way == &gathering_way && c->state == CONTENDER_QUEUED &&
         contender_sees(c) && c->view.ahead == 0;
}

static struct refusals *making(struct queue *queue) {
  return &queue->directory.making;
}

static void open_for(struct contender *c) {
  struct wire *wire = contender_wire(c);
  struct opening *o = opening_of(c->queue);
  if (!o || o->make.in_flight || wire_holds_back(wire, making(c->queue)))
    return;
  o->make.anew = is_there(c);
  o->in_doubt = false;
  strcpy(o->own, c->path);
  wire_submit(wire, &o->make);
}

/* It has asked for `ready`, and does not know what has become of that. */
static bool may_open_late(const struct contender *c) {
  const struct opening *o = known_opening(c->queue);
  return o && o->in_doubt && strcmp(o->own, c->path) == 0;
}

/* Not now: it is tried again, also for one that does not wait.  All are there, so it
 * waits for nobody. */
static void put_off(struct queue *queue, int rc) {
  wire_back_off(queue->directory.wire, making(queue), rc);
}

/* (Who waits for its own node alone is let in.) */
static void refuse(struct queue *queue, const char *what, int rc) {
  const struct directory *d = &queue->directory;
  wire_trouble(d->wire, what, directory_path(d), rc);
  if (reply_is_transient(rc)) {
    put_off(queue, rc);
    return;
  }
  for (struct contender *c = queue->first; c; c = c->next)
    if (is_complete(c) && !c->node.let_in)
      life_deny(c, what, directory_length(d), rc);
}

/* All is known that a list can tell.  (Who is let in has its own node watched: had
 * that been deleted before, we would have been told.) */
static void act(struct contender *c) {
  bool ours = contender_is_surely_ours(c);
  if (ours && seen(c) > c->node.czxid) c->node.let_in = true;
  if (!ours || !contender_watches_own(c)) watch_read(&c->own);
  if (ours && c->node.let_in) {
    if (contender_watches_own(c)) life_be_first(c);
    if (watch_is_hidden(&c->own)) life_deny_hidden(c);
  } else if (!watch_is_known(&c->predecessor)) {
    watch_arm(&c->predecessor);
  } else if (ours && may_open_late(c)) {
    known_opening(c->queue)->in_doubt = false;
    life_leave(c); /* to begin again */
  } else if (ours && c->view.ahead == 0) {
    open_for(c);
  } else if (ours && !c->options.patient) {
    life_refuse(c, VERDICT_BUSY, 0);
  }
}

/* (Our node was there before it was asked for.  If another client has made it, the
 * watch tells, or has told; but not of one that we may not read.  If a node is
 * missing, a list tells which.) */
static void opened(struct contender *c, const struct reply *reply) {
  if (reply->rc == REPLY_NO_NODE || reply->rc == REPLY_UNDONE) {
    if (watch_is_hidden(&c->predecessor)) watch_read(&c->predecessor);
    contender_list_again(c);
    return;
  }
  bool unseen = watch_is_known(&c->predecessor) && !is_there(c);
  if (reply->rc == REPLY_NODE_EXISTS && unseen) {
    watch_read(&c->predecessor);
    return;
  }
  if (reply->rc == REPLY_OK && contender_is_surely_ours(c))
    c->node.let_in = true;
  act(c);
}

static void on_made(struct op *op, const struct reply *reply) {
  struct queue *queue = op->owner;
  int rc = reply->rc;
  directory_wake(&queue->directory);
  known_opening(queue)->in_doubt = reply_is_unknown(rc);
  if (reply_is_unknown(rc)) return;
  if (rc != REPLY_OK && rc != REPLY_NODE_EXISTS && rc != REPLY_NO_NODE &&
      rc != REPLY_UNDONE) {
    refuse(queue, CANNOT_OPEN, rc);
    return;
  }
  for (struct contender *c = queue->first; c; c = c->next)
    if (is_complete(c)) opened(c, reply);
}

static bool await_ready(struct contender *c) {
  if (!watch_want(&c->predecessor, &contender_directory(c)->watches,
                  NAME_READY))
    return false;
  watch_await(&c->predecessor);
  return true;
}

static void found(struct contender *c, const struct listing *listing,
                  const struct entry *own) {
  if (!conflict_clears(c, listing, own)) return;
  int missing = c->options.permits - rule_members(listing);
  c->view = (struct view){.listed_in = contender_wire(c)->connection,
                          .ahead = missing > 0 ? missing : 0};
  contender_enter(c, CONTENDER_QUEUED);
  if (watch_want(&c->own, &contender_directory(c)->watches, own->name) &&
      await_ready(c)) {
    act(c);
    return;
  }
  c->view.listed_in = 0; /* no memory: list again later */
  wire_retry(contender_wire(c));
}

/* The way. */

static void sent(struct contender *c) {
  directory_list(contender_directory(c), c->node.serial);
  if (await_ready(c)) watch_arm(&c->predecessor);
}

static void look(struct contender *c) {
  if (contender_sees(c))
    act(c);
  else
    directory_list(contender_directory(c), 0);
}

static void listed(struct contender *c, const struct listing *listing) {
  place_find(c, listing, found);
}

/* `ready` was made.  A server tells a connection in the order of the changes, so our
 * node, of which it has told us before, is older.  It may be gone again already: who
 * has other rules than ours takes it away as soon as he leaves. */
static void note_ready(struct contender *c) {
  if (contender_is_waiting(c) && contender_is_surely_ours(c))
    c->node.let_in = true;
}

/* A `ready` that we may not look at is younger than our node if none was there
 * when our node was: what is answered behind our create was asked behind it, and
 * events come in the order of the changes. */
static void note_absence(struct contender *c) {
  if (contender_is_surely_ours(c)) c->node.preceded_ready = true;
}

static void note_hidden(struct contender *c) {
  if (c->node.preceded_ready)
    note_ready(c);
  else if (contender_sees(c) && c->view.ahead > 0)
    contender_list_again(c); /* have enough come by now? */
}

static void heard(struct watcher *watcher, enum watch_news news,
                  const struct reply *reply) {
  struct contender *c = watcher_owner(watcher);
  bool made = news == WATCH_STALE && watch_was_of(watcher, 0);
  if (watcher == &c->own) {
    queued_hear_own(c, news, reply);
    return;
  }
  if (made) note_ready(c);
  if (news == WATCH_GONE) note_absence(c);
  if (news == WATCH_HIDDEN) note_hidden(c);
  if (c->state == CONTENDER_QUEUED && contender_sees(c))
    act(c);
  else if (contender_is_waiting(c))
    watch_arm(watcher);
}

/* It waits for those who are not there. */
static void note_rival(struct contender *c) { (void)c; }

const struct way gathering_way = {.enter = life_enter,
                                  .sent = sent,
                                  .made = queued_made,
                                  .look = look,
                                  .look_anew = queued_look_anew,
                                  .may_remove = queued_may_remove,
                                  .listed = listed,
                                  .heard = heard,
                                  .note_rival = note_rival,
                                  .settle = life_settle};
