/* Who waits and contends for nothing, or not any more. */
#include "stage_inside.h"

static int64_t deadline_of(const struct stage *s, struct hope hope) {
  return hope.within ? s->now + hope.within * MILLISECOND : NEVER;
}

static void set_path(struct actor *a, const char *path) {
  snprintf(a->path, sizeof a->path, "%s", path);
}

/* Vigils. */

static void hear_vigil(struct vigil *v, bool met) {
  struct actor *a = v->owner;
  if (met)
    add_text(a->told, "met");
  else
    note_end(a, "refused", v->verdict, v->reason);
  free(v);
  a->vigil = NULL;
}

struct actor *await(struct stage *s, struct hope hope) {
  static const enum vigil_kind kinds[] = {
      [GONE] = VIGIL_GONE, [THERE] = VIGIL_THERE, [CROWD] = VIGIL_CROWD};
  struct actor *a = actor_new(s);
  struct vigil *v = calloc(1, sizeof *v);
  set_path(a, hope.path ? hope.path : hope.until == CROWD ? "/lock" : "/gate");
  *v = (struct vigil){.path = a->path,
                      .kind = kinds[hope.until],
                      .known = hope.known,
                      .proves = hope.proves,
                      .patient = !hope.tries,
                      .until = deadline_of(s, hope),
                      .ended = hear_vigil,
                      .owner = a};
  a->vigil = v;
  if (!session_keep_vigil(&s->session, s->now, v))
    test_fail("no memory to wait");
  settle(s);
  return a;
}

/* Departures. */

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
    note_end(a, "refused", a->departure->verdict, a->departure->reason);
}

static void hear_forgotten(void *self) {
  struct actor *a = self;
  free(a->departure);
  a->departure = NULL;
  add_text(a->told, "forgotten");
}

struct actor *depart(struct actor *member, struct hope hope) {
  struct stage *s = member->stage;
  struct actor *a = actor_new(s);
  struct departure *d = calloc(1, sizeof *d);
  a->member = member;
  set_path(a, hope.path ? hope.path : "/lock");
  snprintf(a->own, sizeof a->own, "%s", member->contender->node.name);
  *d = (struct departure){.path = a->path,
                          .own = a->own,
                          .until = deadline_of(s, hope),
                          .patient = !hope.tries,
                          .owner = {.self = a,
                                    .release = hear_release,
                                    .ended = hear_end,
                                    .forgotten = hear_forgotten}};
  a->departure = d;
  session_depart(&s->session, s->now, d);
  settle(s);
  return a;
}

void end_waiting(struct actor *a) {
  struct stage *s = a->stage;
  if (a->vigil) session_end_vigil(&s->session, s->now, a->vigil);
  if (a->departure) session_end_departure(&s->session, s->now, a->departure);
}
