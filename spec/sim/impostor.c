#include <stdio.h>
#include <string.h>

#include "world.h"

static struct history *history_of(struct world *w) { return &w->zoo.history; }

static void act_later(struct world *w) {
  agenda_add(&w->agenda, w->now + world_span(w, w->profile.active / 6),
             IMPOSTOR_ACTS, 0, 0);
}

void impostor_reset(struct world *w) {
  struct impostor *s = &w->impostor;
  s->left = 0;
  s->session = NOBODY;
  for (int i = 0; i < IMPOSTOR_NODES; i++) s->nodes[i] = NO_NODE;
  if (!fault_is(w, FAULT_IMPOSTOR)) return;
  s->left = 2 + random_below(&w->random, 12);
  act_later(w);
}

/* Its nodes. */

static int *free_slot(struct world *w) {
  for (int i = 0; i < IMPOSTOR_NODES; i++)
    if (!history_has(history_of(w), w->impostor.nodes[i]))
      return &w->impostor.nodes[i];
  return NULL;
}

/* At this very path, and the directory's counter goes on. */
static int make(struct world *w, const char *path, bool owned) {
  struct history *h = history_of(w);
  int number = paths_number(&w->paths, path, strlen(path));
  int parent = zoo_find(w, paths_parent(&w->paths, number));
  if (parent == NO_NODE || zoo_find(w, number) != NO_NODE) return NO_NODE;
  trace(w, NOBODY, "a impostor makes %s, %s", path,
        owned ? "of its session" : "of nobody");
  if (owned) {
    int node = leader_enters(w, w->impostor.session, path, false);
    h->nodes[node].order = NOT_YET; /* it has no place among the others */
    return node;
  }
  h->nodes[parent].counter++;
  leader_makes(w, path, random_chance(&w->random, 50), 0, IMPOSTOR);
  return h->node_count - 1;
}

/* Near those that there are; or where no client's are. */
static int32_t some_number(struct world *w, const struct znode *directory) {
  struct random *r = &w->random;
  if (random_chance(r, 5)) return INT32_MAX - random_below(r, 3);
  if (random_chance(r, 5)) return -1 - random_below(r, INT32_MAX);
  int32_t number = directory->counter - 4 + random_below(r, 8);
  return number < 0 || random_chance(r, 20) ? random_below(r, 3) : number;
}

static enum role some_role(struct world *w, const struct lock *lock,
                           int directory) {
  bool reads = random_chance(&w->random, 30);
  if (lock->family == FAMILY_SEMAPHORE)
    return directory == lock->gates ? ROLE_LOCK : ROLE_PERMIT;
  if (lock->family == FAMILY_DOUBLE) return ROLE_MEMBER;
  return rule_role(lock->family != FAMILY_RWLOCK ? KIND_MUTEX
                   : reads                       ? KIND_READ
                                                 : KIND_WRITE,
                   lock->layout);
}

/* The mark of some session of ours, which anybody can read in a node's name. */
static struct name_base some_base(struct world *w) {
  const struct process *p =
      &w->processes[random_below(&w->random, w->process_count)];
  struct name_base base;
  unsigned char bits[16] = {0};
  if (p->open && random_chance(&w->random, 40)) return p->session.pipeline.base;
  for (int i = 0; i < 16; i++)
    bits[i] = (unsigned char)random_below(&w->random, 256);
  name_base_init(&base, bits);
  return base;
}

static uint64_t some_id(struct world *w, const struct name_base *base) {
  for (int i = 0; i < w->process_count; i++) {
    const struct session *s = &w->processes[i].session;
    if (memcmp(&s->pipeline.base, base, sizeof *base) == 0)
      return s->all.next_id - 2 + (uint64_t)random_below(&w->random, 5);
  }
  return 1;
}

static void spell(struct world *w, char *path, size_t size, int directory,
                  enum role role, int32_t number) {
  struct name_base base = some_base(w);
  int length = snprintf(path, size, "%.60s/", paths_text(&w->paths, directory));
  name_format(path + length, size - (size_t)length - 12, &base,
              some_id(w, &base), role);
  snprintf(path + strlen(path), 12, "%010d", (int)number);
}

static void enter(struct world *w) {
  const struct lock *lock =
      &w->profile.locks[random_below(&w->random, w->profile.lock_count)];
  int directory = lock->directory, *slot = free_slot(w);
  char path[160];
  if (lock->gates != NOBODY && random_chance(&w->random, 60))
    directory = lock->gates;
  int node = zoo_find(w, directory);
  if (node == NO_NODE || !slot || lock->family == FAMILY_BARRIER) return;
  if (lock->family == FAMILY_UNFAIR)
    snprintf(path, sizeof path, "%.60s/%s", lock->place, NAME_UNFAIR);
  else
    spell(w, path, sizeof path, directory, some_role(w, lock, directory),
          some_number(w, &history_of(w)->nodes[node]));
  *slot = make(w, path, false);
}

static int *some_slot(struct world *w) {
  int *slot = &w->impostor.nodes[random_below(&w->random, IMPOSTOR_NODES)];
  return history_has(history_of(w), *slot) ? slot : NULL;
}

static void take_away(struct world *w, int *slot) {
  trace(w, NOBODY, "a impostor takes %s away",
        paths_text(&w->paths, history_of(w)->nodes[*slot].path));
  leader_forgets(w, *slot);
}

/* In its place the same name, perhaps owned now. */
static void change(struct world *w, int *slot) {
  const char *path = paths_text(&w->paths, history_of(w)->nodes[*slot].path);
  bool owned = random_chance(&w->random, 60);
  if (w->impostor.session == NOBODY)
    w->impostor.session = leader_opens_session(w, IMPOSTOR);
  take_away(w, slot);
  *slot = make(w, path, owned);
}

/* Somebody's own node, which is nobody's then. */
static void supplant(struct world *w) {
  struct history *h = history_of(w);
  int *slot = free_slot(w);
  for (int i = h->node_count; slot && i-- > 0;) {
    const struct znode *node = &h->nodes[i];
    if (!node_is_there(node) || node->role == ROLE_FOREIGN) continue;
    if (node->role == ROLE_HOLD) continue; /* (and `holder` would stay) */
    if (random_chance(&w->random, 50)) continue;
    leader_removes(w, i);
    *slot = make(w, paths_text(&w->paths, node->path), false);
    return;
  }
}

/* The name that the next node of whoever holds a write lock would have, if it
 * downgraded. */
static void anticipate(struct world *w) {
  int *slot = free_slot(w);
  for (int i = w->acquisition_count; slot && i-- > 0;) {
    const struct acquisition *a = &w->acquisitions[i];
    const struct contender *c = a->contender;
    if (!c || a->kind != KIND_WRITE || !a->process->open ||
        !contender_has_node(c))
      continue;
    char path[160];
    int32_t number = 0;
    const struct session *s = &a->process->session;
    int length =
        snprintf(path, sizeof path, "%s/", w->profile.locks[a->lock].place);
    name_format(path + length, sizeof path - (size_t)length - 12,
                &s->pipeline.base, s->all.next_id,
                rule_role(KIND_READ, c->options.layout));
    name_parse(c->node.name, &number);
    snprintf(path + strlen(path), 12, "%010d", (int)number);
    *slot = make(w, path, false);
    return;
  }
}

/* Acting. */

void impostor_acts(struct world *w) {
  struct random *r = &w->random;
  if (w->calm || w->impostor.left-- <= 0) return;
  int *slot = some_slot(w);
  if (random_chance(r, 10))
    supplant(w);
  else if (random_chance(r, 25))
    anticipate(w);
  else if (slot && random_chance(r, 50))
    take_away(w, slot);
  else if (slot && random_chance(r, 50))
    change(w, slot);
  else
    enter(w);
  act_later(w);
}

void impostor_leaves(struct world *w) {
  for (int i = 0; i < IMPOSTOR_NODES; i++) {
    int *slot = &w->impostor.nodes[i];
    if (history_has(history_of(w), *slot)) take_away(w, slot);
  }
}
