#include "foreign.h"

#include <stdio.h>
#include <string.h>

#include "world.h"

static struct znode *node_at(struct world *w, int node) {
  return &w->zoo.history.nodes[node];
}

static void act_later(struct world *w, int number, int64_t longest) {
  agenda_add(&w->agenda, w->now + MICROSECOND + world_span(w, longest),
             FOREIGN_ACTS, number, 0);
}

void foreign_reset(struct world *w) {
  for (int i = 0; i < FOREIGNERS_MAX; i++) {
    struct foreigner *f = &w->foreigners[i];
    memset(f, 0, sizeof *f);
    f->session = NOBODY;
    f->node = f->gate = NO_NODE;
    if (!fault_is(w, FAULT_FOREIGN)) continue;
    f->left = random_below(&w->random, 4);
    if (f->left) act_later(w, i, w->profile.think);
  }
}

/* Its nodes. */

/* A node `<directory>/<base><id>-lock-`, and a number. */
static int enter(struct world *w, const struct foreigner *f, int directory,
                 enum role role, const struct znode *writer) {
  struct name_base base;
  unsigned char bits[16];
  char path[160];
  uint64_t id = 1;
  world_bits(w, bits);
  name_base_init(&base, bits);
  if (fault_is(w, FAULT_EQUAL)) id += (uint64_t)random_below(&w->random, 6);
  leader_makes_directory(w, directory);
  int length =
      snprintf(path, sizeof path, "%.60s/", paths_text(&w->paths, directory));
  name_format(path + length, sizeof path - (size_t)length, &base, id, role);
  if (writer) snprintf(path + strlen(path), 12, "%010d", (int)writer->sequence);
  return leader_enters(w, f->session, path, !writer);
}

static void leave(struct world *w, int *node) {
  if (history_has(&w->zoo.history, *node)) leader_forgets(w, *node);
  *node = NO_NODE;
}

static void rest(struct world *w, struct foreigner *f) {
  leave(w, &f->node);
  leave(w, &f->gate);
  f->state = FOREIGN_IDLE;
}

/* Killed: all of its nodes go at once. */
static void die(struct world *w, struct foreigner *f) {
  trace(w, NOBODY, "a foreign client dies");
  leader_closes_session(w, f->session, false);
  f->session = NOBODY;
  f->node = f->gate = NO_NODE;
  f->state = FOREIGN_IDLE;
}

/* Its rules. */

static bool is_first(struct world *w, int own) {
  const struct history *h = &w->zoo.history;
  const struct znode *node = &h->nodes[own];
  for (CHILDREN(child, h, node->parent))
    if (child != node && node_is_there(child) && node_blocks(node, child))
      return false;
  return true;
}

static int permits_of(struct world *w, const struct lock *lock, bool foreign) {
  const struct history *h = &w->zoo.history;
  int count = 0;
  for (CHILDREN(node, h, lock->directory)) {
    if (node->role != ROLE_PERMIT || !node_is_there(node)) continue;
    count += !foreign || w->zoo.sessions[node->session].client >= PROCESSES_MAX;
  }
  return count;
}

static void hold(struct world *w, struct foreigner *f) {
  const struct lock *lock = &w->profile.locks[f->lock];
  enum role role = node_at(w, f->node)->role;
  bool reads = role == ROLE_READ || role == ROLE_KAZOO_READ;
  trace(w, NOBODY, "a foreign client holds %s",
        paths_text(&w->paths, node_at(w, f->node)->path));
  f->state = FOREIGN_HOLDING;
  leave(w, &f->gate);
  invariants_foreign(w, f->lock, reads,
                     role == ROLE_PERMIT ? permits_of(w, lock, true) : 0);
}

static enum role role_of(struct world *w, const struct lock *lock) {
  bool reads = random_chance(&w->random, 50);
  switch (lock->family) {
    case FAMILY_RWLOCK:
      return rule_role(reads ? KIND_READ : KIND_WRITE, lock->layout);
    case FAMILY_SEMAPHORE:
      return ROLE_LOCK;
    default:
      return rule_role(KIND_MUTEX, lock->layout);
  }
}

/* The members of a double barrier: their nodes are no contenders.  (Curator takes
 * `ready` away when it leaves: also if it waits for nobody, and also if it is
 * another's by then.) */

static int enter_barrier(struct world *w, const struct foreigner *f,
                         const struct lock *lock) {
  char path[160];
  uint64_t one = random_next(&w->random), other = random_next(&w->random);
  leader_makes_directory(w, lock->directory);
  snprintf(path, sizeof path, "%.60s/%08x-%04x-%012llx", lock->place,
           (unsigned)(one >> 32), (unsigned)(one & 0xffff),
           (unsigned long long)(other >> 16));
  return leader_enters(w, f->session, path, false);
}

static int ready_of(struct world *w, const struct lock *lock) {
  return zoo_find(w, paths_below(&w->paths, lock->place, strlen(lock->place),
                                 NAME_READY));
}

static int members_of(struct world *w, const struct lock *lock) {
  return members_at(w, lock->directory, w->zoo.history.log_count);
}

static void shut(struct world *w, const struct lock *lock) {
  int ready = ready_of(w, lock);
  if (ready == NO_NODE) return;
  trace(w, NOBODY, "a foreign client takes %s away", NAME_READY);
  leader_forgets(w, ready);
}

/* It leaves at once, and does not wait for the others. */
static void hurry(struct world *w, struct foreigner *f) {
  shut(w, &w->profile.locks[f->lock]);
  rest(w, f);
}

static void gather(struct world *w, struct foreigner *f) {
  const struct lock *lock = &w->profile.locks[f->lock];
  if (w->now >= f->patience || !history_has(&w->zoo.history, f->node)) {
    rest(w, f);
    return;
  }
  if (ready_of(w, lock) == NO_NODE) {
    char path[LOCK_PATH_MAX + sizeof NAME_READY];
    if (members_of(w, lock) < lock->permits) return;
    snprintf(path, sizeof path, "%s/%s", lock->place, NAME_READY);
    trace(w, NOBODY, "a foreign client makes %s", path);
    leader_makes(w, path, false, 0, w->zoo.sessions[f->session].client);
  }
  f->holds += w->now;
  f->state = FOREIGN_HOLDING;
  if (random_chance(&w->random, 25)) hurry(w, f);
}

static void depart(struct world *w, struct foreigner *f) {
  const struct lock *lock = &w->profile.locks[f->lock];
  if (f->state == FOREIGN_HOLDING) {
    if (w->now < f->holds && history_has(&w->zoo.history, f->node)) return;
    leave(w, &f->node);
    f->patience = w->now + world_span(w, w->profile.timeout);
    f->state = FOREIGN_LEAVING;
  } else if (f->state == FOREIGN_LEAVING) {
    if (members_of(w, lock) == 0)
      f->state = FOREIGN_SHUTTING;
    else if (w->now >= f->patience)
      rest(w, f);
  } else {
    hurry(w, f);
  }
}

static void begin(struct world *w, int number) {
  struct foreigner *f = &w->foreigners[number];
  if (f->left-- == 0) return;
  f->lock = random_below(&w->random, w->profile.lock_count);
  const struct lock *lock = &w->profile.locks[f->lock];
  if (lock->family == FAMILY_UNFAIR || lock->family == FAMILY_BARRIER ||
      w->calm || w->acquisition_count == 0)
    return;
  if (f->session == NOBODY)
    f->session = leader_opens_session(w, FOREIGNERS + number);
  f->patience = w->now + world_span(w, 2 * w->profile.timeout);
  f->holds = world_span(w, w->profile.hold);
  bool semaphore = lock->family == FAMILY_SEMAPHORE;
  int node = lock->family == FAMILY_DOUBLE
                 ? enter_barrier(w, f, lock)
                 : enter(w, f, semaphore ? lock->gates : lock->directory,
                         role_of(w, lock), NULL);
  if (node == NO_NODE) return;
  trace(w, NOBODY, "a foreign client enters %s",
        paths_text(&w->paths, node_at(w, node)->path));
  if (semaphore)
    f->gate = node;
  else
    f->node = node;
  f->state = semaphore ? FOREIGN_OUTSIDE : FOREIGN_WAITING;
}

static void go_on(struct world *w, struct foreigner *f) {
  struct lock *lock = &w->profile.locks[f->lock];
  bool inside = f->gate != NO_NODE;
  if (w->now >= f->patience ||
      (inside ? !history_has(&w->zoo.history, f->gate)
              : !history_has(&w->zoo.history, f->node))) {
    rest(w, f);
  } else if (f->state == FOREIGN_OUTSIDE) {
    if (!is_first(w, f->gate)) return;
    f->node = enter(w, f, lock->directory, ROLE_PERMIT, NULL);
    if (f->node == NO_NODE)
      rest(w, f);
    else
      f->state = FOREIGN_WAITING;
  } else if (!history_has(&w->zoo.history, f->node)) {
    rest(w, f);
  } else if (inside ? permits_of(w, lock, false) <= lock->permits
                    : is_first(w, f->node)) {
    f->holds += w->now;
    hold(w, f);
  }
}

/* A reader with the writer's number, and then the writer goes. */
static void downgrade(struct world *w, struct foreigner *f) {
  const struct znode *writer = node_at(w, f->node);
  const struct lock *lock = &w->profile.locks[f->lock];
  if (writer->role != ROLE_WRITE && lock->family != FAMILY_RWLOCK) return;
  if (writer->role == ROLE_READ || writer->role == ROLE_KAZOO_READ) return;
  int reader =
      enter(w, f, lock->directory, rule_role(KIND_READ, lock->layout), writer);
  if (reader == NO_NODE) return;
  trace(w, NOBODY, "a foreign client downgrades");
  leave(w, &f->node);
  f->node = reader;
}

void foreign_acts(struct world *w, int number) {
  struct foreigner *f = &w->foreigners[number];
  if (f->session != NOBODY && random_chance(&w->random, 3)) die(w, f);
  bool gathers = f->state != FOREIGN_IDLE &&
                 w->profile.locks[f->lock].family == FAMILY_DOUBLE;
  switch (f->state) {
    case FOREIGN_IDLE:
      begin(w, number);
      if (f->state == FOREIGN_IDLE && f->left <= 0) return;
      break;
    case FOREIGN_OUTSIDE:
    case FOREIGN_WAITING:
      (gathers ? gather : go_on)(w, f);
      break;
    case FOREIGN_LEAVING:
    case FOREIGN_SHUTTING:
      depart(w, f);
      break;
    case FOREIGN_HOLDING:
      if (gathers)
        depart(w, f);
      else if (w->now >= f->holds || !history_has(&w->zoo.history, f->node))
        rest(w, f);
      else if (random_chance(&w->random, 20))
        downgrade(w, f);
      break;
  }
  act_later(w, number, w->profile.timeout / 10);
}
