#include "bystander.h"

#include <stdlib.h>
#include <string.h>

struct bystander {
  struct bystander *next;
  struct bystanders *all;
  struct watcher watcher;
};

static void forget(struct bystander *b) {
  struct bystander **link = &b->all->first;
  while (*link != b) link = &(*link)->next;
  *link = b->next;
  watch_drop(&b->watcher);
  free(b);
}

static void hear(struct watcher *watcher, enum watch_news news,
                 const struct reply *reply) {
  struct bystander *b = watcher_owner(watcher);
  (void)reply;
  if (news == WATCH_STALE)
    watch_arm(watcher);
  else if (news == WATCH_GONE || !watch_is_of_nobody(watcher))
    forget(b);
}

static const struct watcher_role role = {hear,
                                         offsetof(struct bystander, watcher),
                                         false};

static bool is_known(const struct bystanders *all, const char *name) {
  for (const struct bystander *b = all->first; b; b = b->next)
    if (strcmp(watch_name(&b->watcher), name) == 0) return true;
  return false;
}

static bool has_room(const struct bystanders *all,
                     const struct watches *watches) {
  int count = 0;
  for (const struct bystander *b = all->first; b; b = b->next) count++;
  return count < BYSTANDERS_MAX &&
         quota_ask(watches->quota, watches->length, true, false) == QUOTA_YES;
}

static bool add(struct bystanders *all, struct watches *watches,
                const char *name) {
  struct wire *wire = watches->wire;
  struct bystander *b = calloc(1, sizeof *b);
  if (!b) {
    wire_retry(wire);
    return false;
  }
  b->all = all;
  watcher_init(&b->watcher, &role);
  watch_want(&b->watcher, watches, name); /* (there is such a watch) */
  b->next = all->first;
  all->first = b;
  watch_say(&b->watcher, "a node is passed over", REASON_UNOWNED);
  return true;
}

bool bystanders_add(struct bystanders *all, const struct watcher *watcher) {
  if (!watch_is_of_nobody(watcher)) return false;
  const char *name = watch_name(watcher);
  struct watches *watches = watcher->watch->of;
  return is_known(all, name) ||
         (has_room(all, watches) && add(all, watches, name));
}

/* What a watch of this connection's has shown, and not taken back before the
 * list came. */
void bystanders_mark(const struct bystanders *all, struct listing *listing) {
  for (const struct bystander *b = all->first; b; b = b->next)
    if (watch_is_of_nobody(&b->watcher))
      listing_disown(listing, watch_name(&b->watcher));
}

void bystanders_watch(const struct bystanders *all) {
  for (const struct bystander *b = all->first; b; b = b->next)
    watch_arm(&b->watcher);
}

void bystanders_forget(struct bystanders *all) {
  for (struct bystander *b = all->first, *next; b; b = next) {
    next = b->next;
    forget(b);
  }
}
