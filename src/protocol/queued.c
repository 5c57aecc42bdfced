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

static struct contender *writer_of(const struct contender *c) {
  uint64_t id;
  return name_id(c->options.writer, &contender_wire(c)->base, &id)
             ? queue_find(c->queue, id)
             : NULL;
}

/* Who downgrades will ask a list whether the writer is there still. */
static void watch_writer(const struct contender *c) {
  struct contender *writer = c->options.downgrade ? writer_of(c) : NULL;
  if (writer) life_watch_own(writer);
}

void queued_enter(struct contender *c) {
  watch_writer(c);
  life_enter(c);
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

/* Who looks at the nodes ahead only if they have been there for long. */
static bool waits_by_list(const struct contender *c) {
  return waits_for_children(c) || c->options.strategy == WAIT_POLL;
}

static void look_later(struct contender *c, int64_t pause) {
  int64_t next = contender_wire(c)->now + pause;
  timer_set(&c->queue->all->timers, &c->timer,
            next < c->options.deadline ? next : c->options.deadline);
}

static void watch_children(struct contender *c) {
  bool more = !c->watches_children;
  c->watches_children = true;
  directory_watch_children(directory_of(c), more);
}

/* Bystanders: what is spelled like a contender, and no session owns it.  Every
 * client's contenders are ephemeral, so that one is nobody's, and nothing but
 * somebody's hand would ever take it away.
 *
 * Who is read while it is watched as the one ahead of us, and is such a one, is
 * passed over: the directory watches it from now on, the next list shows it as
 * what it is, and who is really ahead is found behind it.  Whose a node is never
 * changes, so what that read has told is true until the node is deleted; and of
 * its deletion the server tells us before it shows us whatever has the name
 * afterwards.  So nothing is passed over because of old news. */

static void list_again(struct contender *c) {
  c->view.listed_in = 0;
  directory_list(directory_of(c), 0);
}

static bool pass_over(struct contender *c, const struct watcher *watcher) {
  if (!directory_pass_over(directory_of(c), watcher)) return false;
  list_again(c);
  return true;
}

static struct hindrance *find_hindrance(const struct contender *c,
                                        const char *name) {
  struct contenders *all = c->queue->all;
  const struct directory *d = directory_of(c);
  int64_t since = all->wire->now;
  /* (Where one is of nobody others may be, too.) */
  if (d->bystanders.first) since -= all->wire->timeout;
  return hindrance_find(&all->hindrances, d->path, name, since);
}

/* Who does not wait is refused without another request, and who waits for lists
 * asks for lists alone: mostly it is somebody's node that is ahead.  But one that
 * has been in our way for longer than a session lives by itself is asked about,
 * and asked about again after as long; and one that was nobody's is, each time. */
static bool is_suspect(const struct contender *c, const char *name) {
  const struct wire *wire = contender_wire(c);
  struct hindrance *h = find_hindrance(c, name);
  if (!h->of_nobody && wire->now < h->since + wire->timeout) return false;
  h->since = wire->now;
  return true;
}

/* One that keeps us waiting was read. */
static void rival_read(struct contender *c, const struct watcher *watcher) {
  bool asked = c->view.asks && watcher == &c->predecessor;
  bool passed = pass_over(c, watcher);
  if (!asked) return;
  c->view.asks = false;
  find_hindrance(c, watch_name(watcher))->of_nobody = passed;
  if (!passed) list_again(c);
}

/* Told in this connection: somebody may have deleted it in between, and made
 * another of its name. */
static bool is_surely_ours(const struct contender *c) {
  return c->node.known == NODE_OURS &&
         c->node.told_in == contender_wire(c)->connection;
}

/* All is known that a list can tell: it is first, or has to watch. */
static void act(struct contender *c) {
  bool ours = is_surely_ours(c);
  if (ours && c->view.ahead == 0) {
    life_be_first(c);
    return;
  }
  if (ours)
    watch_arm(&c->own);
  else
    watch_read(&c->own); /* whose is it? */
  if (waits_for_children(c)) watch_children(c);
  if (waits_by_list(c))
    look_later(c, c->options.strategy == WAIT_POLL
                      ? c->options.poll_interval
                      : contender_wire(c)->timeout);
  watch_arm(&c->predecessor);
  watch_arm(&c->before);
  if (!pass_over(c, &c->predecessor)) pass_over(c, &c->before);
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

/* That it is listed is not enough: the name may be anybody's by now.  It was read
 * before the list was asked for, and its watch would have told. */
static bool writer_is_there(const struct contender *c) {
  const struct contender *writer = writer_of(c);
  return writer && watch_is_armed(&writer->own);
}

/* There was no memory to watch it, or its ACL forbids to read it: a list that
 * comes behind its watch must tell. */
static bool asks_for_writer(const struct contender *c) {
  const struct contender *writer = c->options.downgrade ? writer_of(c) : NULL;
  if (!writer || writer->state != CONTENDER_HELD ||
      watch_is_armed(&writer->own) || c->node.beside_writer)
    return false;
  wire_retry(contender_wire(c));
  return true;
}

/* A downgrade holds its place only if the writer was there after it: else the
 * next writer may have been granted in between. */
static bool has_its_place(struct contender *c, const struct listing *listing) {
  if (!c->options.downgrade || c->node.beside_writer) return true;
  c->node.beside_writer =
      writer_is_there(c) && listing_find(listing, c->options.writer) != NULL;
  return c->node.beside_writer;
}

static void see(struct contender *c, const struct listing *listing,
                const struct ahead *ahead, bool asks) {
  c->view = (struct view){.listed_in = contender_wire(c)->connection,
                          .ahead = ahead->count,
                          .asks = asks,
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
  bool by_node = !waits_by_list(c);
  const char *nearest =
      by_node || c->view.asks ? name_of(ahead->nearest) : NULL;
  const char *before = by_node && !c->view.asks ? name_of(ahead->before) : NULL;
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

/* (Who is watched is known.) */
static bool is_to_be_asked(const struct contender *c, const struct entry *e) {
  return !watches_know(&directory_of(c)->watches, e->name);
}

static bool does_not_wait(const struct contender *c,
                          const struct listing *listing,
                          const struct entry *own, const struct ahead *ahead) {
  return ahead->count > 0 && !c->options.patient &&
         !only_ghosts_ahead(c, listing, own);
}

static void refuse_as_busy(struct contender *c, const struct ahead *ahead) {
  note(c, name_of(ahead->nearest), name_of(ahead->before));
  life_refuse(c, VERDICT_BUSY, 0);
}

/* Permits are counted: any of them may be nobody's. */
static const struct entry *suspect_permit(const struct contender *c,
                                          const struct listing *listing,
                                          const struct entry *own) {
  for (int i = 0; i < listing->count; i++) {
    const struct entry *e = &listing->entries[i];
    if (e->role == ROLE_PERMIT && e != own && !e->unowned &&
        is_to_be_asked(c, e) && is_suspect(c, e->name))
      return e;
  }
  return NULL;
}

static const struct entry *suspect(const struct contender *c,
                                   const struct listing *listing,
                                   const struct entry *own,
                                   const struct ahead *ahead) {
  const struct entry *e = ahead->nearest;
  if (ahead->count == 0) return NULL;
  if (c->options.kind == KIND_PERMIT) return suspect_permit(c, listing, own);
  return is_to_be_asked(c, e) && is_suspect(c, e->name) ? e : NULL;
}

/* The numbers tell who is ahead. */
static void place_in_order(struct contender *c, const struct listing *listing,
                           const struct entry *own) {
  struct ahead ahead;
  rule_apply(c->options.kind, c->options.permits, listing, own, &ahead);
  bool impatient = does_not_wait(c, listing, own, &ahead);
  const struct entry *asked =
      impatient || waits_by_list(c) ? suspect(c, listing, own, &ahead) : NULL;
  if (asked) ahead.nearest = asked;
  see(c, listing, &ahead, asked != NULL);
  if (impatient && !asked)
    refuse_as_busy(c, &ahead);
  else if (ahead.count > 0 || !is_surely_ours(c))
    aim(c, own, &ahead);
  else
    act(c);
}

/* They do not, because of `odd`. */
static void place_by_odd_one(struct contender *c, const struct listing *listing,
                             const struct entry *own, const struct entry *odd) {
  const struct ahead ahead = {.count = 1, .nearest = odd};
  if (odd != own && is_to_be_asked(c, odd)) {
    see(c, listing, &ahead, true);
    aim(c, own, &ahead);
    return;
  }
  life_leave(c); /* to begin again */
  directory_renew(directory_of(c));
}

/* Our node is in the list: where? */
static void place(struct contender *c, const struct listing *listing,
                  const struct entry *own) {
  const struct entry *odd =
      c->options.kind == KIND_PERMIT ? NULL : listing_disorder(listing, own);
  if (!odd && asks_for_writer(c)) return;
  if (!odd && !has_its_place(c, listing))
    life_refuse(c, VERDICT_LOST, 0);
  else if (odd)
    place_by_odd_one(c, listing, own, odd);
  else
    place_in_order(c, listing, own);
}

static bool has_others(const struct contender *c, const struct listing *listing,
                       const struct entry *own) {
  for (int i = 0; i < listing->count; i++) {
    uint64_t id;
    const struct entry *e = &listing->entries[i];
    if (e != own && name_id(e->name, &contender_wire(c)->base, &id) &&
        id == c->node.id)
      return true;
  }
  return false;
}

/* The list shows what has become of a create whose answer was lost. */
static void found(struct contender *c, const struct listing *listing,
                  const struct entry *own) {
  c->node.known = NODE_MADE;
  c->node.is_one_of_several = has_others(c, listing, own);
  contender_set_name(c, own->name);
}

void queued_listed(struct contender *c, const struct listing *listing) {
  bool doubt = c->node.known == NODE_MAYBE;
  bool leaving = c->state == CONTENDER_LEAVING;
  if (c->node.known < NODE_MAYBE || c->state == CONTENDER_HELD) return;
  if (leaving && !doubt) return;
  const struct entry *own =
      doubt ? listing_find_id(listing, &contender_wire(c)->base, c->node.id)
            : listing_find(listing, c->node.name);
  if (own && doubt) found(c, listing, own);
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
    list_again(c);
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
    list_again(c);
  }
}

/* Is it ours?  Not a dying node of another session; nor what somebody has put in
 * the place of ours while we had no connection: others pass it over, perhaps. */
static bool is_ours(const struct contender *c, const struct reply *reply) {
  return reply->owner == contender_wire(c)->session &&
         (c->node.known != NODE_OURS || reply->czxid == c->node.czxid);
}

static void own_gone(struct contender *c) {
  if (c->state == CONTENDER_QUEUED)
    life_start_over(c);
  else
    life_lose_node(c);
}

static void own_read(struct contender *c, const struct reply *reply) {
  if (!is_ours(c, reply)) {
    watch_drop(&c->own); /* it watches somebody else's */
    own_gone(c);
    return;
  }
  c->node.told_in = contender_wire(c)->connection;
  life_hear_revocation(c, reply);
  if (c->state != CONTENDER_QUEUED) return;
  if (c->node.known == NODE_MADE)
    wire_found(contender_wire(c),
               &c->create); /* (a name alone proves nothing) */
  c->node.czxid = reply->czxid;
  c->node.owner_session = reply->owner;
  c->node.known = NODE_OURS;
  c->node.is_one_of_several = false;
  if (contender_sees(c)) act(c);
}

static void own_heard(struct contender *c, enum watch_news news,
                      const struct reply *reply) {
  if (news == WATCH_ARMED)
    own_read(c, reply);
  else if (news == WATCH_STALE)
    watch_arm(&c->own); /* somebody wrote its data: what? */
  else
    own_gone(c);
}

/* Only a deletion grants. */
static void look_again(struct contender *c, struct watcher *watcher) {
  watch_arm(watcher);
  list_again(c);
}

void queued_heard(struct watcher *watcher, enum watch_news news,
                  const struct reply *reply) {
  struct contender *c = watcher->owner;
  if (watcher == &c->own)
    own_heard(c, news, reply);
  else if (c->state != CONTENDER_QUEUED)
    return;
  else if (news == WATCH_ARMED)
    rival_read(c, watcher);
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

void queued_find(struct contender *c) {
  watch_writer(c);
  directory_list(directory_of(c), 0);
}

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
                               .enter = queued_enter,
                               .sent = queued_sent,
                               .find = queued_find,
                               .look = queued_look,
                               .look_anew = queued_look_anew,
                               .due = queued_due,
                               .may_remove = queued_may_remove,
                               .listed = queued_listed,
                               .heard = queued_heard,
                               .note_rival = queued_note_rival};
