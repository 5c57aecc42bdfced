#include "directory.h"

#include <stdlib.h>
#include <string.h>

#include "hash.h"

#define CANNOT_LIST "cannot list"
#define CANNOT_CREATE "cannot create"

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
  d->bystanders.watches = &d->watches;
  d->strays.end = &d->strays.first;
}

bool directory_is_idle(const struct directory *d) {
  return !d->watches.first && !d->strays.first && !d->lists[0].in_flight &&
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

bool directory_pass_over(struct directory *d, const struct watcher *watcher) {
  return bystanders_add(&d->bystanders, watcher);
}

void directory_leave(struct directory *d) { bystanders_forget(&d->bystanders); }

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
    wire_trouble(d->wire, CANNOT_LIST, d->path, rc);
  if (reply->listing) bystanders_mark(&d->bystanders, reply->listing);
  if (reply_is_denied(rc))
    d->owner->refused(d, CANNOT_LIST, rc);
  else
    answer_list(d, op, reply);
}

/* Strays.  Anybody can read our mark and make nodes that bear it, by the
 * thousand: so few of them are deleted at a time that whatever else the session
 * has to ask gets through between, and no more are known at a time than costs
 * little to remember.  Another list shows the rest.  Those that are not to be
 * deleted (others have children, or an ACL) are left alone for a while. */

enum { STRAYS_KNOWN = 1000, STRAYS_FLYING = 100 };

struct stray {
  struct stray *next;
  struct directory *directory;
  struct op op;
  struct chore end;
  uint64_t hash;
  char path[];
};

static void send_strays(struct directory *d) {
  struct strays *s = &d->strays;
  while (s->waiting && s->flying < STRAYS_FLYING &&
         wire_submit(d->wire, &s->waiting->op)) {
    s->waiting = s->waiting->next;
    s->flying++;
    counter_add(&d->wire->counters.strays, 1);
  }
}

/* All are gone that were known. */
static void strays_done(struct directory *d) {
  struct strays *s = &d->strays;
  bool more = s->more;
  s->more = false;
  if (s->refused)
    s->not_before = d->wire->now + d->wire->timeout;
  else if (more)
    directory_list(d, 0);
  s->refused = false;
}

static void destroy(struct chore *chore) {
  struct stray *stray = chore->owner;
  struct directory *d = stray->directory;
  struct stray **link = &d->strays.first;
  while (*link != stray) link = &(*link)->next;
  *link = stray->next;
  if (d->strays.end == &stray->next) d->strays.end = link;
  free(stray);
  d->strays.known--;
  if (d->strays.known == 0) strays_done(d);
  directory_wake(d);
}

static void on_stray_removed(struct op *op, const struct reply *reply) {
  struct stray *stray = op->owner;
  struct directory *d = stray->directory;
  d->strays.flying--;
  /* If it is still there a later list shows it again. */
  if (reply->rc != REPLY_OK && reply->rc != REPLY_NO_NODE &&
      !reply_is_unknown(reply->rc))
    d->strays.refused = true;
  chore_add(&d->wire->step, &stray->end);
}

static uint64_t hash_of(const char *name) {
  return hash_text(HASH_BEGIN, name, strlen(name));
}

static struct stray *stray_new(struct directory *d, const char *name) {
  size_t size = strlen(name) + 1;
  struct stray *stray = calloc(1, sizeof *stray + d->length + 1 + size);
  if (!stray) return NULL;
  stray->directory = d;
  stray->hash = hash_of(name);
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

static bool is_known_stray(const struct directory *d, const char *name) {
  uint64_t hash = hash_of(name);
  for (const struct stray *stray = d->strays.first; stray; stray = stray->next)
    if (stray->hash == hash && strcmp(stray->path + d->length + 1, name) == 0)
      return true;
  return false;
}

bool directory_takes_strays(struct directory *d) {
  if (d->wire->now < d->strays.not_before) return false;
  if (d->strays.known < STRAYS_KNOWN) return true;
  d->strays.more = true;
  return false;
}

void directory_remove_stray(struct directory *d, const char *name) {
  struct strays *s = &d->strays;
  if (!directory_takes_strays(d) || is_known_stray(d, name)) return;
  struct stray *stray = stray_new(d, name);
  if (!stray) return;
  *s->end = stray;
  s->end = &stray->next;
  s->known++;
  if (!s->waiting) s->waiting = stray;
  send_strays(d);
}

/* Nothing is sent any more. */
static void forget_strays(struct directory *d) {
  struct strays *s = &d->strays;
  for (; s->waiting; s->waiting = s->waiting->next)
    chore_add(&d->wire->step, &s->waiting->end);
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

/* Who we are, a server knows: by its address, by which of our users.  What it
 * says is true of this connection.  A directory that shuts out its maker could
 * be used by nobody, and be deleted by nobody who wants to use it. */
static bool must_rehearse(const struct wire *wire) {
  return wire->doubts_acl && wire->rehearsed_in != wire->connection;
}

static void send_mkdir(struct directory *d) {
  if (d->mkdir.in_flight) return;
  d->mkdir.kind = must_rehearse(d->wire) ? OP_REHEARSE : OP_MKDIR;
  memcpy(d->mkdir_path, d->path, d->mkdir_length);
  d->mkdir_path[d->mkdir_length] = '\0';
  /* The chroot is the application's own: it stays. */
  d->mkdir.persistent =
      d->wire->no_containers || d->mkdir_length <= d->wire->chroot_length;
  d->mkdir.above = d->mkdir_length < d->wire->chroot_length;
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
  if (rc == REPLY_OK && op->kind == OP_REHEARSE) {
    d->wire->rehearsed_in = d->wire->connection;
  } else if (rc == REPLY_OK || rc == REPLY_NODE_EXISTS) {
    part_is_there(d);
  } else if (!try_otherwise(d, op, rc)) {
    wire_trouble(d->wire, CANNOT_CREATE, d->mkdir_path, rc);
    d->missing = false;
    d->owner->not_made(d, CANNOT_CREATE, rc);
  }
}

/* The counter's end. */

void directory_renew(struct directory *d) {
  if (d->renewal == RENEWAL_NONE) {
    d->renewal = RENEWAL_LOOK;
    d->renewal_begun = d->wire->now;
  }
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
  d->owner->refused(d, message, rc);
}

/* Somebody is there.  After a while we look again whether the counter is at its
 * end at all: what has said so was perhaps a number that somebody had made up. */
static void is_occupied(struct directory *d) {
  bool long_ago = d->wire->now >= d->renewal_begun + d->wire->timeout;
  d->renewal = long_ago ? RENEWAL_NONE : RENEWAL_OCCUPIED;
  d->owner->occupied(d);
  if (!long_ago) wire_retry(d->wire);
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
    is_occupied(d);
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
  send_strays(d);
  if (directory_is_renewing(d) && vacant) send_renewal(d);
  if (d->missing) send_mkdir(d);
  if (d->list_wanted) send_list(d);
}

void directory_closed(struct directory *d) {
  forget_strays(d);
  watches_sweep(&d->watches);
}

void directory_connected(struct directory *d) {
  watches_sweep(&d->watches);
  bystanders_watch(&d->bystanders);
  d->list_wanted = false;
}
