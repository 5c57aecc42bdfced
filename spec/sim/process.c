#include "process.h"

#include <string.h>

#include "world.h"

int64_t process_clock_at(const struct process *p, int64_t time) {
  if (p->drift == 0) return p->offset + time;
  return p->offset + time + time / 10000 * p->drift;
}

int64_t process_clock(const struct world *w, const struct process *p) {
  return process_clock_at(p, w->now);
}

/* When the process's clock will show `clock`. */
static int64_t time_of(const struct process *p, int64_t clock) {
  if (clock == NEVER) return NEVER;
  int64_t passed = clock - p->offset;
  if (p->drift == 0) return passed;
  int64_t time = passed / (10000 + p->drift) * 10000;
  while (process_clock_at(p, time) < clock)
    time += clock - process_clock_at(p, time);
  return time;
}

bool process_is_paused(const struct world *w, const struct process *p) {
  return w->now < p->paused_until;
}

/* The session's transport and listener. */

static bool submit(void *self, const struct op *op, const struct op *before) {
  struct process *p = self;
  struct world *w = p->world;
  if (!library_submit(w, p, op, before)) return false;
  trace(w, p->number, "sends #%llu %s", (unsigned long long)op->serial,
        op->path);
  faults_see(w, p->number, (int)op->kind);
  return true;
}

static void on_session(void *self, enum session_state state) {
  struct process *p = self;
  trace(p->world, p->number, "session: %s", session_state_name(state));
  invariants_shown(p->world, p, state);
  p->shown = state;
}

static void on_warning(void *self, const char *message, const char *path,
                       int rc) {
  const struct process *p = self;
  trace(p->world, p->number, "trouble: %s %s (%d)", message, path, rc);
}

/* Life. */

void process_reset(struct world *w, struct process *p, int number) {
  memset(p, 0, offsetof(struct process, inbox));
  p->world = w;
  p->number = number;
  p->offset = random_between(&w->random, 0, 1000 * SECOND);
  if (fault_is(w, FAULT_DRIFT)) /* nearly the lease's margin; or some */
    p->drift = random_chance(&w->random, 50)
                   ? -DRIFT_MAX
                   : (int)random_between(&w->random, -DRIFT_MAX, DRIFT_MAX);
  p->warned = random_chance(&w->random, 50);
  p->has_timer = random_chance(&w->random, 75);
  p->runs_at = p->wakes_at = NEVER;
  p->hearing = p->last_acquisition = NOBODY;
  library_reset(&p->library);
  users_reset(w, p);
  p->opens_at = world_span(w, w->profile.think);
  agenda_add(&w->agenda, p->opens_at, PROCESS_OPENS, number, 0);
}

void process_open(struct world *w, struct process *p) {
  if (p->crashed || p->open) return;
  struct transport transport = {p, submit, NULL};
  struct listener listener = {p, on_session, on_warning};
  struct session_options options = {.chroot = "", .tick = w->profile.tick_told};
  if (p->warned) options.min_timeout = w->zoo.grants[GRANTS - 1];
  p->library.least = 0;
  world_bits(w, options.random);
  p->open = true;
  p->now = process_clock(w, p);
  p->seen = 0;
  p->shown = SESSION_CONNECTING;
  session_init(&p->session, &options, &transport, &listener, p->now);
  library_open(w, p);
  process_ends(w, p);
}

static void shut(struct process *p) {
  session_close(&p->session, p->now);
  session_free(&p->session);
  p->open = false;
}

void process_close(struct world *w, struct process *p) {
  if (!p->open || p->crashed || process_is_paused(w, p)) return;
  trace(w, p->number, "closes");
  process_begins(w, p);
  shut(p);
  library_close(w, p);
  invariants_after_batch(w, p);
  p->opens_at = w->now + world_span(w, 100 * MILLISECOND);
  agenda_add(&w->agenda, p->opens_at, PROCESS_OPENS, p->number, 0);
}

/* What is freed here the system would free. */
void process_crash(struct world *w, struct process *p) {
  if (p->crashed) return;
  trace(w, p->number, "crashes");
  p->crashed = true;
  w->may_be_done = true;
  if (p->library.connection != NOBODY)
    connection_breaks(w, &w->zoo.connections[p->library.connection],
                      random_chance(&w->random, 50), true, true);
  library_leave(w, p);
  p->library.state = LIBRARY_CLOSED;
  if (p->open) shut(p);
}

/* Batches. */

bool process_puts_off(struct world *w, struct process *p, int what, int which) {
  if (!process_is_paused(w, p) && p->runs_at == NEVER) {
    if (p->open) process_begins(w, p);
    return false;
  }
  if (p->command_count == COMMANDS_MAX) {
    w->zoo.overflowed = "commands";
    return true;
  }
  p->commands[p->command_count++] = (struct command){what, which};
  return true;
}

static void take_commands(struct world *w, struct process *p) {
  for (int i = 0; i < p->command_count; i++)
    user_does(w, p, p->commands[i].what, p->commands[i].which);
  p->command_count = 0;
}

void process_begins(struct world *w, struct process *p) {
  p->now = process_clock(w, p);
  invariants_on_time(w, p);
  if (random_chance(&w->random, 25)) session_run(&p->session, p->now);
}

static void arrange(struct world *w, struct process *p) {
  int64_t due = time_of(p, session_due(&p->session));
  if (due == NEVER) return;
  if (due <= w->now) due = w->now + MICROSECOND;
  if (due >= p->wakes_at) return;
  p->wakes_at = due;
  agenda_add(&w->agenda, due, PROCESS_WAKES, p->number, 0);
}

void process_ends(struct world *w, struct process *p) {
  session_run(&p->session, p->now);
  invariants_after_batch(w, p);
  arrange(w, p);
}

static void hear(struct world *w, struct process *p, unsigned last) {
  while ((int)(last - p->inbox_first) > 0 && p->open) {
    int note = p->inbox[p->inbox_first++ % INBOX_MAX];
    p->hearing = note;
    library_hears(w, p, &w->zoo.notes[note]);
    p->hearing = NOBODY;
    /* The shell may end a batch after any note. */
    if (p->inbox_first != last && random_chance(&w->random, 20))
      session_run(&p->session, p->now);
    if (random_chance(&w->random, 10)) session_flush(&p->session);
  }
}

static void run(struct world *w, struct process *p) {
  process_begins(w, p);
  if (random_chance(&w->random, 30)) take_commands(w, p);
  hear(w, p, p->inbox_last);
  take_commands(w, p);
  if (p->open) process_ends(w, p);
}

void process_runs(struct world *w, struct process *p) {
  if (p->runs_at > w->now) return;
  p->runs_at = NEVER;
  if (process_is_paused(w, p)) return;
  if (p->open)
    run(w, p);
  else
    take_commands(w, p);
}

void process_wakes(struct world *w, struct process *p) {
  if (p->wakes_at <= w->now) p->wakes_at = NEVER;
  if (!p->open || process_is_paused(w, p)) return;
  p->now = process_clock(w, p);
  if (p->now < session_due(&p->session)) {
    arrange(w, p); /* it was due earlier once */
    return;
  }
  invariants_on_time(w, p);
  process_ends(w, p);
}

/* A stop between reading the clock and acting upon what was read before. */
static void stall(struct world *w, struct process *p) {
  p->stale_now = process_clock(w, p);
  p->stale_notes = (int)(p->inbox_last - p->inbox_first);
  process_pause(w, p, fault_while(w));
}

/* There is something in the inbox. */
static void be_woken(struct world *w, struct process *p) {
  if (p->runs_at != NEVER) return;
  bool stalls = !w->calm && fault_is(w, FAULT_STALL);
  if (stalls && random_chance(&w->random, 3)) {
    stall(w, p);
  } else if (random_chance(&w->random, 10)) {
    p->runs_at = w->now + world_span(w, 5 * MILLISECOND);
    agenda_add(&w->agenda, p->runs_at, PROCESS_RUNS, p->number, 0);
  } else {
    run(w, p);
  }
}

void process_hears(struct world *w, struct process *p, int note) {
  const struct note *n = &w->zoo.notes[note];
  const struct connection *c = &w->zoo.connections[n->connection];
  if (!p->open || !c->client_has_it) return;
  if (c->down_cut && n->kind != NOTE_CLOSED) return;
  if (p->inbox_last - p->inbox_first == INBOX_MAX)
    w->zoo.overflowed = "an inbox";
  else
    p->inbox[p->inbox_last++ % INBOX_MAX] = note;
  if (!process_is_paused(w, p)) be_woken(w, p);
}

/* Pauses. */

void process_pause(struct world *w, struct process *p, int64_t until) {
  if (p->crashed || process_is_paused(w, p)) return;
  trace(w, p->number, "is stopped until %.3f ms", (double)until / 1e6);
  p->paused_until = until;
  agenda_add(&w->agenda, until, PROCESS_RESUMES, p->number, 0);
}

void process_dozes(struct world *w, struct process *p, int64_t until) {
  if (p->crashed || process_is_paused(w, p)) return;
  p->dozed = until - w->now;
  process_pause(w, p, until);
}

/* There is no turn for nothing: it goes on with what has come, or when
 * something is due, of which a timer of its clock tells it. Without one it
 * looks within a second (src/io/clock.h). */
static void wake_up(struct world *w, struct process *p) {
  library_dozed(w, p, p->dozed);
  p->dozed = 0;
  p->now = process_clock(w, p);
  if (p->inbox_first != p->inbox_last || p->command_count > 0) {
    run(w, p);
  } else if (p->has_timer) {
    arrange(w, p);
  } else {
    p->wakes_at = w->now + world_span(w, SECOND);
    agenda_add(&w->agenda, p->wakes_at, PROCESS_WAKES, p->number, 0);
  }
}

void process_resumes(struct world *w, struct process *p) {
  if (p->crashed || process_is_paused(w, p)) return;
  trace(w, p->number, "goes on");
  p->runs_at = p->wakes_at = NEVER;
  if (p->open && p->stale_now) {
    p->now = p->stale_now;
    p->stale_now = 0;
    hear(w, p, p->inbox_first + (unsigned)p->stale_notes);
    if (p->open && random_chance(&w->random, 50))
      session_run(&p->session, p->now);
  }
  p->stale_now = 0;
  if (!p->open) {
    take_commands(w, p);
    return;
  }
  if (p->dozed) {
    wake_up(w, p);
    return;
  }
  run(w, p);
  library_looks(w, p);
  if (p->open) process_ends(w, p);
}
