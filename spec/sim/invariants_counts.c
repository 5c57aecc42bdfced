/* What a session has written down: it must be as it is counted anew, and no
 * watch may stand there that the library has not. */
#include "invariants.h"
#include "world.h"

/* The counts. */

struct counts {
  int entered, impatient, admitted_alone, active, holders, watches;
  uint64_t waiting, leaving, undeletable;
  size_t taken;
};

static void count_contender(struct counts *n, const struct contender *c) {
  bool exclusive = c->options.kind == KIND_UNFAIR;
  bool entered = c->state != CONTENDER_PARKED && c->state != CONTENDER_GONE;
  size_t node = quota_of_node(directory_length(&c->queue->directory));
  n->entered += entered;
  n->impatient += c->state == CONTENDER_PARKED && !c->options.patient;
  n->admitted_alone += entered && (exclusive || c->options.local_turns > 0) &&
                       (exclusive || c->state != CONTENDER_LEAVING);
  n->active += c->state != CONTENDER_GONE;
  n->holders += c->state == CONTENDER_HELD;
  n->waiting += c->state < CONTENDER_HELD;
  n->leaving += c->state == CONTENDER_LEAVING;
  n->undeletable += c->undeletable != 0;
  n->watches += c->watches_children;
  if (entered) n->taken += exclusive ? 2 * node : node;
}

/* Those of one queue are compared, those of the session added. */
static void count_queue(struct world *w, struct counts *all,
                        const struct node_waits *node_waits,
                        const struct queue *q) {
  struct counts n = {0};
  for (const struct contender *c = q->first; c; c = c->next)
    count_contender(&n, c);
  for (const struct node_wait *v = node_waits->first; v; v = v->next)
    n.watches += v->kind == NODE_WAIT_COUNT && v->queue == q;
  if (n.entered != q->entered || n.impatient != q->impatient ||
      n.admitted_alone != q->admitted_alone ||
      n.watches != q->directory.children_wanted)
    violate(w, "%s counts entered %d, impatient %d, sharing %d, watching %d",
            directory_path(&q->directory), q->entered, q->impatient,
            q->admitted_alone, q->directory.children_wanted);
  all->active += n.active;
  all->holders += n.holders;
  all->waiting += n.waiting;
  all->leaving += n.leaving;
  all->undeletable += n.undeletable;
  all->taken += n.taken;
}

static void check_counts(struct world *w, const struct process *p) {
  const struct contenders *all = &p->session.all;
  const struct counters *c = session_counters(&p->session);
  struct counts n = {0};
  for (const struct queue *q = p->session.queues.newest; q; q = q->older)
    count_queue(w, &n, &p->session.node_waits, q);
  if (n.active != all->active || n.holders != all->holders ||
      n.waiting != c->waiting || n.leaving != c->pending_releases ||
      n.undeletable != c->refused_releases)
    violate(w,
            "process %d counts active %d, holding %d, waiting %d, leaving %d, "
            "refused %d",
            p->number, all->active, all->holders, (int)c->waiting,
            (int)c->pending_releases, (int)c->refused_releases);
  if (n.taken != all->quota.taken)
    violate(w, "process %d counts %zu bytes taken", p->number,
            all->quota.taken);
  if (p->session.pipeline.step.first || p->session.pipeline.batch.first)
    violate(w, "process %d has left something to do", p->number);
}

/* The watches. */

/* Nothing is believed of a watch before a server has confirmed it, nor after it
 * was taken away: whoever relies on one that is not there may wait for ever. */
static void check_watches(struct world *w, const struct process *p) {
  const struct library *l = &p->library;
  unsigned connection = p->session.pipeline.connection;
  /* (What has not been heard yet may tell of its end.) */
  if (!session_is_connected(&p->session) || l->state != LIBRARY_CONNECTED ||
      p->inbox_first != p->inbox_last)
    return;
  for (const struct queue *q = p->session.queues.newest; q; q = q->older) {
    const struct directory *d = &q->directory;
    int parent =
        paths_number(&w->paths, directory_path(d), directory_length(d));
    if (d->children_armed_in == connection &&
        !path_set_has(&l->children, parent))
      violate(w, "process %d has no watch of the children of %s", p->number,
              directory_path(d));
    for (const struct watch *watch = d->watches.first; watch;
         watch = watch->next) {
      if (watch->armed_in != connection || watch->hidden_in == connection)
        continue;
      int path = paths_below(&w->paths, directory_path(d), directory_length(d),
                             watch->name);
      if (!path_set_has(&l->data, path) && !path_set_has(&l->missing, path))
        violate(w, "process %d has no watch of %s", p->number, watch->name);
    }
  }
}

void invariants_counts(struct world *w, const struct process *p) {
  check_counts(w, p);
  check_watches(w, p);
}
