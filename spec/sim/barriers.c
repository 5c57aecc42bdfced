#include "world.h"

static void act_later(struct world *w, int lock, int64_t longest) {
  agenda_add(&w->agenda, w->now + world_span(w, longest), BARRIER_ACTS, 0,
             lock);
}

static void set(struct world *w, const struct lock *lock) {
  trace(w, NOBODY, "%s is set", lock->path);
  leader_makes_directory(w, paths_parent(&w->paths, lock->directory));
  leader_makes(w, lock->path, false, 0, BARRIER_SETTER);
}

void barriers_reset(struct world *w) {
  for (int i = 0; i < w->profile.lock_count; i++) {
    struct lock *lock = &w->profile.locks[i];
    if (lock->family != FAMILY_BARRIER) continue;
    lock->acts_left = 2 + random_below(&w->random, 12);
    if (random_chance(&w->random, 70)) set(w, lock);
    act_later(w, i, w->profile.active / 4);
  }
}

/* (Now and then it is lifted for no time at all.) */
void barrier_acts(struct world *w, int number) {
  struct lock *lock = &w->profile.locks[number];
  int node = zoo_find(w, lock->directory);
  bool last = lock->acts_left == 0;
  if (node != NO_NODE) {
    trace(w, NOBODY, "%s is lifted", lock->path);
    leader_forgets(w, node);
  }
  if (last) return;
  if (node == NO_NODE || random_chance(&w->random, 30)) set(w, lock);
  if (--lock->acts_left > 0) act_later(w, number, w->profile.active / 4);
}

void barriers_leave(struct world *w) {
  for (int i = 0; i < w->profile.lock_count; i++) {
    struct lock *lock = &w->profile.locks[i];
    if (lock->family != FAMILY_BARRIER) continue;
    bool acts = lock->acts_left > 0; /* it is on the agenda already */
    lock->acts_left = 0;
    if (!acts) act_later(w, i, 2 * w->profile.timeout);
  }
}
