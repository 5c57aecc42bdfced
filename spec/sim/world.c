#include "world.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "memory.h"

int64_t world_span(struct world *w, int64_t longest) {
  if (w->profile.stretched && random_chance(&w->random, 75))
    return random_between(&w->random, 0, longest);
  return random_span(&w->random, 0, longest);
}

void world_bits(struct world *w, unsigned char bits[16]) {
  for (int i = 0; i < 16; i += 8) {
    uint64_t random = random_next(&w->random);
    memcpy(bits + i, &random, sizeof random);
  }
  if (fault_is(w, FAULT_EQUAL) && bits[0] % 8 > 0) memset(bits + 11, 7, 5);
}

void violate(struct world *w, const char *format, ...) {
  char text[300];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  trace(w, NOBODY, "VIOLATION: %s", text);
  if (!w->violation[0])
    snprintf(w->violation, sizeof w->violation, "%.3f ms: %s",
             (double)w->now / 1e6, text);
}

void write_trace(struct world *w, int process, const char *format, ...) {
  va_list arguments;
  printf("%12.3f ms  ", (double)w->now / 1e6);
  if (process == NOBODY)
    printf("     ");
  else
    printf("[%d]  ", process);
  va_start(arguments, format);
  vprintf(format, arguments);
  va_end(arguments);
  putchar('\n');
}

/* Making a world. */

/* Two ticks are what a server grants at least; behind an observer's master
 * five are what a session needs (lease.h). */
static void draw_grants(struct world *w) {
  struct zoo *zoo = &w->zoo;
  struct random *r = &w->random;
  bool vary = fault_is(w, FAULT_GRANT);
  int least = 2;
  if (fault_is(w, FAULT_OBSERVER) && zoo->server_count > 2) {
    /* The last server is one, behind a follower. */
    int observer = zoo->server_count - 1;
    int master = 1 + random_below(r, observer - 1);
    zoo->has_observer = true;
    zoo->servers[observer].master = master;
    zoo->servers[master].observer = observer;
    least = 5;
    w->profile.tick_told *= 2;
  }
  zoo->grants[0] = w->profile.timeout;
  for (int i = 1; i < GRANTS; i++) {
    int ticks = (int)(zoo->grants[i - 1] / zoo->tick);
    zoo->grants[i] = zoo->grants[i - 1];
    if (vary) zoo->grants[i] = zoo->tick * random_between(r, least, ticks);
  }
  if (!vary) return;
  for (int i = 0; i < zoo->server_count; i++)
    zoo->servers[i].grant = random_below(r, GRANTS);
}

/* Of one version, or in the midst of an upgrade. */
static void draw_privacy(struct world *w) {
  struct random *r = &w->random;
  if (!w->profile.unreadable) return;
  bool mixed = random_chance(r, 20);
  enum privacy all = (enum privacy)random_below(r, PRIVACIES);
  for (int i = 0; i < w->zoo.server_count; i++)
    w->zoo.servers[i].privacy =
        mixed ? (enum privacy)random_below(r, PRIVACIES) : all;
}

static void draw_profile(struct world *w) {
  struct profile *f = &w->profile;
  struct random *r = &w->random;
  int64_t tick = 500 * MILLISECOND * (1 + random_below(r, 4));
  bool slow = fault_is(w, FAULT_SLOW);
  bool observer = fault_is(w, FAULT_OBSERVER);
  memset(f, 0, sizeof *f);
  f->stretched = w->faults.about_time || random_chance(r, 10);
  f->latency = slow ? random_between(r, 5, 200) * MILLISECOND
                    : random_between(r, 200, 2000) * MICROSECOND;
  /* Two ticks are the least that a server grants, and the least sure. */
  bool least = w->faults.about_time && random_chance(r, 60);
  f->timeout = tick * (least ? 2 : 2 + random_below(r, 4));
  if (observer || fault_is(w, FAULT_GRANT))
    f->timeout = tick * (5 + random_below(r, 5));
  if (random_chance(r, 50)) {
    f->tick_told = tick;
    if (!least) f->timeout *= 1 + random_below(r, 3);
  }
  f->active = f->timeout / 4 + world_span(w, 4 * f->timeout);
  if (f->stretched) f->active += 2 * f->timeout;
  int64_t longest = f->stretched ? 2 * f->timeout : f->timeout / 4;
  f->hold = f->timeout / 40 + world_span(w, longest);
  f->think = f->timeout / 40 + world_span(w, longest);
  if (w->faults.about_time) f->think += 2 * f->timeout;
  if (w->faults.aimed) {
    f->active = 2 * f->timeout + world_span(w, 3 * f->timeout);
    f->hold = 2 * f->timeout + world_span(w, 2 * f->timeout);
    f->think = f->timeout / 8;
  }
  if (fault_is(w, FAULT_CONVOY)) {
    static const int messages[] = {0, 1, 6, 20};
    f->hold = messages[random_below(r, 4)] * f->latency;
    f->think = messages[random_below(r, 2)] * f->latency;
  }
  if (fault_is(w, FAULT_SKIP)) {
    f->active += 2 * f->timeout;
    f->hold = 3 * f->timeout;
  }
  f->forbidden_path = NOBODY;
  if (fault_is(w, FAULT_MEMORY)) {
    f->submit_fails = random_below(r, 15);
    memory_fails(r, random_below(r, 20));
  }
  if (fault_is(w, FAULT_UNREADABLE))
    f->unreadable = (unsigned)random_below(r, 1 << CLIENTS);
  zoo_reset(w, 1 + random_below(r, random_chance(r, 20) ? SERVERS_MAX : 3),
            tick);
  w->zoo.no_containers = fault_is(w, FAULT_OLD);
  draw_privacy(w);
  draw_grants(w);
}

static void set_lags(struct world *w) {
  if (!fault_is(w, FAULT_LAG)) return;
  for (int i = 0; i < w->zoo.server_count; i++)
    if (random_chance(&w->random, 60))
      w->zoo.servers[i].lag = random_between(&w->random, 1, w->zoo.tick);
}

static void make(struct world *w, uint64_t seed, uint64_t allowed) {
  w->seed = seed;
  w->random.state = seed * UINT64_C(0x2545f4914f6cdd1d) + 1;
  w->now = 0;
  w->events = 0;
  w->calm = false;
  w->bound = w->decided_at = 0;
  w->ends_at = NEVER;
  w->violation[0] = '\0';
  w->acquisition_count = w->first_alive = 0;
  w->wait_count = w->leaving_count = 0;
  w->may_be_done = false;
  memory_reset();
  agenda_reset(&w->agenda);
  paths_reset(&w->paths);
  faults_draw(w, allowed);
  draw_profile(w);
  set_lags(w);
  locks_make(w);
  foreign_reset(w);
  impostor_reset(w);
  barriers_reset(w);
  bool few = w->faults.about_time || fault_is(w, FAULT_SKIP);
  w->process_count = 1 + random_below(&w->random, few ? 2 : PROCESSES_MAX);
  for (int i = 0; i < w->process_count; i++)
    process_reset(w, &w->processes[i], i);
  users_decide_concert(w);
  faults_plan(w);
  data_loss_plan(w);
  w->bound += w->profile.active + 20 * w->profile.timeout;
  agenda_add(&w->agenda, w->profile.active, CALM_BEGINS, 0, 0);
}

static void describe(const struct world *w) {
  if (!w->tracing) return;
  printf(
      "seed %llu: %d processes, %d servers, timeout %.0f ms, tick %.0f ms"
      " (told: %.0f ms), latency %.1f ms, faults until %.0f ms:",
      (unsigned long long)w->seed, w->process_count, w->zoo.server_count,
      (double)w->profile.timeout / 1e6, (double)w->zoo.tick / 1e6,
      (double)w->profile.tick_told / 1e6, (double)w->profile.latency / 1e6,
      (double)w->profile.active / 1e6);
  for (int i = 0; i < FAULTS; i++)
    if (fault_is(w, (enum fault)i)) printf(" %s", fault_names[i]);
  putchar('\n');
}

/* Faults stop; those that last have come to their end (faults.c). */
static void calm(struct world *w) {
  trace(w, NOBODY, "nothing goes wrong any more");
  w->calm = true;
  w->calm_since = w->now;
  memory_fails(NULL, 0);
  impostor_leaves(w);
  barriers_leave(w);
  for (int i = 0; i < w->zoo.server_count; i++) w->zoo.servers[i].lag = 0;
}

/* Running. */

static void happen(struct world *w, const struct happening *h) {
  int who = h->who, which = h->which;
  /* (Only where it is a process.) */
  struct process *p = &w->processes[who % PROCESSES_MAX];
  switch ((enum what)h->what) {
#define X(what, act) \
  case what:         \
    act;             \
    break;
    HAPPENINGS(X)
#undef X
  }
}

static bool all_done(const struct world *w) {
  for (int i = 0; i < w->process_count; i++)
    if (!users_are_done(w, &w->processes[i])) return false;
  return true;
}

static void check_bounds(struct world *w) {
  const char *overflowed = w->zoo.overflowed;
  if (w->agenda.overflowed) overflowed = "the agenda";
  if (w->paths.overflowed) overflowed = "paths";
  if (w->zoo.history.overflowed) overflowed = "the history";
  if (overflowed) violate(w, "the simulator has too little: %s", overflowed);
  if (w->now > w->bound && w->now > w->decided_at + 20 * w->profile.timeout)
    violate(w, "somebody still waits: stuck");
  if (w->events > EVENTS_MAX) violate(w, "there is no end to it");
}

static bool any_late_create_possible(const struct world *w) {
  for (int i = 0; i < w->process_count; i++)
    if (w->processes[i].open &&
        w->processes[i].session.all.late_list_at != NEVER)
      return true;
  return false;
}

/* What is on its way when everybody has finished must do no harm; and an
 * idle session must not die. */
static void settle(struct world *w) {
  if (!w->may_be_done || w->ends_at != NEVER) return;
  w->may_be_done = false;
  if (!all_done(w)) return;
  trace(w, NOBODY, "everybody has finished");
  w->ends_at = w->now + 20 * w->profile.latency;
  if (random_chance(&w->random, 5)) w->ends_at += 2 * w->profile.timeout;
  if (!fault_is(w, FAULT_STRAGGLE) && !any_late_create_possible(w)) return;
  /* (A node that was made late is found and deleted by then.) */
  if (w->ends_at < w->profile.active) w->ends_at = w->profile.active;
  w->ends_at += 4 * w->profile.timeout;
}

static void finish(struct world *w) {
  for (int i = 0; i < w->process_count; i++) {
    struct process *p = &w->processes[i];
    if (!p->open) continue;
    session_close(&p->session, p->now);
    session_free(&p->session);
    p->open = false;
  }
}

bool world_run(struct world *w, uint64_t seed, uint64_t allowed) {
  struct happening next;
  make(w, seed, allowed);
  describe(w);
  while (!w->violation[0] && agenda_next(&w->agenda, &next)) {
    w->now = happens_at(&next);
    if (w->now > w->ends_at) break;
    w->events++;
    happen(w, &next);
    if (w->events % 8 == 0) check_bounds(w);
    settle(w);
  }
  if (!w->violation[0]) invariants_at_end(w);
  if (w->violation[0]) return false;
  finish(w);
  if (memory_pieces() > 0) violate(w, "memory is left: %d", memory_pieces());
  return !w->violation[0];
}
