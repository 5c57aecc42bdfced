/* Who keeps one waiting: what is known of it, and whether it is to be waited for
 * at all. */
#include "rival.h"

#include "queue.h"

/* Who is known by the name of its node: one of ours, or one that somebody of
 * ours watches, for a watch reads the node. */
static struct rival know(const struct contender *c, const char *name) {
  struct rival rival = {.holds = true};
  const struct contender *ours = queue_find(c->queue, name);
  if (ours) {
    rival.data = ours->options.data;
    rival.size = ours->options.size;
    rival.holds = ours->state == CONTENDER_HELD;
  } else {
    rival.size =
        watch_data(&contender_directory(c)->watches, name, &rival.data);
  }
  return rival;
}

/* Either may be NULL.  Rather one that holds than the nearest. */
void rival_note(struct contender *c, const char *nearest, const char *before) {
  struct rival none = {0}, first = nearest ? know(c, nearest) : none,
               second = before ? know(c, before) : none;
  /* (Who is inside a semaphore's inner mutex holds no permit yet.) */
  bool gate = c->options.kind == KIND_GATE;
  first.holds = first.holds && c->view.nearest_holds && !gate;
  second.holds = second.holds && c->view.before_holds && !gate;
  c->rival = !first.holds && second.holds && second.size > 0 ? second : first;
}

/* It waits for another of this session, or for a place. */
void rival_note_holder(struct contender *c) {
  const struct contender *holder = queue_holder(c->queue);
  if (holder)
    c->rival = (struct rival){holder->options.data, holder->options.size, true};
}

void rival_note_watched(struct contender *c) {
  if (c->state == CONTENDER_QUEUED && c->predecessor.watch)
    rival_note(c, watch_name(&c->predecessor), watch_name(&c->before));
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

bool rival_pass_over(struct contender *c, const struct watcher *watcher) {
  if (!directory_pass_over(contender_directory(c), watcher)) return false;
  contender_list_again(c);
  return true;
}

static struct hindrance *find_hindrance(const struct contender *c,
                                        const char *name) {
  struct contenders *all = c->queue->all;
  const struct directory *d = contender_directory(c);
  int64_t since = all->wire->now;
  /* (Where one is of nobody others may be, too.) */
  if (d->bystanders.first) since -= all->wire->timeout;
  return hindrance_find(&all->hindrances, directory_path(d), name, since);
}

/* Who does not wait is refused without another request, and who waits for lists
 * asks for lists alone: mostly it is somebody's node that is ahead.  But one that
 * has been in our way for longer than a session lives by itself is asked about,
 * and asked about again after as long; and one that was nobody's is, each time. */
static bool rival_is_suspect(const struct contender *c, const char *name) {
  const struct wire *wire = contender_wire(c);
  struct hindrance *h = find_hindrance(c, name);
  if (!h->of_nobody && wire->now < h->since + wire->timeout) return false;
  h->since = wire->now;
  return true;
}

/* One that keeps us waiting was read. */
void rival_read(struct contender *c, const struct watcher *watcher) {
  bool asked = c->view.asks && watcher == &c->predecessor;
  bool passed = rival_pass_over(c, watcher);
  if (!asked) return;
  c->view.asks = false;
  find_hindrance(c, watch_name(watcher))->of_nobody = passed;
  if (!passed) contender_list_again(c);
}

/* (Who is watched is known.) */
bool rival_is_to_be_asked(const struct contender *c, const struct entry *e) {
  return !watches_know(&contender_directory(c)->watches, e->name);
}

/* Permits are counted: any of them may be nobody's. */
static const struct entry *suspect_permit(const struct contender *c,
                                          const struct listing *listing,
                                          const struct entry *own) {
  for (int i = 0; i < listing->count; i++) {
    const struct entry *e = &listing->entries[i];
    if (e->role == ROLE_PERMIT && e != own && !e->unowned &&
        rival_is_to_be_asked(c, e) && rival_is_suspect(c, e->name))
      return e;
  }
  return NULL;
}

const struct entry *rival_suspect(const struct contender *c,
                                  const struct listing *listing,
                                  const struct entry *own,
                                  const struct ahead *ahead) {
  const struct entry *e = ahead->nearest;
  if (ahead->count == 0) return NULL;
  if (c->options.kind == KIND_PERMIT) return suspect_permit(c, listing, own);
  return rival_is_to_be_asked(c, e) && rival_is_suspect(c, e->name) ? e : NULL;
}
