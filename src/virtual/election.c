#include "election.h"

#include "apply.h"
#include "follower.h"
#include "leader.h"
#include "log.h"
#include "peers.h"
#include "server.h"

/* Elects the leader, and makes the other servers follow it. As in ZooKeeper,
 * the server with the newest transaction becomes the leader. If several servers
 * have that transaction, the one with the highest number does. A leader begins
 * to serve when a majority has its whole log. */

static bool takes_part(const struct server *s, int group) {
  return s->running && !s->paused && s->group == group;
}

/* Returns the leader that this server can follow, or NULL. The leader must be
 * in the server's group (partition), and its epoch not older than the server's.
 * If several qualify, returns the one with the newest epoch. */
static struct server *leader_for(const struct server *server) {
  struct ensemble *e = server->ensemble;
  struct server *leader = NULL;
  for (int i = 0; i < e->settings.servers; i++) {
    struct server *s = &e->servers[i];
    if (takes_part(s, server->group) && s->role == LEADING &&
        s->epoch >= server->epoch && (!leader || s->epoch > leader->epoch))
      leader = s;
  }
  return leader;
}

static bool has_none(const struct server *s, int group) {
  return takes_part(s, group) && s->role == LOOKING && !leader_for(s);
}

/* Returns true if this group can elect a leader. Its voting servers without a
 * leader must be a majority of the ensemble. */
static bool can_elect(const struct ensemble *e, int group) {
  int count = 0;
  for (int i = 0; i < e->settings.servers; i++)
    count += has_none(&e->servers[i], group) && !e->servers[i].observer;
  return count >= majority_of(e);
}

static bool is_better(const struct ensemble *e, const struct server *a,
                      const struct server *b) {
  if (!b || log_last(a) != log_last(b)) return !b || log_last(a) > log_last(b);
  if (b->number == e->candidate) return false;
  return a->number == e->candidate || a->number > b->number;
}

static void join(struct server *server, struct server *leader, int64_t now) {
  follower_begins(server, leader, now);
  if (!leader->serving) return;
  apply_until(server, leader->committed, now);
  server->committed = leader->committed;
  int64_t begin = leader->epoch << 32;
  if (server->tree->zxid < begin) server->tree->zxid = begin;
  if (server->logged < begin) server->logged = begin;
  server->acknowledged = server->logged;
  server->serving = true;
  leader_commits(leader, now);
}

/* Makes a leader serve clients once a majority of the servers has joined it. */
static void try_begin(struct server *leader, int64_t now) {
  struct ensemble *e = leader->ensemble;
  int joined = 1;
  for (int i = 0; i < e->settings.servers; i++)
    joined += peers_follows(&e->servers[i], leader) && !e->servers[i].observer;
  if (leader->serving || joined < majority_of(e)) return;
  leader_begins(leader, now);
  for (int i = 0; i < e->settings.servers; i++)
    if (peers_follows(&e->servers[i], leader))
      join(&e->servers[i], leader, now);
}

static void find_leader(void *self, int64_t now) {
  struct server *server = self;
  if (!server->running || server->paused || server->role != LOOKING) return;
  struct server *leader = leader_for(server);
  if (!leader) return;
  join(server, leader, now);
  try_begin(leader, now);
}

static void lead(struct server *server, int64_t now) {
  struct ensemble *e = server->ensemble;
  server->epoch = ++e->epoch;
  server->role = LEADING;
  server->leader = NULL;
  lane_clear(&server->disk);
  server->logged = log_last(server);
  follower_wakes(server, now);
}

static void elect(void *self, int64_t now) {
  struct ensemble *e = self;
  for (int i = 0; i < e->settings.servers; i++) {
    int group = e->servers[i].group;
    struct server *best = NULL;
    if (!can_elect(e, group)) continue;
    for (int j = 0; j < e->settings.servers; j++) {
      struct server *s = &e->servers[j];
      if (has_none(s, group) && !s->observer && is_better(e, s, best)) best = s;
    }
    if (!best) continue;
    lead(best, now);
    try_begin(best, now);
    e->candidate = -1;
    break;
  }
  election_considers(e, now);
}

void election_considers(struct ensemble *e, int64_t now) {
  bool wanted = false;
  for (int i = 0; i < e->settings.servers; i++) {
    struct server *s = &e->servers[i];
    if (!s->running || s->paused || s->role != LOOKING) continue;
    if (leader_for(s))
      alarm_set(&e->agenda, &s->joining,
                now + 4 * latency_of(e, &e->settings.server));
    else
      wanted |= can_elect(e, s->group);
  }
  if (wanted && e->election.at == NEVER)
    alarm_set(&e->agenda, &e->election,
              now + latency_of(e, &e->settings.election));
}

void election_steps_down(struct server *server, int64_t now) {
  struct ensemble *e = server->ensemble;
  bool led = server->role == LEADING;
  if (server->role == LOOKING) return;
  server_drops_all(server, now);
  server->serving = false;
  server->role = LOOKING;
  server->leader = NULL;
  server->touched_count = 0;
  lane_clear(&server->to_leader);
  lane_clear(&server->from_leader);
  lane_clear(&server->applying);
  alarm_stop(&e->agenda, &server->tick);
  if (led) leader_ends(server);
  /* The followers that still reach the former leader notice soon that it no
   * longer leads. They notice it at their next tick, which comes after one
   * message delay. */
  for (int i = 0; led && i < e->settings.servers; i++) {
    struct server *s = &e->servers[i];
    if (s->leader == server && s->running && !s->paused &&
        peers_reach(s, server))
      alarm_set(&e->agenda, &s->tick, now + latency_of(e, &e->settings.server));
  }
  election_considers(e, now);
}

void election_init(struct ensemble *e) {
  alarm_init(&e->election, elect, e);
  for (int i = 0; i < e->settings.servers; i++)
    alarm_init(&e->servers[i].joining, find_leader, &e->servers[i]);
  e->candidate = -1;
}

void election_is_over(struct ensemble *e, int64_t now) {
  elect(e, now);
  for (int i = 0; i < e->settings.servers; i++) {
    alarm_stop(&e->agenda, &e->servers[i].joining);
    find_leader(&e->servers[i], now);
  }
}
