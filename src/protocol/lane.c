#include "lane.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "session.h"

static op_handler on_list, on_mkdir, on_renew, on_unwatch;

struct lane *lane_new(struct session *session, const char *path) {
  size_t length = strlen(path);
  struct lane *lane = calloc(1, sizeof *lane + 2 * (length + 1));
  if (!lane) return NULL;
  lane->session = session;
  lane->length = length;
  memcpy(lane->path, path, length);
  lane->mkdir_path = lane->path + length + 1;
  struct op *ops[] = {&lane->lists[0], &lane->lists[1], &lane->mkdir,
                      &lane->renew, &lane->unwatch};
  op_handler *handlers[] = {on_list, on_list, on_mkdir, on_renew, on_unwatch};
  enum op_kind kinds[] = {OP_LIST, OP_LIST, OP_MKDIR, OP_READ, OP_UNWATCH};
  for (int i = 0; i < 5; i++) {
    ops[i]->owner = lane;
    ops[i]->handler = handlers[i];
    ops[i]->kind = kinds[i];
    ops[i]->path = lane->path;
  }
  lane->mkdir.path = lane->mkdir_path;
  lane->unwatch.watch = true;
  return lane;
}

bool lane_idle(const struct lane *lane) {
  return !lane->first && !lane->watches && !lane->strays &&
         !lane->lists[0].in_flight && !lane->lists[1].in_flight &&
         !lane->mkdir.in_flight && !lane->renew.in_flight &&
         !lane->unwatch.in_flight && !lane->dirty;
}

void lane_free(struct lane *lane) {
  assert(lane_idle(lane));
  free(lane);
}

/* The queue. */

void lane_add(struct lane *lane, struct contender *c) {
  c->previous = lane->last;
  c->next = NULL;
  if (lane->last)
    lane->last->next = c;
  else
    lane->first = c;
  lane->last = c;
  if (!lane->parked) lane->parked = c;
}

void lane_drop(struct lane *lane, struct contender *c) {
  if (lane->parked == c) lane->parked = c->next;
  if (c->previous)
    c->previous->next = c->next;
  else
    lane->first = c->next;
  if (c->next)
    c->next->previous = c->previous;
  else
    lane->last = c->previous;
  session_dirty(lane->session, lane); /* it may be idle now */
}

struct contender *lane_next_sharing(const struct lane *lane) {
  for (struct contender *c = lane->parked; c; c = c->next)
    if (c->state == CONTENDER_PARKED && c->options.handoffs > 0) return c;
  return NULL;
}

/* In order of arrival: one that must wait for its place keeps back all behind
 * it.  But who will not wait for others is told at once, wherever it stands. */
void lane_admit(struct lane *lane) {
  if (!session_is_connected(lane->session)) return;
  struct contender *blocked = NULL, *next;
  for (struct contender *c = lane->parked; c; c = next) {
    next = c->next;
    if (c->state != CONTENDER_PARKED) continue;
    if (!blocked && contender_may_enter(c)) {
      lane->parked = next;
      contender_drive(c);
    } else if (!c->options.patient && contender_is_kept_out(c)) {
      contender_refuse(c, VERDICT_BUSY, 0);
    } else if (!blocked && contender_room(c) == ROOM_NEVER) {
      session_trouble(lane->session, "cannot contend", lane->path,
                      REASON_NO_ROOM);
      contender_refuse(c, VERDICT_INVALID, REASON_NO_ROOM);
    } else {
      if (!blocked) blocked = c;
      if (lane->impatient == 0) break;
    }
  }
  lane->parked = blocked;
  if (blocked && contender_room(blocked) == ROOM_LATER)
    room_wait(lane, contender_is_urgent(blocked));
  else
    room_pass_on(lane->session);
}

static struct contender *find_from(struct contender *from, uint64_t id) {
  for (struct contender *c = from; c; c = c->next)
    if (c->id == id && c->state != CONTENDER_PARKED) return c;
  return NULL;
}

struct contender *lane_find(const struct lane *lane, uint64_t id) {
  return find_from(lane->first, id);
}

const struct contender *lane_holder(const struct lane *lane) {
  for (const struct contender *c = lane->first; c; c = c->next)
    if (c->state == CONTENDER_HELD) return c;
  return NULL;
}

/* Lists. */

static struct op *newest_list(struct lane *lane) {
  struct op *newest = NULL;
  for (int i = 0; i < 2; i++) {
    struct op *list = &lane->lists[i];
    if (list->in_flight && (!newest || list->serial > newest->serial))
      newest = list;
  }
  return newest;
}

void lane_want_list(struct lane *lane, uint64_t after) {
  const struct op *newest = newest_list(lane);
  if (newest && newest->serial > after) return;
  lane->list_wanted = true;
  session_dirty(lane->session, lane);
}

void lane_want_new_list(struct lane *lane) {
  lane_want_list(lane, lane->session->serial);
}

static bool children_armed(const struct lane *lane) {
  const struct session *s = lane->session;
  return session_is_connected(s) && lane->children_armed_in == s->connection;
}

/* Will this list's reply arm a watch?  Not if the watch is being taken away
 * behind it. */
static bool arms(const struct lane *lane, const struct op *list) {
  return list->watch && list->serial > lane->unwatch.serial;
}

void lane_watch_children(struct lane *lane, struct contender *c) {
  if (!c->watches_children) {
    c->watches_children = true;
    if (lane->children_wanted++ == 0) room_take(lane->session, room_of(lane));
  }
  if (children_armed(lane)) return;
  /* The list that we know was not watched: what has changed since? */
  for (int i = 0; i < 2; i++)
    if (lane->lists[i].in_flight && arms(lane, &lane->lists[i])) return;
  lane_want_new_list(lane);
}

static void unwatch_children(struct lane *lane) {
  if (lane->children_wanted > 0 || lane->unwatch.in_flight) return;
  if (!children_armed(lane)) return;
  lane->children_armed_in = 0;
  session_submit(lane->session, &lane->unwatch);
}

void lane_unwatch_children(struct lane *lane, struct contender *c) {
  if (!c->watches_children) return;
  c->watches_children = false;
  if (--lane->children_wanted == 0) room_give(lane->session, room_of(lane));
  unwatch_children(lane);
}

void lane_children_changed(struct lane *lane) {
  lane->children_armed_in = 0;
  if (lane->children_wanted > 0) lane_want_list(lane, 0);
}

static void on_unwatch(struct op *op, const struct reply *reply) {
  struct lane *lane = op->owner;
  (void)reply;
  session_dirty(lane->session, lane);
}

static void send_list(struct lane *lane) {
  struct session *s = lane->session;
  struct op *slot = &lane->lists[lane->lists[0].in_flight];
  if (slot->in_flight) return; /* its reply comes back to us */
  slot->watch = lane->children_wanted > 0 && !children_armed(lane);
  if (!session_submit(s, slot)) return;
  lane->list_wanted = false;
  counter_add(&s->counters.lists, 1);
}

/* A node that has our mark and that nobody of us knows. */
struct stray {
  struct stray *next;
  struct lane *lane;
  struct op op;
  char path[];
};

static void on_stray_removed(struct op *op, const struct reply *reply) {
  struct stray *stray = op->owner;
  struct lane *lane = stray->lane;
  struct stray **link = &lane->strays;
  (void)reply; /* if it is still there the next list shows it again */
  while (*link != stray) link = &(*link)->next;
  *link = stray->next;
  free(stray);
  session_dirty(lane->session, lane);
}

static void remove_stray(struct lane *lane, const char *name) {
  for (struct stray *stray = lane->strays; stray; stray = stray->next)
    if (strcmp(stray->path + lane->length + 1, name) == 0) return;
  size_t size = strlen(name) + 1;
  struct stray *stray = calloc(1, sizeof *stray + lane->length + 1 + size);
  if (!stray) return;
  stray->lane = lane;
  memcpy(stray->path, lane->path, lane->length);
  stray->path[lane->length] = '/';
  memcpy(stray->path + lane->length + 1, name, size);
  stray->op.kind = OP_REMOVE;
  stray->op.handler = on_stray_removed;
  stray->op.owner = stray;
  stray->op.path = stray->path;
  if (!session_submit(lane->session, &stray->op)) {
    free(stray);
    return;
  }
  stray->next = lane->strays;
  lane->strays = stray;
  counter_add(&lane->session->counters.strays, 1);
}

/* A list and a lane have nearly the same order: the next one is mostly found
 * where the last one was, or a thousand would take a million steps. */
static void remove_strays(struct lane *lane, const struct listing *listing) {
  struct contender *last = lane->first;
  for (int i = 0; i < listing->count; i++) {
    uint64_t id;
    const char *name = listing->entries[i].name;
    if (!name_id(name, &lane->session->base, &id)) continue;
    struct contender *c = find_from(last, id);
    if (!c) c = lane_find(lane, id);
    if (c)
      last = c;
    else
      remove_stray(lane, name);
  }
}

static void list_answers(struct lane *lane, const struct op *op,
                         const struct listing *listing) {
  remove_strays(lane, listing);
  struct contender *next;
  for (struct contender *c = lane->first; c; c = next) {
    next = c->next;
    if (c->create.serial < op->serial) contender_listed(c, listing);
  }
}

static void refuse_waiters(struct lane *lane, enum verdict why, int reason) {
  struct contender *next;
  for (struct contender *c = lane->first; c; c = next) {
    next = c->next;
    if (c->state < CONTENDER_HELD) contender_refuse(c, why, reason);
  }
}

/* Nobody has heard what the list would have told: when it is tried again the
 * waiters ask for another. */
static void retry_list(struct lane *lane) {
  for (struct contender *c = lane->first; c; c = c->next) c->listed_in = 0;
  session_retry(lane->session);
}

static void on_list(struct op *op, const struct reply *reply) {
  static const struct listing empty;
  struct lane *lane = op->owner;
  session_dirty(lane->session, lane);
  if (arms(lane, op) && reply->rc == REPLY_OK) {
    lane->children_armed_in = lane->session->connection;
    unwatch_children(lane); /* nobody waits any more? */
  }
  switch (reply->rc) {
    case REPLY_OK:
      if (reply->listing) {
        list_answers(lane, op, reply->listing);
        return;
      }
      break; /* no memory for it */
    case REPLY_NO_NODE:
      list_answers(lane, op, &empty);
      return;
    case REPLY_NO_AUTH:
      refuse_waiters(lane, VERDICT_AUTH, reply->rc);
      return;
    case REPLY_LOST:
    case REPLY_SESSION_EXPIRED:
    case REPLY_SESSION_MOVED:
      return;
    default:
      session_trouble(lane->session, "cannot list", lane->path, reply->rc);
  }
  retry_list(lane);
}

/* The directory. */

/* The length of `path`'s parent; 0: the root. */
static size_t parent_length(const char *path, size_t length) {
  while (length > 0 && path[--length] != '/') continue;
  return length;
}

static size_t child_length(const struct lane *lane, size_t length) {
  do length++;
  while (length < lane->length && lane->path[length] != '/');
  return length;
}

void lane_want_parent(struct lane *lane) {
  if (lane->parent_missing) return;
  lane->parent_missing = true;
  lane->mkdir_length = lane->length;
  session_dirty(lane->session, lane);
}

static void send_mkdir(struct lane *lane) {
  const struct session *s = lane->session;
  if (lane->mkdir.in_flight) return;
  memcpy(lane->mkdir_path, lane->path, lane->mkdir_length);
  lane->mkdir_path[lane->mkdir_length] = '\0';
  /* The chroot is the application's own: it stays. */
  lane->mkdir.persistent =
      s->no_containers || lane->mkdir_length <= s->chroot_length;
  session_submit(lane->session, &lane->mkdir);
}

void lane_drive(struct lane *lane) {
  struct contender *next;
  for (struct contender *c = lane->first; c; c = next) {
    next = c->next;
    if (c->state != CONTENDER_PARKED) contender_drive(c);
  }
}

static void parent_failed(struct lane *lane, enum verdict why, int reason) {
  lane->parent_missing = false;
  struct contender *next;
  for (struct contender *c = lane->first; c; c = next) {
    next = c->next;
    contender_parent_failed(c, why, reason);
  }
}

static void on_mkdir(struct op *op, const struct reply *reply) {
  struct lane *lane = op->owner;
  struct session *s = lane->session;
  session_dirty(s, lane);
  switch (reply->rc) {
    case REPLY_OK:
    case REPLY_NODE_EXISTS:
      if (lane->mkdir_length == lane->length) {
        lane->parent_missing = false;
        lane_drive(lane);
      } else {
        lane->mkdir_length = child_length(lane, lane->mkdir_length);
      }
      return;
    case REPLY_NO_NODE:
      lane->mkdir_length = parent_length(lane->path, lane->mkdir_length);
      if (lane->mkdir_length > 0) return;
      break;
    case REPLY_UNIMPLEMENTED:
      if (op->persistent) break;
      s->no_containers = true;
      return;
    case REPLY_LOST:
    case REPLY_SESSION_EXPIRED:
    case REPLY_SESSION_MOVED:
      return;
    default:
      break;
  }
  session_trouble(s, "cannot create", lane->mkdir_path, reply->rc);
  parent_failed(lane,
                reply->rc == REPLY_NO_AUTH || reply->rc == REPLY_INVALID_ACL ||
                        reply->rc == REPLY_AUTH_FAILED
                    ? VERDICT_AUTH
                    : VERDICT_INVALID,
                reply->rc);
}

/* The counter's end. */

void lane_renew(struct lane *lane) {
  if (lane->renewal == RENEWAL_NONE) lane->renewal = RENEWAL_LOOK;
  session_dirty(lane->session, lane);
}

static void send_renewal(struct lane *lane) {
  if (!lane->first || lane->entered > 0 || lane->renew.in_flight) return;
  lane->renew.kind = lane->renewal == RENEWAL_LOOK ? OP_READ : OP_REMOVE;
  session_submit(lane->session, &lane->renew);
}

/* Only the server can tell that a directory is empty and delete it in one
 * step: nobody is in it when the numbers begin again.  What carries data is
 * somebody's own, and stays.  (Servers do not tell what is a container.) */
static void on_renew(struct op *op, const struct reply *reply) {
  struct lane *lane = op->owner;
  switch (reply->rc) {
    case REPLY_LOST:
    case REPLY_SESSION_EXPIRED:
    case REPLY_SESSION_MOVED:
      return;
    case REPLY_OK:
      if (op->kind == OP_READ && reply->size > 0) {
        session_trouble(lane->session, "cannot order", lane->path,
                        REASON_COUNTER_AT_END);
        refuse_waiters(lane, VERDICT_INVALID, REASON_COUNTER_AT_END);
        lane->renewal = RENEWAL_NONE;
      } else {
        lane->renewal = op->kind == OP_READ ? RENEWAL_DELETE : RENEWAL_NONE;
      }
      break;
    case REPLY_NO_NODE:
      lane->renewal = RENEWAL_NONE;
      break;
    case REPLY_NOT_EMPTY:
      lane->renewal = RENEWAL_CROWDED;
      lane_admit(lane); /* refuses those who will not wait */
      session_retry(lane->session);
      return;
    default:
      session_trouble(lane->session, "cannot delete", lane->path, reply->rc);
      refuse_waiters(lane,
                     reply->rc == REPLY_NO_AUTH ? VERDICT_AUTH
                                                : VERDICT_INVALID,
                     reply->rc);
      lane->renewal = RENEWAL_NONE;
  }
  session_dirty(lane->session, lane);
}

/* The session's side. */

void lane_flush(struct lane *lane) {
  room_unwait(lane);
  if (!session_is_connected(lane->session)) return;
  lane_admit(lane);
  if (lane->renewal != RENEWAL_NONE) send_renewal(lane);
  if (lane->parent_missing) send_mkdir(lane);
  if (lane->list_wanted) send_list(lane);
}

void lane_connected(struct lane *lane) {
  watch_sweep(lane);
  lane->list_wanted = false;
  lane->creates_from = 0;
  /* In order of arrival, so that what leaves is sent before what enters. */
  lane_drive(lane);
  session_dirty(lane->session, lane);
}
