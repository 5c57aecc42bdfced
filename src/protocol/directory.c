#include "directory.h"

#include <stdlib.h>
#include <string.h>

static op_handler on_list, on_mkdir, on_renew, on_unwatch;

size_t directory_size(size_t length) { return 2 * (length + 1); }

static void op_init(struct op *op, struct directory *d, enum op_kind kind,
                    op_handler *handler, const char *path) {
  op->owner = d;
  op->kind = kind;
  op->handler = handler;
  op->path = path;
}

void directory_init(struct directory *d, const struct directory_owner *owner,
                    struct wire *wire, struct quota *quota, struct chore *flush,
                    char *memory, const char *path) {
  d->owner = owner;
  d->wire = wire;
  d->flush = flush;
  d->length = strlen(path);
  d->path = memcpy(memory, path, d->length);
  d->mkdir_path = memory + d->length + 1;
  d->watches = (struct watches){.wire = wire,
                                .quota = quota,
                                .wake = flush,
                                .path = d->path,
                                .length = d->length};
  op_init(&d->lists[0], d, OP_LIST, on_list, d->path);
  op_init(&d->lists[1], d, OP_LIST, on_list, d->path);
  op_init(&d->mkdir, d, OP_MKDIR, on_mkdir, d->mkdir_path);
  op_init(&d->renew, d, OP_READ, on_renew, d->path);
  op_init(&d->unwatch, d, OP_UNWATCH, on_unwatch, d->path);
  d->unwatch.watch = true;
}

bool directory_is_idle(const struct directory *d) {
  return !d->watches.first && !d->strays && !d->lists[0].in_flight &&
         !d->lists[1].in_flight && !d->mkdir.in_flight && !d->renew.in_flight &&
         !d->unwatch.in_flight && !d->flush->waits;
}

void directory_wake(struct directory *d) {
  chore_add(&d->wire->batch, d->flush);
}

/* Lists. */

static const struct op *newest_list(const struct directory *d) {
  const struct op *newest = NULL;
  for (int i = 0; i < 2; i++) {
    const struct op *list = &d->lists[i];
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

void directory_list_anew(struct directory *d) {
  directory_list(d, d->wire->serial);
}

static bool children_armed(const struct directory *d) {
  return d->wire->connected && d->children_armed_in == d->wire->connection;
}

/* Will this list's reply arm a watch?  Not if the watch is being taken away
 * behind it. */
static bool arms(const struct directory *d, const struct op *list) {
  return list->watch && list->serial > d->unwatch.serial;
}

void directory_watch_children(struct directory *d, bool more) {
  if (more && d->children_wanted++ == 0)
    quota_take(d->watches.quota, quota_of_node(d->length));
  if (children_armed(d)) return;
  /* The list that we know was not watched: what has changed since? */
  for (int i = 0; i < 2; i++)
    if (d->lists[i].in_flight && arms(d, &d->lists[i])) return;
  directory_list_anew(d);
}

static void unwatch(struct directory *d) {
  if (d->children_wanted > 0 || d->unwatch.in_flight) return;
  if (!children_armed(d)) return;
  d->children_armed_in = 0;
  wire_submit(d->wire, &d->unwatch);
}

void directory_unwatch_children(struct directory *d) {
  if (--d->children_wanted == 0)
    quota_give(d->watches.quota, quota_of_node(d->length));
  unwatch(d);
}

void directory_children_changed(struct directory *d) {
  d->children_armed_in = 0;
  if (d->children_wanted > 0) directory_list(d, 0);
}

static void on_unwatch(struct op *op, const struct reply *reply) {
  (void)reply;
  directory_wake(op->owner);
}

static void send_list(struct directory *d) {
  struct op *slot = &d->lists[d->lists[0].in_flight];
  if (slot->in_flight) return; /* its reply comes back to us */
  slot->watch = d->children_wanted > 0 && !children_armed(d);
  if (!wire_submit(d->wire, slot)) return;
  d->list_wanted = false;
  counter_add(&d->wire->counters.lists, 1);
}

static void answer_list(struct directory *d, const struct op *op,
                        const struct reply *reply) {
  static const struct listing empty;
  if (reply->rc == REPLY_NO_NODE)
    d->owner->listed(d, &empty, op->serial);
  else if (reply->rc == REPLY_OK && reply->listing)
    d->owner->listed(d, reply->listing, op->serial);
  else
    d->owner->unlisted(d); /* no memory for it, or who knows what */
}

static void on_list(struct op *op, const struct reply *reply) {
  struct directory *d = op->owner;
  int rc = reply->rc;
  directory_wake(d);
  if (arms(d, op) && rc == REPLY_OK) {
    d->children_armed_in = d->wire->connection;
    unwatch(d); /* nobody waits any more? */
  }
  if (reply_is_unknown(rc)) return;
  if (rc != REPLY_OK && rc != REPLY_NO_NODE)
    wire_trouble(d->wire, "cannot list", d->path, rc);
  if (reply_is_denied(rc))
    d->owner->refused(d, rc);
  else
    answer_list(d, op, reply);
}

/* Strays. */

struct stray {
  struct stray *next;
  struct directory *directory;
  struct op op;
  struct chore end;
  char path[];
};

static void destroy(struct chore *chore) {
  struct stray *stray = chore->owner;
  struct directory *d = stray->directory;
  struct stray **link = &d->strays;
  while (*link != stray) link = &(*link)->next;
  *link = stray->next;
  free(stray);
  directory_wake(d);
}

static void on_stray_removed(struct op *op, const struct reply *reply) {
  struct stray *stray = op->owner;
  (void)reply; /* if it is still there the next list shows it again */
  chore_add(&stray->directory->wire->step, &stray->end);
}

static struct stray *stray_new(struct directory *d, const char *name) {
  size_t size = strlen(name) + 1;
  struct stray *stray = calloc(1, sizeof *stray + d->length + 1 + size);
  if (!stray) return NULL;
  stray->directory = d;
  memcpy(stray->path, d->path, d->length);
  stray->path[d->length] = '/';
  memcpy(stray->path + d->length + 1, name, size);
  stray->op = (struct op){.kind = OP_REMOVE,
                          .handler = on_stray_removed,
                          .owner = stray,
                          .path = stray->path};
  stray->end = (struct chore){.run = destroy, .owner = stray};
  return stray;
}

void directory_remove_stray(struct directory *d, const char *name) {
  for (struct stray *stray = d->strays; stray; stray = stray->next)
    if (strcmp(stray->path + d->length + 1, name) == 0) return;
  struct stray *stray = stray_new(d, name);
  if (!stray) return;
  if (!wire_submit(d->wire, &stray->op)) {
    free(stray);
    return;
  }
  stray->next = d->strays;
  d->strays = stray;
  counter_add(&d->wire->counters.strays, 1);
}

/* Making it. */

/* The length of `path`'s parent; 0: the root. */
static size_t parent_length(const char *path, size_t length) {
  while (length > 0 && path[--length] != '/') continue;
  return length;
}

static size_t child_length(const struct directory *d, size_t length) {
  do length++;
  while (length < d->length && d->path[length] != '/');
  return length;
}

void directory_make(struct directory *d) {
  if (d->missing) return;
  d->missing = true;
  d->mkdir_length = d->length;
  directory_wake(d);
}

static void send_mkdir(struct directory *d) {
  if (d->mkdir.in_flight) return;
  memcpy(d->mkdir_path, d->path, d->mkdir_length);
  d->mkdir_path[d->mkdir_length] = '\0';
  /* The chroot is the application's own: it stays. */
  d->mkdir.persistent =
      d->wire->no_containers || d->mkdir_length <= d->wire->chroot_length;
  wire_submit(d->wire, &d->mkdir);
}

static void part_is_there(struct directory *d) {
  if (d->mkdir_length < d->length) {
    d->mkdir_length = child_length(d, d->mkdir_length);
    return;
  }
  d->missing = false;
  d->owner->made(d);
}

/* Can it be made, after all, in another way? */
static bool try_otherwise(struct directory *d, const struct op *op, int rc) {
  if (rc == REPLY_NO_NODE) {
    d->mkdir_length = parent_length(d->path, d->mkdir_length);
    return d->mkdir_length > 0;
  }
  if (rc != REPLY_UNIMPLEMENTED || op->persistent) return false;
  d->wire->no_containers = true;
  return true;
}

static void on_mkdir(struct op *op, const struct reply *reply) {
  struct directory *d = op->owner;
  int rc = reply->rc;
  directory_wake(d);
  if (reply_is_unknown(rc)) return;
  if (rc == REPLY_OK || rc == REPLY_NODE_EXISTS) {
    part_is_there(d);
  } else if (!try_otherwise(d, op, rc)) {
    wire_trouble(d->wire, "cannot create", d->mkdir_path, rc);
    d->missing = false;
    d->owner->not_made(d, rc);
  }
}

/* The counter's end. */

void directory_renew(struct directory *d) {
  if (d->renewal == RENEWAL_NONE) d->renewal = RENEWAL_LOOK;
  directory_wake(d);
}

static void send_renewal(struct directory *d) {
  if (d->renew.in_flight) return;
  d->renew.kind = d->renewal == RENEWAL_LOOK ? OP_READ : OP_REMOVE;
  wire_submit(d->wire, &d->renew);
}

static void refuse_renewal(struct directory *d, const char *message, int rc) {
  wire_trouble(d->wire, message, d->path, rc);
  d->renewal = RENEWAL_NONE;
  d->owner->refused(d, rc);
}

/* Only the server can tell that a directory is empty and delete it in one
 * step: nobody is in it when the numbers begin again.  What carries data is
 * somebody's own, and stays.  (Servers do not tell what is a container.) */
static void on_renew(struct op *op, const struct reply *reply) {
  struct directory *d = op->owner;
  int rc = reply->rc;
  bool looked = op->kind == OP_READ;
  if (reply_is_unknown(rc)) return;
  if (rc == REPLY_NOT_EMPTY) {
    d->renewal = RENEWAL_OCCUPIED;
    d->owner->occupied(d);
    wire_retry(d->wire);
    return;
  }
  directory_wake(d);
  if (rc == REPLY_OK && looked && reply->size > 0)
    refuse_renewal(d, "cannot order", REASON_COUNTER_AT_END);
  else if (rc == REPLY_OK)
    d->renewal = looked ? RENEWAL_DELETE : RENEWAL_NONE;
  else if (rc == REPLY_NO_NODE)
    d->renewal = RENEWAL_NONE;
  else
    refuse_renewal(d, "cannot delete", rc);
}

/* Batches and connections. */

void directory_flush(struct directory *d, bool vacant) {
  if (directory_is_renewing(d) && vacant) send_renewal(d);
  if (d->missing) send_mkdir(d);
  if (d->list_wanted) send_list(d);
}

void directory_connected(struct directory *d) {
  watches_sweep(&d->watches);
  d->list_wanted = false;
}
