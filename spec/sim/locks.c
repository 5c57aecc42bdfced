#include "locks.h"

#include <stdio.h>
#include <string.h>

#include "world.h"

const char *const family_names[FAMILY_COUNT] = {
#define X(name, text) text,
    FAMILIES(X)
#undef X
};

static int path_of(struct world *w, const char *text) {
  return paths_number(&w->paths, text, strlen(text));
}

static enum family draw_family(struct world *w) {
  static const enum family drawn[] = {
      FAMILY_MUTEX,     FAMILY_MUTEX,     FAMILY_MUTEX,  FAMILY_MUTEX,
      FAMILY_RWLOCK,    FAMILY_RWLOCK,    FAMILY_RWLOCK, FAMILY_SEMAPHORE,
      FAMILY_SEMAPHORE, FAMILY_SEMAPHORE, FAMILY_UNFAIR, FAMILY_ELECTION,
      FAMILY_BARRIER,   FAMILY_DOUBLE,    FAMILY_DOUBLE};
  if (w->wanted_family != NOBODY) return (enum family)w->wanted_family;
  return drawn[random_below(&w->random, (int)(sizeof drawn / sizeof *drawn))];
}

static void draw(struct world *w, struct lock *lock, const char *above,
                 int number) {
  struct random *r = &w->random;
  memset(lock, 0, sizeof *lock);
  lock->family = draw_family(w);
  lock->permits = 1 + random_below(r, 3);
  if (lock->family == FAMILY_MUTEX && random_chance(r, 30))
    lock->local_turns = 1 + random_below(r, 3);
  if (lock->family <= FAMILY_RWLOCK && random_chance(r, 15))
    lock->layout = LAYOUT_KAZOO;
  if (lock->family == FAMILY_ELECTION)
    lock->layout = (enum layout)random_below(r, LAYOUT_LATCH + 1);
  bool semaphore = lock->family == FAMILY_SEMAPHORE;
  snprintf(lock->path, sizeof lock->path, "%s/lock%d", above, number);
  snprintf(lock->place, sizeof lock->place, "%s%s", lock->path,
           semaphore ? PERMITS : "");
  lock->directory = path_of(w, lock->place);
  lock->gates = NOBODY;
  if (semaphore) {
    char gates[LOCK_PATH_MAX];
    snprintf(gates, sizeof gates, "%s%s", lock->path, LOCKS);
    lock->gates = path_of(w, gates);
  }
}

/* Two kinds that do not wait for each other, on one path.  (Of the two the unfair
 * lock is the first: see lock_of_directory.) */
static void mix(struct world *w, const char *above) {
  static const struct {
    enum family family;
    enum layout layout;
  } kinds[] = {
      {FAMILY_UNFAIR, LAYOUT_CURATOR}, {FAMILY_SEMAPHORE, LAYOUT_CURATOR},
      {FAMILY_MUTEX, LAYOUT_CURATOR},  {FAMILY_MUTEX, LAYOUT_KAZOO},
      {FAMILY_RWLOCK, LAYOUT_CURATOR}, {FAMILY_RWLOCK, LAYOUT_KAZOO},
      {FAMILY_ELECTION, LAYOUT_LATCH},
  };
  enum { KINDS = sizeof kinds / sizeof *kinds };
  int wanted = w->wanted_family, first = random_below(&w->random, KINDS - 1);
  int second = first + 1 + random_below(&w->random, KINDS - 1 - first);
  for (int i = 0; i < LOCKS_MAX; i++) {
    struct lock *lock = &w->profile.locks[i];
    w->wanted_family = (int)kinds[i == 0 ? first : second].family;
    draw(w, lock, above, 0);
    lock->layout = kinds[i == 0 ? first : second].layout;
  }
  w->wanted_family = wanted;
}

int lock_of_process(struct world *w, int process) {
  if (fault_is(w, FAULT_MIXED)) return process % w->profile.lock_count;
  return random_below(&w->random, w->profile.lock_count);
}

/* Who waits for a permit needs several round trips within a lease. */
static void bound_latency(struct world *w) {
  int64_t most = w->profile.timeout / 16;
  for (int i = 0; i < w->profile.lock_count; i++)
    if (w->profile.locks[i].family == FAMILY_SEMAPHORE &&
        w->profile.latency > most)
      w->profile.latency = most;
}

/* The directories: there already, or some part of them. */
void locks_make(struct world *w) {
  struct profile *f = &w->profile;
  struct random *r = &w->random;
  bool mixed = fault_is(w, FAULT_MIXED);
  bool two = fault_is(w, FAULT_FORBIDDEN) || random_chance(r, 20) || mixed;
  bool deep = random_chance(r, 30);
  f->lock_count = two ? LOCKS_MAX : 1;
  for (int i = 0; i < f->lock_count && !mixed; i++)
    draw(w, &f->locks[i], deep ? "/team/locks" : "", i);
  if (mixed) mix(w, deep ? "/team/locks" : "");
  bound_latency(w);
  if (deep && random_chance(r, 50)) {
    leader_makes(w, "/team", false, 0, NOBODY);
    if (random_chance(r, 50)) leader_makes(w, "/team/locks", true, 0, NOBODY);
  }
  bool made = !deep || w->zoo.history.node_count == 2;
  int32_t counter = random_chance(r, 20) ? random_below(r, 1 << 20) : 0;
  if (fault_is(w, FAULT_COUNTER))
    counter = INT32_MAX - (random_chance(r, 50) ? 65538 : 2);
  const struct lock *first = &f->locks[0];
  if (made && first->family != FAMILY_BARRIER &&
      (random_chance(r, 60) || fault_is(w, FAULT_COUNTER))) {
    if (first->gates != NOBODY) leader_makes(w, first->path, true, 0, NOBODY);
    leader_makes(w, first->place, random_chance(r, 50), counter, NOBODY);
    /* Somebody's own, who will not have it deleted. */
    if (random_chance(r, 20)) {
      struct history *h = &w->zoo.history;
      h->nodes[h->node_count - 1].size = 1;
    }
    w->profile.locks[0].made = true;
  }
  if (fault_is(w, FAULT_FORBIDDEN))
    f->forbidden_path = f->locks[f->lock_count - 1].directory;
}

int lock_of_directory(const struct world *w, int path) {
  for (int i = 0; i < w->profile.lock_count; i++)
    if (w->profile.locks[i].directory == path ||
        w->profile.locks[i].gates == path)
      return i;
  return NOBODY;
}

static bool is_writer(enum role role) {
  return role == ROLE_WRITE || role == ROLE_KAZOO_LOCK;
}

static bool is_reader(enum role role) {
  return role == ROLE_READ || role == ROLE_KAZOO_READ;
}

bool node_blocks(const struct znode *own, const struct znode *other) {
  if (other->order >= own->order) return false;
  if (is_reader(own->role)) return is_writer(other->role);
  if (is_writer(own->role))
    return is_writer(other->role) || is_reader(other->role);
  return own->role == other->role &&
         (own->role == ROLE_LOCK || own->role == ROLE_LATCH);
}

bool is_ready(const struct world *w, const struct znode *node) {
  const char *name = paths_name(&w->paths, node->path);
  int lock = lock_of_directory(w, node->parent);
  return lock != NOBODY && w->profile.locks[lock].family == FAMILY_DOUBLE &&
         strcmp(name, NAME_READY) == 0;
}

int members_at(const struct world *w, int directory, int view) {
  const struct history *h = &w->zoo.history;
  int members = 0;
  for (CHILDREN(child, h, directory))
    members += node_seen(child, view) && !is_ready(w, child);
  return members;
}
