#include "faults.h"

#include "world.h"

const char *const fault_names[FAULTS] = {
#define X(name, text, ...) [FAULT_##name] = text,
    STRIKES(X) QUIRKS(X)
#undef X
};

bool fault_is(const struct world *w, enum fault fault) {
  return w->faults.classes >> fault & 1;
}

static bool is_about_time(int fault) {
  return fault == FAULT_LINK || fault == FAULT_STOP || fault == FAULT_ELECT ||
         fault == FAULT_PAUSE || fault == FAULT_DOZE || fault == FAULT_SILENCE;
}

static bool is_for_aiming(int fault) {
  return is_about_time(fault) || fault == FAULT_CUT || fault == FAULT_DRIFT ||
         fault == FAULT_GRANT || fault == FAULT_CONFIGURE;
}

/* Every tenth schedule is one of fair weather, and every eighth is about what
 * takes longer than a session's timeout.  The others have a few classes each:
 * so that what only happens without some of them happens too.  Where it is
 * wanted all are about the lease: who holds is cut off when it has just renewed
 * it, or its leader is stopped for about as long as it takes a session to
 * expire, or the answer is lost that would tell it of a smaller timeout. */
void faults_draw(struct world *w, uint64_t allowed) {
  struct random *r = &w->random;
  struct faults *f = &w->faults;
  int percent = random_chance(r, 10) ? 0 : 5 + random_below(r, 40);
  f->aimed = w->wanted_aim;
  f->about_time = f->aimed || random_chance(r, 12);
  f->classes = 0;
  for (int i = 0; i < FAULT_GARBLE; i++) {
    int chance = percent;
    if (f->aimed)
      chance = is_for_aiming(i) ? 50 : 1;
    else if (f->about_time)
      chance = is_about_time(i) ? 30 : 3;
    if (random_chance(r, chance)) f->classes |= UINT64_C(1) << i;
  }
  /* (By the seed's number: the other cards are dealt as if it were not.) */
  if (w->seed % 8 == 0) f->classes |= FAULT_BIT(GARBLE);
  if (w->seed % 6 == 1) f->classes |= FAULT_BIT(IMPOSTOR);
  if (w->seed % 5 == 2) f->classes |= FAULT_BIT(EQUAL);
  if (w->seed % 5 == 3 && !f->aimed) f->classes |= FAULT_BIT(CONVOY);
  if (w->seed % 9 == 4 && !f->aimed) f->classes |= FAULT_BIT(DATA_LOSS);
  if (w->seed % 7 == 4) f->classes |= FAULT_BIT(REFUSE) | FAULT_BIT(FORBIDDEN);
  if (w->seed % 7 == 5)
    f->classes |= FAULT_BIT(SKIP) | FAULT_BIT(FORBIDDEN) | FAULT_BIT(ELECT);
  if (w->seed % 7 < 2) f->classes |= FAULT_BIT(THROTTLE);
  if (w->seed % 11 < 2) f->classes |= FAULT_BIT(QUOTA);
  if (w->seed % 13 < 2) f->classes |= FAULT_BIT(DENIAL);
  if (w->seed % 17 < 3) f->classes |= FAULT_BIT(REFUSAL);
  if (w->seed % 9 == 4) f->classes |= FAULT_BIT(MIXED);
  f->classes &= allowed;
  /* (Which needs three servers, and their reports cost time.) */
  if (!~allowed && random_chance(r, 70)) f->classes &= ~FAULT_BIT(OBSERVER);
  /* (Names that are alike, and numbers that repeat: a late delete hits any.) */
  if ((f->classes & FAULT_BIT(EQUAL)) && (f->classes & FAULT_BIT(COUNTER)))
    f->classes &= ~FAULT_BIT(STRAGGLE);
  /* (At the end of the counter they all break: what would they prove?) */
  if (f->classes & FAULT_BIT(COUNTER))
    f->classes &= ~(FAULT_BIT(FOREIGN) | FAULT_BIT(IMPOSTOR));
  /* (Clients that are not ours would have to bear it, too.) */
  if (f->classes & FAULT_BIT(DATA_LOSS))
    f->classes &= ~(FAULT_BIT(FOREIGN) | FAULT_BIT(IMPOSTOR));
  /* (Other libraries do not look for other kinds; no session can read the owner
   * of a node that may not be read.) */
  if (f->classes & FAULT_BIT(MIXED))
    f->classes &=
        ~(FAULT_BIT(FOREIGN) | FAULT_BIT(UNREADABLE) | FAULT_BIT(FORBIDDEN));
  f->strike_count = 0;
  f->traps = 0;
}

/* Planning. */

static int draw_strike(struct world *w) {
  int fault = random_below(&w->random, STRIKE_COUNT);
  for (int i = 0; i < STRIKE_COUNT; i++) {
    if (fault_is(w, (enum fault)fault)) return fault;
    fault = (fault + 1) % STRIKE_COUNT;
  }
  return NOBODY;
}

static void plan(struct world *w, int number) {
  static const int traps[] = {TRAP_EVENT, OP_CREATE,    OP_CREATE,  OP_CREATE,
                              OP_REMOVE,  OP_REMOVE,    OP_LIST,    OP_GET,
                              OP_MKDIR,   OP_HEARTBEAT, OP_UNWATCH, OP_EXISTS,
                              OP_NAMES};
  struct strike *strike = &w->faults.strikes[number];
  if (w->faults.aimed && random_chance(&w->random, 85)) {
    bool connect = random_chance(&w->random, 25);
    strike->trap = connect ? TRAP_CONNECT : TRAP_ROUND;
    strike->countdown =
        random_below(&w->random, connect                         ? 4
                                 : random_chance(&w->random, 50) ? 4
                                                                 : 40);
    return;
  }
  int trap_count = (int)(sizeof traps / sizeof *traps);
  if (random_chance(&w->random, 50)) {
    strike->trap = NOBODY;
    agenda_add(&w->agenda, world_span(w, w->profile.active), FAULT_STRIKES, 0,
               number);
  } else {
    strike->trap = traps[random_below(&w->random, trap_count)];
    strike->countdown = random_below(&w->random, 6);
  }
}

void faults_plan(struct world *w) {
  bool few = w->faults.aimed && random_chance(&w->random, 70);
  int wanted = random_below(&w->random, few ? 5 : STRIKES_MAX + 1);
  for (int i = 0; i < wanted; i++) {
    int fault = draw_strike(w);
    if (fault == NOBODY) return;
    w->faults.strikes[i].fault = (enum fault)fault;
    w->faults.strike_count++;
    plan(w, i);
    int trap = w->faults.strikes[i].trap;
    if (trap != NOBODY) w->faults.traps |= 1u << trap;
  }
}

void faults_see(struct world *w, int process, int trap) {
  if (w->calm || !(w->faults.traps >> trap & 1)) return;
  for (int i = 0; i < w->faults.strike_count; i++) {
    struct strike *strike = &w->faults.strikes[i];
    if (strike->trap != trap || strike->countdown-- > 0) continue;
    strike->trap = NOBODY;
    int64_t longest = 6 * w->profile.latency;
    if (trap == TRAP_ROUND || trap == TRAP_CONNECT)
      longest = random_chance(&w->random, 60) ? 0 : w->zoo.tick;
    agenda_add(&w->agenda, w->now + world_span(w, longest), FAULT_STRIKES,
               process + 1, i);
  }
}

/* Victims. */

static struct process *some_process(struct world *w, int chosen) {
  if (chosen > 0) return &w->processes[chosen - 1];
  return &w->processes[random_below(&w->random, w->process_count)];
}

static int some_follower(struct world *w) {
  if (w->zoo.server_count < 2) return NOBODY;
  int server = random_below(&w->random, w->zoo.server_count - 1);
  return server + (server >= w->zoo.leader);
}

/* An ephemeral node that is there. */
static int some_node(struct world *w) {
  const struct history *h = &w->zoo.history;
  int node = h->node_count ? random_below(&w->random, h->node_count) : 0;
  for (int i = 0; i < h->node_count; i++) {
    if (node_is_there(&h->nodes[node]) && h->nodes[node].session != NOBODY)
      return node;
    node = (node + 1) % h->node_count;
  }
  return NO_NODE;
}

/* A barrier, or a double barrier's `ready`, that is there. */
static int some_landmark(struct world *w) {
  struct history *h = &w->zoo.history;
  const struct lock *lock =
      &w->profile.locks[random_below(&w->random, w->profile.lock_count)];
  if (lock->family == FAMILY_BARRIER) return zoo_find(w, lock->directory);
  if (lock->family != FAMILY_DOUBLE) return NO_NODE;
  for (CHILDREN(child, h, lock->directory))
    if (node_is_there(child) && is_ready(w, child)) return child - h->nodes;
  return NO_NODE;
}

static int some_target(struct world *w) {
  int node = random_chance(&w->random, 40) ? some_landmark(w) : NO_NODE;
  return node == NO_NODE ? some_node(w) : node;
}

static int some_directory(struct world *w) {
  const struct lock *lock =
      &w->profile.locks[random_below(&w->random, w->profile.lock_count)];
  int path = lock->directory;
  if (lock->gates != NOBODY && random_chance(&w->random, 50)) {
    path = lock->gates;
    if (random_chance(&w->random, 50)) path = paths_parent(&w->paths, path);
  }
  return zoo_find(w, path);
}

/* Striking. */

enum { SILENT = 15 }; /* percent of the connections that break */

/* (Whatever lasts ends when the calm begins.) */
int64_t fault_while(struct world *w) {
  int64_t until = w->now + world_span(w, 2 * w->profile.timeout);
  return until < w->profile.active ? until : w->profile.active;
}

static void cut(struct world *w, struct process *p, int silent) {
  struct random *r = &w->random;
  if (p->library.connection == NOBODY) return;
  trace(w, p->number, "! the connection breaks");
  connection_breaks(w, &w->zoo.connections[p->library.connection],
                    random_chance(r, 50), random_chance(r, 50),
                    random_chance(r, silent));
}

void fault_flaps(struct world *w, struct process *p, int connection) {
  if (w->calm || p->library.connection != connection) return;
  cut(w, p, 40);
}

static void silence(struct world *w, struct process *p) {
  p->unreachable_until = fault_while(w);
  trace(w, p->number, "! no server can be reached until %.3f ms",
        (double)p->unreachable_until / 1e6);
  cut(w, p, SILENT);
}

/* About as long as it takes until the sessions are overdue, or any time. */
static int64_t while_or_timeout(struct world *w) {
  int64_t until = fault_while(w);
  if (!w->faults.about_time || random_chance(&w->random, 50)) return until;
  int64_t timeout = w->zoo.grants[random_below(&w->random, GRANTS)];
  int64_t exact = w->now + timeout / 100 * (40 + random_below(&w->random, 90));
  return exact < w->profile.active ? exact : until;
}

/* In a schedule that aims: the server of the process that it aims at. */
static int aimed_server(const struct world *w, int chosen) {
  if (!w->faults.aimed || chosen == 0) return NOBODY;
  int connection = w->processes[chosen - 1].library.connection;
  return connection == NOBODY ? NOBODY : w->zoo.connections[connection].server;
}

/* Who hands on what sessions' lives depend on: the leader, and the observer's
 * master if there is one. */
static int some_middleman(struct world *w) {
  const struct zoo *zoo = &w->zoo;
  int master = zoo->servers[zoo->server_count - 1].master;
  return master != NOBODY && random_chance(&w->random, 50) ? master
                                                           : zoo->leader;
}

/* What an observer's master may be stopped for (lease.h). */
static int64_t short_while(struct world *w) {
  int64_t until = w->now + world_span(w, w->zoo.grants[GRANTS - 1] / 20);
  return until < w->profile.active ? until : w->profile.active;
}

static void stop_server(struct world *w, int aim) {
  bool timed = w->faults.about_time || w->zoo.has_observer;
  bool middle = timed && random_chance(&w->random, 60);
  int number = middle          ? some_middleman(w)
               : aim != NOBODY ? aim
                               : random_below(&w->random, w->zoo.server_count);
  struct server *server = &w->zoo.servers[number];
  /* (A leader that is stopped again before it has done what is due:
   * lease.h.) */
  if (w->now < server->stopped_until + w->zoo.grants[GRANTS - 1] / 24) return;
  server->stopped_until =
      server->observer == NOBODY ? while_or_timeout(w) : short_while(w);
  trace(w, NOBODY, "! server %d stops until %.3f ms", number,
        (double)server->stopped_until / 1e6);
}

static void cut_off(struct world *w, int aim) {
  int server = aim == NOBODY || aim == w->zoo.leader ? some_follower(w) : aim;
  if (server == NOBODY || w->now < w->zoo.servers[server].cut_until) return;
  int64_t until = while_or_timeout(w);
  if (w->faults.aimed && until < w->now + w->profile.timeout)
    until = w->now + w->profile.timeout;
  if (until > w->profile.active) until = w->profile.active;
  trace(w, NOBODY, "! server %d is cut off from the leader until %.3f ms",
        server, (double)until / 1e6);
  server_is_cut_off(w, server, until);
}

static void configure(struct world *w) {
  int server = random_below(&w->random, w->zoo.server_count);
  if (w->zoo.servers[server].deposed) return;
  int grant = random_below(&w->random, GRANTS);
  trace(w, NOBODY, "! server %d is restarted, and grants %.0f ms", server,
        (double)w->zoo.grants[grant] / 1e6);
  server_is_configured(w, server, grant);
}

static void elect(struct world *w) {
  int server = some_follower(w);
  bool observer = w->zoo.has_observer && server == w->zoo.server_count - 1;
  if (server == NOBODY || observer) return;
  const struct server *s = &w->zoo.servers[server];
  if (w->now < s->cut_until || w->now < s->stopped_until) return;
  trace(w, NOBODY, "! server %d is the new leader", server);
  zoo_elects(w, server, fault_while(w));
}

static void put_to_sleep(struct world *w) {
  int server = some_follower(w);
  if (server == NOBODY) return;
  trace(w, NOBODY, "! the commit processor of server %d sleeps", server);
  w->zoo.servers[server].asleep = true;
}

static void force(struct world *w, const struct process *p) {
  if (p->library.session == NOBODY) return;
  trace(w, p->number, "! somebody closes its session");
  leader_closes_session(w, p->library.session, true);
}

static void remove_node(struct world *w) {
  int node = some_target(w);
  if (node == NO_NODE) return;
  trace(w, NOBODY, "! an operator deletes %s",
        paths_text(&w->paths, w->zoo.history.nodes[node].path));
  leader_removes(w, node);
}

static void remove_all(struct world *w) {
  int node = some_directory(w);
  if (node == NO_NODE) return;
  trace(w, NOBODY, "! an operator deletes a directory");
  leader_removes_directory(w, node);
}

static void write(struct world *w, bool revoke) {
  int node = some_target(w);
  if (node == NO_NODE) return;
  trace(w, NOBODY, "! an operator %s %s", revoke ? "asks for" : "writes",
        paths_text(&w->paths, w->zoo.history.nodes[node].path));
  leader_writes(w, node, revoke);
}

void fault_strikes(struct world *w, int number, int chosen) {
  struct process *p = some_process(w, chosen);
  if (w->calm) return;
  switch (w->faults.strikes[number].fault) {
#define X(name, text, act) \
  case FAULT_##name:       \
    act;                   \
    break;
    STRIKES(X)
#undef X
    default:
      break;
  }
}
