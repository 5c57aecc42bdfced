/* The members of a double barrier, by the protocol of Curator's
 * DistributedDoubleBarrier. Each member creates a node. The option `permits` is
 * the number of members that must come. A member that finds that many nodes
 * creates the node `ready`, which lets these members in.
 *
 * A member counts the nodes only in a list that was requested after its own
 * create. So at least one of the last `permits` members sees all nodes, and
 * creates `ready`.
 *
 * If `ready` is older than a member's node, it does not let this member in.
 * That `ready` has let in earlier members, which may have died inside. So a
 * member that finds enough nodes replaces an old `ready`. The new `ready` is
 * newer than the nodes of all members that it lets in. It stays while more than
 * one of these members is left (barrier_leave.c). So a member that was
 * disconnected finds it later.
 *
 * A server may apply the create of `ready` late (late_creates.c). By then its
 * connection is gone, and the members may have left. So the transaction that
 * creates `ready` checks that the node of the requesting member exists. If the
 * reply is lost and `ready` is missing in the next connection, that member
 * replaces its node by another. Then servers refuse the late transaction. The
 * order of members does not matter, so the member loses nothing by its new
 * node. */
#include <stdlib.h>
#include <string.h>

#include "acquire_fsm.h"
#include "queue.h"
#include "queued.h"

#define CANNOT_CREATE "cannot create " NAME_READY " in"

static op_handler on_made;

/* The creation of `ready`. */
struct ready_create {
  struct op make;  /* must be first: a queue points to it */
  bool reply_lost; /* the reply to the create of `ready` was lost */
  char *own;       /* the path of the node of the requesting member */
  char path[];
};

static struct ready_create *ready_create(const struct queue *queue) {
  return (struct ready_create *)queue->ready_create;
}

/* Returns the queue's `ready_create`, and allocates it if needed. If there is
 * no memory, schedules a retry and returns NULL. */
static struct ready_create *ready_create_of(struct queue *queue) {
  struct ready_create *o = ready_create(queue);
  const struct directory *d = &queue->directory;
  if (o) return o;
  size_t path = directory_length(d) + 1 + sizeof NAME_READY;
  o = calloc(1, sizeof *o + path + directory_length(d) + 1 + NAME_MAX_OWN);
  if (!o) {
    pipeline_retry(d->pipeline);
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
  queue->ready_create = &o->make;
  return o;
}

/* Returns the czxid of `ready`; 0 if `ready` is missing or its ACL forbids
 * reading. */
static int64_t ready_czxid(const struct contender *c) {
  return watch_seen(&c->predecessor);
}

static bool is_there(const struct contender *c) {
  return ready_czxid(c) || watch_is_hidden(&c->predecessor);
}

static bool is_complete(const struct contender *c) {
  return c->wait_ops == &barrier_enter_wait_ops &&
         c->state == CONTENDER_QUEUED && contender_sees(c) &&
         c->view.ahead == 0;
}

static struct refusals *create_pause(struct queue *queue) {
  return &queue->directory.making;
}

static void create_ready(struct contender *c) {
  struct pipeline *pipeline = contender_pipeline(c);
  struct ready_create *o = ready_create_of(c->queue);
  if (!o || o->make.in_flight ||
      pipeline_must_pause(pipeline, create_pause(c->queue)))
    return;
  o->make.replace = is_there(c);
  o->reply_lost = false;
  strcpy(o->own, c->path);
  pipeline_submit(pipeline, &o->make);
}

/* Returns whether this member's create of `ready` got no reply, so that a
 * server may still apply it. */
static bool may_be_created_late(const struct contender *c) {
  const struct ready_create *o = ready_create(c->queue);
  return o && o->reply_lost && strcmp(o->own, c->path) == 0;
}

/* Repeats the create of `ready` after a pause. Even an impatient member waits
 * for this: all members have come, so it waits for no other member. */
static void retry_later(struct queue *queue, int rc) {
  pipeline_back_off(queue->directory.pipeline, create_pause(queue), rc);
}

/* Refuses the members that still need `ready`. A member that `ready` has
 * already let in is not refused: it only waits until its own node is
 * watched. */
static void refuse(struct queue *queue, const char *what, int rc) {
  const struct directory *d = &queue->directory;
  pipeline_warn(d->pipeline, what, directory_path(d), rc);
  if (reply_is_transient(rc)) {
    retry_later(queue, rc);
    return;
  }
  for (struct contender *c = queue->first; c; c = c->next)
    if (is_complete(c) && !c->node.let_in)
      acquire_fsm_deny(c, what, directory_length(d), rc);
}

/* Takes a member's next step. Grants entry if `ready` has let the member in and
 * its own node is watched. That watch would have reported an earlier deletion
 * of the node. Otherwise watches `ready`, creates it if enough members have
 * come, or refuses an impatient member. If an earlier create of `ready` may be
 * applied late, the member first replaces its node. */
static void proceed(struct contender *c) {
  bool ours = contender_is_surely_ours(c);
  if (ours && ready_czxid(c) > c->node.czxid) c->node.let_in = true;
  if (!ours || !contender_watches_own(c)) watch_read(&c->own);
  if (ours && c->node.let_in) {
    if (contender_watches_own(c)) acquire_fsm_be_first(c);
    if (watch_is_hidden(&c->own)) acquire_fsm_deny_hidden(c);
  } else if (!watch_is_known(&c->predecessor)) {
    watch_arm(&c->predecessor);
  } else if (ours && may_be_created_late(c)) {
    ready_create(c->queue)->reply_lost = false;
    acquire_fsm_leave(c); /* then the contender begins again */
  } else if (ours && c->view.ahead == 0) {
    create_ready(c);
  } else if (ours && !c->options.patient) {
    acquire_fsm_refuse(c, REFUSED_BUSY, 0);
  }
}

/* Continues a waiting member after the reply to the create of `ready`. The
 * member's node existed before the request, so a `ready` from that request is
 * newer and lets the member in. If another client has created `ready`, the
 * watch of `ready` reports this. If the ACL of `ready` forbids reading, servers
 * may report nothing, so a read is needed. If the reply says that a node is
 * missing, a list shows which. */
static void on_ready_created(struct contender *c, const struct reply *reply) {
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
  proceed(c);
}

static void on_made(struct op *op, const struct reply *reply) {
  struct queue *queue = op->owner;
  int rc = reply->rc;
  directory_wake(&queue->directory);
  ready_create(queue)->reply_lost = reply_is_unknown(rc);
  if (reply_is_unknown(rc)) return;
  if (rc != REPLY_OK && rc != REPLY_NODE_EXISTS && rc != REPLY_NO_NODE &&
      rc != REPLY_UNDONE) {
    refuse(queue, CANNOT_CREATE, rc);
    return;
  }
  for (struct contender *c = queue->first; c; c = c->next)
    if (is_complete(c)) on_ready_created(c, reply);
}

static bool watch_ready(struct contender *c) {
  if (!watch_want(&c->predecessor, &contender_directory(c)->watches,
                  NAME_READY))
    return false;
  watch_await(&c->predecessor);
  return true;
}

static void found(struct contender *c, const struct listing *listing,
                  const struct entry *own) {
  if (!conflict_is_excluded(c, listing, own)) return;
  int missing = c->options.permits - rule_members(listing);
  c->view = (struct view){.listed_in = contender_pipeline(c)->connection,
                          .ahead = missing > 0 ? missing : 0};
  contender_enter(c, CONTENDER_QUEUED);
  if (watch_want(&c->own, &contender_directory(c)->watches, own->name) &&
      watch_ready(c)) {
    proceed(c);
    return;
  }
  c->view.listed_in = 0; /* no memory: list again later */
  pipeline_retry(contender_pipeline(c));
}

/* The functions of barrier_enter_wait_ops. */

static void on_sent(struct contender *c) {
  directory_list(contender_directory(c), c->node.serial);
  if (watch_ready(c)) watch_arm(&c->predecessor);
}

static void check(struct contender *c) {
  if (contender_sees(c))
    proceed(c);
  else
    directory_list(contender_directory(c), 0);
}

static void on_listed(struct contender *c, const struct listing *listing) {
  queue_position_find(c, listing, found);
}

/* Lets the member in: `ready` was created. A server sends the events of a
 * connection in the order of the changes. The server has confirmed the member's
 * node before this event, so that node is older than `ready`. `ready` may be
 * deleted again already: members of other libraries delete it as soon as they
 * leave. */
static void on_ready(struct contender *c) {
  if (contender_is_waiting(c) && contender_is_surely_ours(c))
    c->node.let_in = true;
}

/* Records that `ready` was missing while the member's node existed. So a
 * `ready` that appears later is newer than the node, even if its ACL hides its
 * czxid. The server handles a connection's requests in order. So a read that is
 * answered after the create has seen the directory after the create. Events
 * come in the order of the changes, too. */
static void on_absence(struct contender *c) {
  if (contender_is_surely_ours(c)) c->node.preceded_ready = true;
}

static void on_hidden(struct contender *c) {
  if (c->node.preceded_ready)
    on_ready(c);
  else if (contender_sees(c) && c->view.ahead > 0)
    contender_list_again(c); /* enough members may be here */
}

static void on_news(struct watcher *watcher, enum watch_news news,
                    const struct reply *reply) {
  struct contender *c = watcher_owner(watcher);
  bool made = news == WATCH_STALE && watch_was_of(watcher, 0);
  if (watcher == &c->own) {
    queued_on_own_news(c, news, reply);
    return;
  }
  if (made) on_ready(c);
  if (news == WATCH_GONE) on_absence(c);
  if (news == WATCH_HIDDEN) on_hidden(c);
  if (c->state == CONTENDER_QUEUED && contender_sees(c))
    proceed(c);
  else if (contender_is_waiting(c))
    watch_arm(watcher);
}

const struct wait_ops barrier_enter_wait_ops = {.enter = acquire_fsm_enter,
                                                .on_sent = on_sent,
                                                .on_created = queued_on_created,
                                                .check = check,
                                                .check_again =
                                                    queued_check_again,
                                                .on_listed = on_listed,
                                                .on_news = on_news};
