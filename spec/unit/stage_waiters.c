/* Who waits and contends for nothing, or not any more. */
#include "stage_inside.h"

/* Node waits. */

static void hear_node_wait(struct node_wait *v, bool met) {
  struct actor *a = v->owner;
  if (met)
    add_text(a->told, "met");
  else
    note_end(a, "refused", v->refusal_code, v->reason);
  free(v);
  a->node_wait = NULL;
}

struct actor *await(struct stage *s, bool crowd) {
  struct actor *a = actor_new(s);
  struct node_wait *v = calloc(1, sizeof *v);
  *v = (struct node_wait){.path = crowd ? "/lock" : "/gate",
                          .kind = crowd ? NODE_WAIT_CROWD : NODE_WAIT_GONE,
                          .patient = true,
                          .until = NEVER,
                          .ended = hear_node_wait,
                          .owner = a};
  a->node_wait = v;
  if (!session_keep_node_wait(&s->session, s->now, v))
    test_fail("no memory to wait");
  settle(s);
  return a;
}

/* Barrier leaves. */

static void hear_release(void *self) {
  const struct actor *a = self;
  struct stage *s = a->stage;
  if (a->member->contender)
    session_release(&s->session, s->now, a->member->contender);
}

static void hear_end(void *self, bool all) {
  struct actor *a = self;
  if (all)
    add_text(a->told, "all left");
  else
    note_end(a, "refused", a->barrier_leave->refusal_code,
             a->barrier_leave->reason);
}

static void hear_forgotten(void *self) {
  struct actor *a = self;
  free(a->barrier_leave);
  a->barrier_leave = NULL;
  add_text(a->told, "forgotten");
}

struct actor *depart(struct actor *member) {
  struct stage *s = member->stage;
  struct actor *a = actor_new(s);
  struct barrier_leave *d = calloc(1, sizeof *d);
  a->member = member;
  snprintf(a->own, sizeof a->own, "%s", member->contender->node.name);
  *d = (struct barrier_leave){.path = "/lock",
                              .own = a->own,
                              .until = NEVER,
                              .patient = true,
                              .owner = {.self = a,
                                        .release = hear_release,
                                        .ended = hear_end,
                                        .forgotten = hear_forgotten}};
  a->barrier_leave = d;
  session_depart(&s->session, s->now, d);
  settle(s);
  return a;
}

void end_waiting(struct actor *a) {
  struct stage *s = a->stage;
  if (a->node_wait) session_end_node_wait(&s->session, s->now, a->node_wait);
  if (a->barrier_leave)
    session_end_barrier_leave(&s->session, s->now, a->barrier_leave);
}
