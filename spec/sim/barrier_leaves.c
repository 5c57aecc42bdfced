#include <string.h>

#include "world.h"

bool leavings_are_over(const struct world *w, const struct process *p) {
  for (int i = 0; i < w->leaving_count; i++)
    if (w->leavings[i].process == p && !w->leavings[i].forgotten) return false;
  return true;
}

static void release(void *self) {
  struct leaving *l = self;
  struct world *w = l->process->world;
  struct acquisition *a = &w->acquisitions[l->acquisition];
  if (a->lost || a->released || !a->contender) return;
  trace(w, l->process->number, "* {%d} releases (%d)", l->number,
        l->acquisition);
  a->released = true;
  session_release(&l->process->session, l->process->now, a->contender);
}

static void ended(void *self, bool all) {
  struct leaving *l = self;
  struct world *w = l->process->world;
  bool again = l->ended;
  l->ended = true;
  if (l->process->crashed) return;
  trace(w, l->process->number, "* {%d} %s (%d)", l->number,
        all ? "has left with all others" : "waits no more",
        all ? 0 : (int)l->barrier_leave.wait.refusal_code);
  if (again) violate(w, "{%d} ends twice", l->number);
  invariants_departed(w, l, all);
  user_has_left(w, l->acquisition);
}

static void forgotten(void *self) {
  struct leaving *l = self;
  l->forgotten = true;
  l->process->world->may_be_done = true;
}

/* (What has its very name, whoever has made it, it takes for its own.) */
static bool is_own(const struct world *w, const struct leaving *l,
                   const struct znode *node) {
  const char *name = paths_name(&w->paths, node->path);
  return strcmp(name, l->own) == 0;
}

static void note_members(struct world *w, struct leaving *l) {
  const struct history *h = &w->zoo.history;
  const struct acquisition *a = &w->acquisitions[l->acquisition];
  for (CHILDREN(node, h, w->profile.locks[a->lock].directory)) {
    int number = (int)(node - h->nodes);
    if (!is_own(w, l, node) && node_is_there(node) && !is_ready(w, node))
      l->members[number / 64] |= UINT64_C(1) << (number % 64);
  }
}

bool leaving_begins(struct world *w, struct process *p, int acquisition) {
  struct random *r = &w->random;
  struct acquisition *a = &w->acquisitions[acquisition];
  if (w->leaving_count == LEAVINGS_MAX) return false;
  struct leaving *l = &w->leavings[w->leaving_count];
  memset(l, 0, sizeof *l);
  l->number = w->leaving_count++;
  l->process = p;
  l->acquisition = acquisition;
  l->begun_at = w->now;
  strcpy(l->own, a->contender->node.name);
  note_members(w, l);
  l->barrier_leave =
      (struct barrier_leave){.wait = {.path = w->profile.locks[a->lock].place,
                                      .until = NEVER,
                                      .patient = true},
                             .own = l->own,
                             .owner = {.self = l,
                                       .release = release,
                                       .ended = ended,
                                       .forgotten = forgotten}};
  if (!w->profile.concert) {
    l->barrier_leave.wait.patient = random_chance(r, 85);
    if (random_chance(r, 50))
      l->barrier_leave.wait.until =
          p->now + world_span(w, 2 * w->profile.timeout);
  }
  trace(w, p->number, "{%d} departs from %s, (%d)%s%s", l->number,
        l->barrier_leave.wait.path, acquisition,
        l->barrier_leave.wait.patient ? "" : ", waits for nobody",
        l->barrier_leave.wait.until == NEVER ? "" : ", with a deadline");
  barrier_leave_prepare(&l->barrier_leave);
  session_begin_node_wait(&p->session, p->now, &l->barrier_leave.wait);
  return true;
}

void leaving_is_cancelled(struct world *w, struct process *p, int number) {
  struct leaving *l = &w->leavings[number];
  if (l->ended) return;
  trace(w, p->number, "cancels {%d}", number);
  l->cancelled = true;
  session_end_node_wait(&p->session, p->now, &l->barrier_leave.wait);
}
