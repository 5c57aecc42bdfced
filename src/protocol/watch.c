#include "watch.h"

#include <stdlib.h>
#include <string.h>

#include "session.h"

static uint32_t hash_of(const char *text) {
  uint32_t hash = 2166136261u; /* FNV-1a */
  for (; *text; text++) hash = (hash ^ (unsigned char)*text) * 16777619u;
  return hash;
}

const char *watch_name(const struct watch *w) {
  return w->path + w->lane->length + 1;
}

/* A watch of our own node has its room with the node. */
static size_t room_of_watch(const struct watch *w) {
  uint64_t id;
  bool ours = name_id(watch_name(w), &w->lane->session->base, &id);
  return ours ? 0 : room_of_path(strlen(w->path));
}

static struct watch *find(const struct lane *lane, const char *name) {
  uint32_t hash = hash_of(name);
  for (struct watch *w = lane->watches; w; w = w->next)
    if (w->hash == hash && strcmp(watch_name(w), name) == 0) return w;
  return NULL;
}

const struct watch *watch_find(const struct lane *lane, const char *name) {
  return find(lane, name);
}

static void destroy(struct watch *watch) {
  struct watch **link = &watch->lane->watches;
  while (*link != watch) link = &(*link)->next;
  *link = watch->next;
  counter_add(&watch->lane->session->counters.watches, -1);
  room_give(watch->lane->session, room_of_watch(watch));
  session_dirty(watch->lane->session, watch->lane); /* it may be idle now */
  free(watch);
}

/* Nobody wants it: takes it from the server if it is armed there. */
static void dispose(struct watch *w) {
  if (w->wanted > 0 || w->op.in_flight) return;
  if (watch_is_armed(w)) {
    w->armed_in = 0;
    w->op.kind = OP_UNWATCH;
    if (session_submit(w->lane->session, &w->op)) return;
  }
  destroy(w);
}

bool watch_is_armed(const struct watch *w) {
  if (!w) return false;
  const struct session *s = w->lane->session;
  return session_is_connected(s) && w->armed_in == s->connection;
}

void watch_arm(struct watch *w) {
  if (!watch_is_armed(w)) watch_read(w);
}

void watch_read(struct watch *w) {
  if (w->op.in_flight) return;
  w->op.kind = w->unreadable ? OP_EXISTS : OP_GET;
  session_submit(w->lane->session, &w->op);
}

/* Tells every contender that wants it.  One more is wanted meanwhile, so that
 * the watch outlives what they do. */
static void tell(struct watch *w, enum watch_news news,
                 const struct reply *reply) {
  w->wanted++;
  struct contender *next;
  for (struct contender *c = w->lane->first; c; c = next) {
    next = c->next;
    contender_watch(c, w, news, reply);
  }
  watch_release(w);
}

static void note_data(struct watch *w, const struct reply *reply) {
  w->size = reply->size > 0 && reply->data ? reply->size : 0;
  if (w->size > 0)
    memcpy(w->data, reply->data,
           (size_t)(w->size < OP_SHOWN ? w->size : OP_SHOWN));
}

static void on_reply(struct op *op, const struct reply *reply) {
  struct watch *w = op->owner;
  if (op->kind == OP_UNWATCH) {
    if (w->wanted > 0)
      watch_arm(w); /* somebody came back meanwhile */
    else
      destroy(w);
    return;
  }
  switch (reply->rc) {
    case REPLY_OK:
      w->armed_in = w->lane->session->connection;
      note_data(w, reply);
      tell(w, WATCH_ARMED, reply);
      break;
    case REPLY_NO_NODE:
      /* `exists` leaves a watch on what does not exist: take it away. */
      if (op->kind == OP_EXISTS) w->armed_in = w->lane->session->connection;
      tell(w, WATCH_GONE, reply);
      break;
    case REPLY_NO_AUTH:
      w->unreadable = true;
      if (op->kind == OP_GET && w->wanted > 0)
        watch_arm(w);
      else
        dispose(w);
      break;
    case REPLY_LOST:
      dispose(w);
      break;
    default:
      session_trouble(w->lane->session, "cannot watch", w->path, reply->rc);
      session_retry(w->lane->session);
      dispose(w);
  }
}

struct watch *watch_want(struct lane *lane, const char *name) {
  struct watch *w = find(lane, name);
  if (w) {
    w->wanted++;
    return w;
  }
  size_t size = strlen(name) + 1;
  w = calloc(1, sizeof *w + lane->length + 1 + size);
  if (!w) return NULL;
  memcpy(w->path, lane->path, lane->length);
  w->path[lane->length] = '/';
  memcpy(w->path + lane->length + 1, name, size);
  w->lane = lane;
  w->wanted = 1;
  w->hash = hash_of(name);
  w->op.handler = on_reply;
  w->op.owner = w;
  w->op.path = w->path;
  w->next = lane->watches;
  lane->watches = w;
  counter_add(&lane->session->counters.watches, 1);
  room_take(lane->session, room_of_watch(w));
  return w;
}

bool watch_is_of(const struct watch *w, const char *name) {
  return strcmp(watch_name(w), name) == 0;
}

void watch_release(struct watch *w) {
  w->wanted--;
  dispose(w);
}

void watch_drop(struct watch **watch) {
  struct watch *w = *watch;
  *watch = NULL;
  if (w) watch_release(w);
}

void watch_fired(struct lane *lane, const char *path, enum watch_event event) {
  struct watch *w = find(lane, path + lane->length + 1);
  if (!w) return;
  w->armed_in = 0;
  tell(w, event == WATCH_DELETED ? WATCH_GONE : WATCH_STALE, NULL);
}

void watch_sweep(struct lane *lane) {
  struct watch *next;
  for (struct watch *w = lane->watches; w; w = next) {
    next = w->next;
    dispose(w);
  }
}
