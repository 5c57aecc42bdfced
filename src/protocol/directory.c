#include "directory.h"

#include <stdlib.h>
#include <string.h>

#include "mkdir.h"

#define CANNOT_LIST "cannot list"
#define CANNOT_CREATE "cannot create"

static op_handler on_list, on_mkdir, on_replace, on_unwatch;

static void op_init(struct op *op, struct directory *d, enum op_kind kind,
                    op_handler *handler, const char *path) {
  op->owner = d;
  op->kind = kind;
  op->handler = handler;
  op->path = path;
}

void directory_init(struct directory *d, const struct directory_owner *owner,
                    struct pipeline *pipeline, struct deferred_call *flush,
                    const char *path) {
  d->owner = owner;
  d->pipeline = pipeline;
  d->watches = (struct watches){.pipeline = pipeline,
                                .wake = flush,
                                .path = path,
                                .length = strlen(path)};
}

/* The directory's own requests. */

/* Returns the directory's requests, and allocates them if needed. If there is
 * no memory, schedules a retry and returns NULL. */
static struct directory_requests *requests_of(struct directory *d) {
  if (d->requests) return d->requests;
  struct directory_requests *e = calloc(1, sizeof *e + directory_length(d) + 1);
  if (!e) {
    pipeline_retry(d->pipeline);
    return NULL;
  }
  op_init(&e->lists[0], d, OP_LIST, on_list, directory_path(d));
  op_init(&e->lists[1], d, OP_LIST, on_list, directory_path(d));
  op_init(&e->unwatch, d, OP_UNWATCH, on_unwatch, directory_path(d));
  op_init(&e->mkdir, d, OP_MKDIR, on_mkdir, e->mkdir_path);
  op_init(&e->replace, d, OP_READ, on_replace, directory_path(d));
  e->unwatch.watch = true;
  return d->requests = e;
}

static bool has_requests(const struct directory *d) {
  const struct directory_requests *e = d->requests;
  return e &&
         (e->lists[0].in_flight || e->lists[1].in_flight ||
          e->unwatch.in_flight || e->mkdir.in_flight || e->replace.in_flight);
}

/* Frees the requests if none is in flight. While a reply handler runs, its op
 * is not in flight, but is still in use. So this function is called only at the
 * end of a batch. */
static void end_requests(struct directory *d) {
  if (has_requests(d)) return;
  free(d->requests);
  d->requests = NULL;
}

bool directory_is_idle(const struct directory *d) {
  return !d->watches.first && !orphans_are_known(d) && !has_requests(d) &&
         !deferred_call_waits(d->watches.wake);
}

void directory_free(struct directory *d) {
  end_requests(d);
  free(d->orphans);
}

void directory_wake(struct directory *d) {
  deferred_call_add(&d->pipeline->batch, d->watches.wake);
}

/* Lists. */

static const struct op *newest_list(const struct directory *d) {
  const struct op *newest = NULL;
  for (int i = 0; d->requests && i < 2; i++) {
    const struct op *list = &d->requests->lists[i];
    if (list->in_flight && (!newest || list->serial > newest->serial))
      newest = list;
  }
  return newest;
}

void directory_list(struct directory *d, uint64_t after) {
  const struct op *newest = newest_list(d);
  if (newest && newest->serial > after) return;
  d->list_wanted = true;
  directory_wake(d);
}

void directory_list_again(struct directory *d) {
  directory_list(d, d->pipeline->serial);
}

void directory_doubt(struct directory *d) {
  if (!pipeline_must_pause(d->pipeline, &d->doubts))
    pipeline_repeat(d->pipeline, &d->doubts);
}

bool directory_sees_children(const struct directory *d) {
  return d->pipeline->connected &&
         d->children_armed_in == d->pipeline->connection;
}

/* Returns whether the reply to this list arms the watch of the children. It
 * does not if a request to remove the watch was sent after the list. */
static bool arms(const struct directory_requests *e, const struct op *list) {
  return list->watch && list->serial > e->unwatch.serial;
}

static bool will_arm(const struct directory_requests *e) {
  for (int i = 0; e && i < 2; i++)
    if (e->lists[i].in_flight && arms(e, &e->lists[i])) return true;
  return false;
}

void directory_watch_children(struct directory *d, bool more) {
  d->children_wanted += more;
  if (directory_sees_children(d)) return;
  /* Without a watch, the children may have changed since the last list. Another
   * list shows them, and arms the watch. */
  if (!will_arm(d->requests)) directory_list_again(d);
}

static void unwatch(struct directory *d) {
  if (d->children_wanted > 0 || !directory_sees_children(d)) return;
  struct directory_requests *e = requests_of(d);
  if (e && e->unwatch.in_flight) return;
  d->children_armed_in = 0;
  if (e) pipeline_submit(d->pipeline, &e->unwatch);
}

void directory_unwatch_children(struct directory *d) {
  d->children_wanted--;
  unwatch(d);
}

void directory_children_changed(struct directory *d) {
  d->children_armed_in = 0;
  if (d->children_wanted > 0) directory_list(d, 0);
}

/* If a server has refused to remove the watch, its event changes nothing. */
static void on_unwatch(struct op *op, const struct reply *reply) {
  (void)reply;
  directory_wake(op->owner);
}

static void send_list(struct directory *d, struct directory_requests *e) {
  struct op *slot = &e->lists[e->lists[0].in_flight];
  if (slot->in_flight) return; /* the reply flushes the directory again */
  if (pipeline_must_pause(d->pipeline, &d->listing) ||
      pipeline_must_pause(d->pipeline, &d->doubts))
    return;
  slot->watch = d->children_wanted > 0 && !directory_sees_children(d);
  if (!pipeline_submit(d->pipeline, slot)) return;
  d->list_wanted = false;
  counter_add(&d->pipeline->counters.lists, 1);
}

/* Reports the list. If there was no memory for it, or a server has refused it
 * for now, schedules another after a pause. */
static void on_list(struct op *op, const struct reply *reply) {
  static const struct listing empty;
  struct directory *d = op->owner;
  const struct listing *listing = reply->listing;
  int rc = reply->rc;
  directory_wake(d);
  if (arms(d->requests, op) && rc == REPLY_OK) {
    d->children_armed_in = d->pipeline->connection;
    unwatch(d); /* the last watcher may have left */
  }
  if (reply_is_unknown(rc)) return;
  if (rc == REPLY_NO_NODE) listing = &empty;
  if (rc != REPLY_OK && rc != REPLY_NO_NODE) {
    pipeline_warn(d->pipeline, CANNOT_LIST, directory_path(d), rc);
    listing = NULL;
  }
  if (listing) {
    refusals_end(&d->listing);
    d->owner->on_listed(d, listing, op->serial);
    return;
  }
  if (rc == REPLY_OK || reply_is_transient(rc)) {
    pipeline_back_off(d->pipeline, &d->listing, rc);
    d->list_wanted = true;
  }
  if (rc != REPLY_OK) d->owner->on_unlisted(d, CANNOT_LIST, rc);
}

/* Creating the directory. */

void directory_make(struct directory *d) {
  if (d->missing) return;
  d->missing = true;
  d->mkdir_length = directory_length(d);
  directory_wake(d);
}

static void send_mkdir(struct directory *d, struct directory_requests *e) {
  if (e->mkdir.in_flight || pipeline_must_pause(d->pipeline, &d->making) ||
      pipeline_must_pause(d->pipeline, &d->doubts))
    return;
  mkdir_prepare(&e->mkdir, d->pipeline, e->mkdir_path, directory_path(d),
                d->mkdir_length);
  pipeline_submit(d->pipeline, &e->mkdir);
}

/* Gives up creating the directory, because the failure is permanent. */
static void refuse_mkdir(struct directory *d, const char *path, int rc) {
  pipeline_warn(d->pipeline, CANNOT_CREATE, path, rc);
  d->missing = false;
  d->owner->on_not_made(d, CANNOT_CREATE, rc);
}

/* Schedules another create after a pause, because the failure is transient. So
 * `missing` stays true. */
static void put_off_mkdir(struct directory *d, int rc) {
  pipeline_warn(d->pipeline, CANNOT_CREATE, d->requests->mkdir_path, rc);
  pipeline_back_off(d->pipeline, &d->making, rc);
  d->owner->on_not_made(d, CANNOT_CREATE, rc);
}

static void on_mkdir(struct op *op, const struct reply *reply) {
  struct directory *d = op->owner;
  int rc = reply->rc;
  directory_wake(d);
  if (reply_is_unknown(rc)) return;
  if (reply_is_transient(rc)) {
    put_off_mkdir(d, rc);
    return;
  }
  refusals_end(&d->making);
  switch (mkdir_on_reply(op, d->pipeline, rc, directory_path(d),
                         &d->mkdir_length)) {
    case MKDIR_DONE:
      d->missing = false;
      d->owner->on_made(d);
      break;
    case MKDIR_CONTINUES:
      /* With NODE_EXISTS, the parent exists. But a server has just refused a
       * create in the parent, because it was missing: this may be a
       * contradiction. */
      if (rc == REPLY_NODE_EXISTS) directory_doubt(d);
      break;
    case MKDIR_REFUSED:
      refuse_mkdir(d, op->path, rc);
      break;
  }
}

/* An exhausted sequence counter. */

void directory_replace(struct directory *d) {
  if (d->replacement == REPLACE_NONE) {
    d->replacement = REPLACE_READ;
    d->replacement_begun = d->pipeline->now;
  }
  directory_wake(d);
}

static void send_replacement(struct directory *d,
                             struct directory_requests *e) {
  if (e->replace.in_flight || pipeline_must_pause(d->pipeline, &d->making))
    return;
  e->replace.kind = d->replacement == REPLACE_READ ? OP_READ : OP_REMOVE;
  pipeline_submit(d->pipeline, &e->replace);
}

static void refuse_replacement(struct directory *d, const char *message,
                               int rc) {
  pipeline_warn(d->pipeline, message, directory_path(d), rc);
  d->replacement = REPLACE_NONE;
  d->owner->on_refused(d, message, rc);
}

/* Schedules another delete, because the directory is not empty. But gives up
 * the replacement one session timeout after it began. Then the contenders
 * create their nodes again, which shows whether the counter is really
 * exhausted: the high number may have come from a forged name. */
static void is_occupied(struct directory *d) {
  bool long_ago =
      d->pipeline->now >= d->replacement_begun + d->pipeline->timeout;
  d->replacement = long_ago ? REPLACE_NONE : REPLACE_OCCUPIED;
  d->owner->on_occupied(d);
  if (!long_ago) pipeline_retry(d->pipeline);
}

/* Continues the replacement after a reply: deletes a directory that has no
 * data, or ends the replacement. Only a server can check that a directory is
 * empty and delete it in one step. So no node is in it when the numbers begin
 * again. A directory with data belongs to the application and stays. zklock
 * cannot check the directory's type instead, because servers do not report
 * which nodes are containers. */
static void on_replace(struct op *op, const struct reply *reply) {
  struct directory *d = op->owner;
  int rc = reply->rc;
  bool looked = op->kind == OP_READ;
  if (reply_is_unknown(rc)) return;
  if (rc == REPLY_NOT_EMPTY) {
    is_occupied(d);
    return;
  }
  directory_wake(d);
  if (reply_is_transient(rc))
    pipeline_back_off(d->pipeline, &d->making, rc);
  else if (rc == REPLY_OK && looked && reply->size > 0)
    refuse_replacement(d, "cannot create a sequential node",
                       REASON_COUNTER_AT_END);
  else if (rc == REPLY_OK)
    d->replacement = looked ? REPLACE_DELETE : REPLACE_NONE;
  else if (rc == REPLY_NO_NODE)
    d->replacement = REPLACE_NONE;
  else
    refuse_replacement(d, "cannot delete", rc);
}

/* Batches and connections. */

void directory_flush(struct directory *d, bool vacant) {
  bool replaces = directory_is_being_replaced(d) && vacant;
  struct directory_requests *e = d->requests;
  orphans_flush(d);
  unwatch(d);
  if (replaces || d->missing || d->list_wanted) e = requests_of(d);
  if (e && replaces) send_replacement(d, e);
  if (e && d->missing) send_mkdir(d, e);
  if (e && d->list_wanted) send_list(d, e);
  end_requests(d);
}

void directory_closed(struct directory *d) {
  orphans_closed(d);
  watches_sweep(&d->watches);
}

void directory_connected(struct directory *d) {
  watches_sweep(&d->watches);
  d->list_wanted = false;
}
