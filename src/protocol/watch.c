#include "watch.h"

#include <stdlib.h>
#include <string.h>

#include "hash.h"

/* Finding. */

static uint64_t hash_of(const char *name) {
  return hash_text(HASH_BEGIN, name, strlen(name));
}

static const char *name_of(const struct watch *w) {
  return w->path + w->of->length + 1;
}

static struct watch *find(const struct watches *watches, const char *name) {
  uint64_t hash = hash_of(name);
  for (struct watch *w = watches->first; w; w = w->next)
    if (w->hash == hash && strcmp(name_of(w), name) == 0) return w;
  return NULL;
}

const char *watch_name(const struct watcher *watcher) {
  return watcher->watch ? name_of(watcher->watch) : NULL;
}

int watch_data(const struct watches *watches, const char *name,
               const void **data) {
  const struct watch *w = find(watches, name);
  if (!w) return 0;
  *data = w->data;
  return w->size;
}

/* Its end. */

static bool is_armed(const struct watch *w) {
  const struct wire *wire = w->of->wire;
  return wire->connected && w->armed_in == wire->connection;
}

static void destroy(struct chore *chore) {
  struct watch *w = chore->owner;
  struct watches *of = w->of;
  if (w->wanted > 0 || w->op.in_flight) return; /* somebody came back */
  struct watch **link = &of->first;
  while (*link != w) link = &(*link)->next;
  *link = w->next;
  counter_add(&of->wire->counters.watches, -1);
  quota_give(of->quota, w->quota);
  chore_add(&of->wire->batch, of->wake);
  free(w);
}

/* Nobody wants it?  Takes it from the server if it is armed there. */
static void dispose(struct watch *w) {
  struct wire *wire = w->of->wire;
  if (w->wanted > 0 || w->op.in_flight) return;
  if (is_armed(w)) {
    w->armed_in = 0;
    w->op.kind = OP_UNWATCH;
    if (wire_submit(wire, &w->op)) return;
  }
  chore_add(&wire->step, &w->end);
}

/* Arming. */

bool watch_is_armed(const struct watcher *watcher) {
  return watcher->watch && is_armed(watcher->watch);
}

bool watches_know(const struct watches *watches, const char *name) {
  const struct watch *w = find(watches, name);
  return w && is_armed(w);
}

bool watch_is_of_nobody(const struct watcher *watcher) {
  return watch_is_armed(watcher) && watcher->watch->unowned;
}

static void read(struct watch *w) {
  if (w->op.in_flight) return;
  w->op.kind = w->unreadable ? OP_EXISTS : OP_GET;
  wire_submit(w->of->wire, &w->op);
}

void watch_read(const struct watcher *watcher) {
  if (watcher->watch) read(watcher->watch);
}

void watch_arm(const struct watcher *watcher) {
  if (watcher->watch && !is_armed(watcher->watch)) read(watcher->watch);
}

/* Watchers. */

void watcher_init(struct watcher *watcher, watch_handler *hear, void *owner,
                  bool first) {
  *watcher = (struct watcher){.hear = hear, .owner = owner, .first = first};
}

static void put_at(struct watcher **link, struct watcher *watcher) {
  watcher->next = *link;
  watcher->link = link;
  if (watcher->next) watcher->next->link = &watcher->next;
  *link = watcher;
}

static void join(struct watch *w, struct watcher *watcher) {
  watcher->watch = w;
  put_at(watcher->first ? &w->watchers : w->watchers_end, watcher);
  if (!watcher->next) w->watchers_end = &watcher->next;
}

static void leave(struct watcher *watcher) {
  struct watch *w = watcher->watch;
  *watcher->link = watcher->next;
  if (watcher->next) watcher->next->link = watcher->link;
  if (w->watchers_end == &watcher->next) w->watchers_end = watcher->link;
  watcher->watch = NULL;
}

void watch_drop(struct watcher *watcher) {
  struct watch *w = watcher->watch;
  if (!w) return;
  leave(watcher);
  w->wanted--;
  dispose(w);
}

void watch_hand_over(struct watcher *from, struct watcher *to) {
  struct watch *w = from->watch;
  if (!w) return;
  leave(from);
  join(w, to);
}

/* Tells all who watch it.  What they do may make any of them leave, or others
 * come, who need not hear this: so each goes to the end of a list of those who
 * have heard, where the others stand, too, before it hears.  One more is wanted
 * meanwhile, so that nothing is disposed of. */
static void tell(struct watch *w, enum watch_news news,
                 const struct reply *reply) {
  struct watcher *left = w->watchers;
  if (left) left->link = &left;
  w->watchers = NULL;
  w->watchers_end = &w->watchers;
  w->wanted++;
  while (left) {
    struct watcher *watcher = left;
    left = watcher->next;
    if (left) left->link = &left;
    put_at(w->watchers_end, watcher);
    w->watchers_end = &watcher->next;
    watcher->hear(watcher, news, reply);
  }
  w->wanted--;
  dispose(w);
}

/* Answers and events. */

static void note_data(struct watch *w, const struct reply *reply) {
  w->size = reply->size > 0 && reply->data ? reply->size : 0;
  if (w->size > 0)
    memcpy(w->data, reply->data,
           (size_t)(w->size < OP_SHOWN ? w->size : OP_SHOWN));
}

static void refused(struct watch *w, int rc) {
  wire_trouble(w->of->wire, "cannot watch", w->path, rc);
  wire_retry(w->of->wire);
  dispose(w);
}

/* `exists` is for what may not be read. */
static void forbidden(struct watch *w) {
  bool next = w->op.kind == OP_GET && w->wanted > 0;
  w->unreadable = true;
  if (next)
    read(w);
  else
    dispose(w);
}

static void was_read(struct watch *w, const struct reply *reply) {
  unsigned connection = w->of->wire->connection;
  if (reply->rc == REPLY_OK) {
    w->armed_in = connection;
    w->unowned = reply->owner == 0;
    note_data(w, reply);
    tell(w, WATCH_ARMED, reply);
  } else if (reply->rc == REPLY_NO_NODE) {
    /* `exists` leaves a watch on what does not exist: take it away. */
    if (w->op.kind == OP_EXISTS) w->armed_in = connection;
    w->unowned = false;
    tell(w, WATCH_GONE, reply);
  } else if (reply->rc == REPLY_NO_AUTH) {
    forbidden(w);
  } else if (reply_is_unknown(reply->rc)) {
    dispose(w);
  } else {
    refused(w, reply->rc);
  }
}

static void on_reply(struct op *op, const struct reply *reply) {
  struct watch *w = op->owner;
  if (op->kind != OP_UNWATCH)
    was_read(w, reply);
  else if (w->wanted > 0)
    read(w); /* somebody came back meanwhile */
  else
    dispose(w);
}

/* A watch of our own node has its quota with the node. */
static size_t quota_of(const struct watch *w) {
  uint64_t id;
  bool ours = name_id(name_of(w), &w->of->wire->base, &id);
  return ours ? 0 : quota_of_path(strlen(w->path));
}

static struct watch *make(struct watches *watches, const char *name) {
  size_t size = strlen(name) + 1;
  struct watch *w = calloc(1, sizeof *w + watches->length + 1 + size);
  if (!w) return NULL;
  memcpy(w->path, watches->path, watches->length);
  w->path[watches->length] = '/';
  memcpy(w->path + watches->length + 1, name, size);
  w->of = watches;
  w->watchers_end = &w->watchers;
  w->hash = hash_of(name);
  w->op = (struct op){.handler = on_reply, .owner = w, .path = w->path};
  w->end = (struct chore){.run = destroy, .owner = w};
  w->next = watches->first;
  watches->first = w;
  counter_add(&watches->wire->counters.watches, 1);
  quota_take(watches->quota, w->quota = quota_of(w));
  return w;
}

bool watch_want(struct watcher *watcher, struct watches *watches,
                const char *name) {
  if (watcher->watch && name && strcmp(name_of(watcher->watch), name) == 0)
    return true;
  struct watch *w = name ? find(watches, name) : NULL;
  if (name && !w) w = make(watches, name);
  watch_drop(watcher);
  if (!w) return !name;
  w->wanted++;
  join(w, watcher);
  return true;
}

void watches_fired(struct watches *watches, const char *name,
                   enum watch_event event) {
  struct watch *w = find(watches, name);
  if (!w) return;
  w->armed_in = 0;
  tell(w, event == WATCH_DELETED ? WATCH_GONE : WATCH_STALE, NULL);
}

void watches_sweep(struct watches *watches) {
  for (struct watch *w = watches->first; w; w = w->next) dispose(w);
}
