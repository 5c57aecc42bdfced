/* The common way of waiting: nodes in the order of their numbers.  How a
 * contender learns where its node stands, and that it is first: lists, watches,
 * and what they prove (life.c has the argument). */
#include "queued.h"

#include <stdio.h>

#include "queue.h"

static struct directory *directory_of(const struct contender *c) {
  return &c->queue->directory;
}

void queued_name(const struct contender *c, char *name, size_t size) {
  name_format(name, size, &contender_wire(c)->base, c->node.id,
              rule_role(c->options.kind, c->options.layout));
  if (!c->options.downgrade) return;
  int32_t sequence = 0;
  size_t length = strlen(name);
  name_parse(c->options.writer, &sequence);
  snprintf(name + length, size - length, "%010d", (int)sequence);
}

/* Rivals. */

/* Who is known by the name of its node: one of ours, or one that somebody of
 * ours watches, for a watch reads the node. */
static struct rival know(const struct contender *c, const char *name) {
  uint64_t id;
  struct rival rival = {.holds = true};
  const struct contender *ours = name_id(name, &contender_wire(c)->base, &id)
                                     ? queue_find(c->queue, id)
                                     : NULL;
  if (ours) {
    rival.data = ours->options.data;
    rival.size = ours->options.size;
    rival.holds = ours->state == CONTENDER_HELD;
  } else {
    rival.size = watch_data(&directory_of(c)->watches, name, &rival.data);
  }
  return rival;
}

/* Either may be NULL.  Rather one that holds than the nearest. */
static void note(struct contender *c, const char *nearest, const char *before) {
  struct rival none = {0}, first = nearest ? know(c, nearest) : none,
               second = before ? know(c, before) : none;
  /* (Who is inside a semaphore's inner mutex holds no permit yet.) */
  bool gate = c->options.kind == KIND_GATE;
  first.holds = first.holds && c->view.nearest_holds && !gate;
  second.holds = second.holds && c->view.before_holds && !gate;
  c->rival = !first.holds && second.holds && second.size > 0 ? second : first;
}

/* It waits for another of this session, or for a place. */
void queued_note_own_holder(struct contender *c) {
  const struct contender *holder = queue_holder(c->queue);
  if (holder)
    c->rival = (struct rival){holder->options.data, holder->options.size, true};
}

void queued_note_watched(struct contender *c) {
  if (c->state == CONTENDER_QUEUED && c->predecessor.watch)
    note(c, watch_name(&c->predecessor), watch_name(&c->before));
}

void queued_note_rival(struct contender *c) {
  if (c->state == CONTENDER_PARKED && c->options.kind == KIND_MUTEX)
    queued_note_own_holder(c);
  else if (contender_sees(c))
    queued_note_watched(c);
}

/* What a list tells. */

/* Who waits for a change of the directory rather than of one node. */
static bool waits_for_children(const struct contender *c) {
  return c->options.kind == KIND_PERMIT || c->options.strategy == WAIT_PARENT;
}

static void poll_later(struct contender *c) {
  int64_t next = contender_wire(c)->now + c->options.poll_interval;
  timer_set(&c->queue->all->timers, &c->timer,
            next < c->options.deadline ? next : c->options.deadline);
}

static void watch_children(struct contender *c) {
  bool more = !c->watches_children;
  c->watches_children = true;
  directory_watch_children(directory_of(c), more);
}

/* All is known that a list can tell: it is first, or has to watch. */
static void act(struct contender *c) {
  bool ours = c->node.known == NODE_OURS;
  if (ours && c->view.ahead == 0) {
    life_be_first(c);
    return;
  }
  if (ours)
    watch_arm(&c->own);
  else
    watch_read(&c->own); /* whose is it? */
  if (waits_for_children(c)) {
    watch_children(c);
  } else if (c->options.strategy == WAIT_POLL) {
    poll_later(c);
  } else {
    watch_arm(&c->predecessor);
    watch_arm(&c->before);
  }
}

/* Is whatever keeps us waiting a node of ours that is on its way out? */
static bool only_ghosts_ahead(const struct contender *c,
                              const struct listing *listing,
                              const struct entry *own) {
  if (c->options.kind == KIND_PERMIT) return false;
  for (const struct entry *e = own; e-- > listing->entries;) {
    uint64_t id;
    if (!rule_blocks(c->options.kind, own, e)) continue;
    if (!name_id(e->name, &contender_wire(c)->base, &id)) return false;
    const struct contender *ghost = queue_find(c->queue, id);
    if (!ghost || ghost->state != CONTENDER_LEAVING) return false;
  }
  return true;
}

/* A downgrade holds its place only if the writer was there after it: else the
 * next writer may have been granted in between. */
static bool has_its_place(struct contender *c, const struct listing *listing) {
  if (!c->options.downgrade || c->node.beside_writer) return true;
  c->node.beside_writer = listing_find(listing, c->options.writer) != NULL;
  return c->node.beside_writer;
}

static void see(struct contender *c, const struct listing *listing,
                const struct ahead *ahead) {
  c->view = (struct view){.listed_in = contender_wire(c)->connection,
                          .ahead = ahead->count,
                          .nearest_proves = ahead->nearest_proves,
                          .before_proves = ahead->before_proves,
                          .nearest_holds = ahead->nearest &&
                                           rule_holds(listing, ahead->nearest),
                          .before_holds = ahead->before &&
                                          rule_holds(listing, ahead->before)};
}

static const char *name_of(const struct entry *entry) {
  return entry ? entry->name : NULL;
}

/* Wants watched what it has to wait for. */
static void aim(struct contender *c, const struct entry *own,
                const struct ahead *ahead) {
  struct watches *watches = &directory_of(c)->watches;
  bool by_node = !waits_for_children(c) && c->options.strategy != WAIT_POLL;
  const char *nearest = by_node ? name_of(ahead->nearest) : NULL;
  const char *before = by_node ? name_of(ahead->before) : NULL;
  contender_enter(c, CONTENDER_QUEUED);
  if (watch_want(&c->own, watches, own->name) &&
      watch_want(&c->predecessor, watches, nearest) &&
      watch_want(&c->before, watches, before)) {
    act(c);
    return;
  }
  c->view.listed_in = 0; /* no memory: list again later */
  wire_retry(contender_wire(c));
}

/* Our node is in the list: where? */
static void place(struct contender *c, const struct listing *listing,
                  const struct entry *own) {
  struct ahead ahead;
  if (c->options.kind != KIND_PERMIT && !listing_orders(listing, own)) {
    life_leave(c); /* to begin again */
    directory_renew(directory_of(c));
    return;
  }
  if (!has_its_place(c, listing)) {
    life_refuse(c, VERDICT_LOST, 0);
    return;
  }
  rule_apply(c->options.kind, c->options.permits, listing, own, &ahead);
  see(c, listing, &ahead);
  if (ahead.count > 0 && !c->options.patient &&
      !only_ghosts_ahead(c, listing, own)) {
    note(c, name_of(ahead.nearest), name_of(ahead.before));
    life_refuse(c, VERDICT_BUSY, 0);
  } else if (ahead.count > 0 || c->node.known != NODE_OURS) {
    aim(c, own, &ahead);
  } else {
    act(c);
  }
}

/* The list shows what has become of a create whose answer was lost. */
static void found(struct contender *c, const struct entry *own) {
  c->node.known = NODE_MADE;
  contender_set_name(c, own->name);
  wire_found(contender_wire(c), &c->create);
}

void queued_listed(struct contender *c, const struct listing *listing) {
  bool doubt = c->node.known == NODE_MAYBE;
  bool leaving = c->state == CONTENDER_LEAVING;
  if (c->node.known < NODE_MAYBE || c->state == CONTENDER_HELD) return;
  if (leaving && !doubt) return;
  const struct entry *own =
      doubt ? listing_find_id(listing, &contender_wire(c)->base, c->node.id)
            : listing_find(listing, c->node.name);
  if (own && doubt) found(c, own);
  if (!own && leaving) c->node.known = NODE_NONE;
  if (leaving)
    life_go_on_leaving(c);
  else if (own)
    place(c, listing, own);
  else
    life_start_over(c);
}

/* What watches tell. */

/* The one ahead of us is gone.  If it was the only one we are first (2 and 3 in
 * life.c); else a list must tell, and one under way will do: its reply comes
 * after this news, so it is not older. */
static void predecessor_gone(struct contender *c) {
  bool only_one =
      contender_sees(c) && c->view.ahead == 1 && c->view.nearest_proves;
  bool first =
      only_one && c->node.known == NODE_OURS && watch_is_armed(&c->own);
  watch_drop(&c->predecessor);
  if (!first) {
    c->view.listed_in = 0;
    directory_list(directory_of(c), 0);
    return;
  }
  c->view.ahead = 0;
  counter_add(&contender_wire(c)->counters.handoffs, 1);
  life_be_first(c);
}

/* The one before the predecessor is gone: the predecessor is about to hold
 * the lock.  Find out now, while it does, whether it is the only one ahead:
 * then its deletion will need no request. */
static void before_gone(struct contender *c) {
  watch_drop(&c->before);
  if (contender_sees(c) && c->view.ahead == 2 && c->view.before_proves) {
    c->view.ahead = 1;
    /* (Between two writers there may be readers.) */
    if (c->options.kind != KIND_READ) c->view.nearest_holds = true;
  } else {
    c->view.listed_in = 0;
    directory_list(directory_of(c), 0);
  }
}

/* Whose is it?  (A dying node of another session is not ours.) */
static void own_read(struct contender *c, const struct reply *reply) {
  bool ours = reply->owner == contender_wire(c)->session;
  life_hear_revocation(c, reply);
  if (c->state != CONTENDER_QUEUED || c->node.known != NODE_MADE) return;
  c->node.czxid = reply->czxid;
  c->node.owner_session = reply->owner;
  if (ours) c->node.known = NODE_OURS;
  if (!ours)
    life_start_over(c);
  else if (contender_sees(c))
    act(c);
}

static void own_heard(struct contender *c, enum watch_news news,
                      const struct reply *reply) {
  if (news == WATCH_ARMED)
    own_read(c, reply);
  else if (news == WATCH_STALE)
    watch_arm(&c->own); /* somebody wrote its data: what? */
  else if (c->state == CONTENDER_QUEUED)
    life_start_over(c);
  else
    life_lose_node(c);
}

/* Only a deletion grants. */
static void look_again(struct contender *c, struct watcher *watcher) {
  c->view.listed_in = 0;
  watch_arm(watcher);
  directory_list(directory_of(c), 0);
}

void queued_heard(struct watcher *watcher, enum watch_news news,
                  const struct reply *reply) {
  struct contender *c = watcher->owner;
  if (watcher == &c->own)
    own_heard(c, news, reply);
  else if (c->state != CONTENDER_QUEUED || news == WATCH_ARMED)
    return;
  else if (news == WATCH_STALE)
    look_again(c, watcher);
  else if (watcher == &c->predecessor)
    predecessor_gone(c);
  else
    before_gone(c);
}

/* The rest of the way. */

/* One list is enough for all who have come in a batch. */
void queued_sent(struct contender *c) {
  directory_list(directory_of(c), c->node.serial);
}

void queued_find(struct contender *c) { directory_list(directory_of(c), 0); }

void queued_look(struct contender *c) {
  if (contender_sees(c))
    act(c);
  else
    directory_list(directory_of(c), 0);
}

void queued_look_anew(struct contender *c) {
  directory_list_anew(directory_of(c));
}

/* WAIT_POLL: the interval is over. */
void queued_due(struct contender *c) {
  timer_set(&c->queue->all->timers, &c->timer, c->options.deadline);
  c->view.listed_in = 0;
  directory_list_anew(directory_of(c));
}

bool queued_may_remove(struct contender *c) {
  (void)c;
  return true;
}

const struct way queued_way = {.name = queued_name,
                               .enter = life_enter,
                               .sent = queued_sent,
                               .find = queued_find,
                               .look = queued_look,
                               .look_anew = queued_look_anew,
                               .due = queued_due,
                               .may_remove = queued_may_remove,
                               .listed = queued_listed,
                               .heard = queued_heard,
                               .note_rival = queued_note_rival};
