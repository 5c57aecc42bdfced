/* Implements the functions of operator.h by which a test acts on servers and
 * sessions, and observes them. */
#include "operator.h"

#include <stdlib.h>
#include <string.h>

#include "election.h"
#include "follower.h"
#include "leader.h"
#include "log.h"
#include "peers.h"

#define EACH_CONNECTION(c, of)                                                \
  for (struct zk_connection *c = (of)->ensemble->connections; c; c = c->next) \
    if (c->server == (of) && c->server_has_it)

/* ---- Servers ------------------------------------------------------------- */

/* If `held` is true, holds all messages to a server. Otherwise delivers the
 * held messages. */
static void hold(struct server *s, bool held, int64_t now) {
  struct lane *lanes[] = {&s->from_leader, &s->disk, &s->applying};
  for (size_t i = 0; i < sizeof lanes / sizeof *lanes; i++) {
    if (held)
      lane_hold(lanes[i], HELD_BY_SERVER);
    else
      lane_release(lanes[i], HELD_BY_SERVER, now);
  }
  for (int i = 0; i < s->ensemble->settings.servers; i++) {
    struct server *follower = &s->ensemble->servers[i];
    if (follower->leader != s) continue;
    if (held)
      lane_hold(&follower->to_leader, HELD_BY_SERVER);
    else
      lane_release(&follower->to_leader, HELD_BY_SERVER, now);
  }
  EACH_CONNECTION(c, s) {
    if (held)
      lane_hold(&c->up, HELD_BY_SERVER);
    else
      lane_release(&c->up, HELD_BY_SERVER, now);
  }
}

void server_stop(struct ensemble *e, int64_t now, int server) {
  struct server *s = &e->servers[server];
  if (!s->running) return;
  if (s->paused) hold(s, false, now);
  s->paused = false;
  s->running = false;
  alarm_stop(&e->agenda, &s->joining);
  election_steps_down(s, now);
  /* The server loses the transactions that are not on its disk yet. */
  lane_clear(&s->disk);
  int written = log_place(s, s->logged), applied = log_place(s, s->tree->zxid);
  log_cut(s, written > applied ? written : applied);
}

void server_start(struct ensemble *e, int64_t now, int server) {
  struct server *s = &e->servers[server];
  if (s->running) return;
  s->running = true;
  election_considers(e, now);
}

void server_pause(struct ensemble *e, int64_t now, int server) {
  struct server *s = &e->servers[server];
  if (!s->running || s->paused) return;
  s->paused = true;
  hold(s, true, now);
  alarm_stop(&e->agenda, &s->tick);
  alarm_stop(&e->agenda, &s->expiry);
  alarm_stop(&e->agenda, &s->containers);
}

/* Resumes a server. The messages that have arrived during the pause are
 * delivered. Soon afterwards, the alarms that have become due meanwhile
 * fire. */
void server_resume(struct ensemble *e, int64_t now, int server) {
  struct server *s = &e->servers[server];
  if (!s->paused) return;
  s->paused = false;
  hold(s, false, now);
  int64_t soon = now + (int64_t)chance_below(&e->choices, MILLISECOND);
  if (s->role == LEADING) {
    alarm_set(&e->agenda, &s->expiry, soon);
    alarm_set(&e->agenda, &s->containers, soon);
  }
  follower_wakes(s, now);
  if (s->role == FOLLOWING) alarm_set(&e->agenda, &s->tick, soon);
  election_considers(e, now);
}

void server_group(struct ensemble *e, int64_t now, int server, int group) {
  e->servers[server].group = group;
  for (int i = 0; i < e->settings.servers; i++) {
    struct server *s = &e->servers[i];
    struct lane *lanes[] = {&s->to_leader, &s->from_leader};
    for (int j = 0; s->leader && j < 2; j++) {
      if (!peers_reach(s, s->leader))
        lane_hold(lanes[j], HELD_BY_LINK);
      else
        lane_release(lanes[j], HELD_BY_LINK, now);
    }
  }
  election_considers(e, now);
}

void server_lag(struct ensemble *e, int64_t now, int server, int64_t lag) {
  (void)now;
  e->servers[server].lag = lag;
}

int ensemble_leader(const struct ensemble *e) {
  const struct server *leader = NULL;
  for (int i = 0; i < e->settings.servers; i++) {
    const struct server *s = &e->servers[i];
    if (s->running && s->role == LEADING && s->serving &&
        (!leader || s->epoch > leader->epoch))
      leader = s;
  }
  return leader ? leader->number : -1;
}

bool server_is_running(const struct ensemble *e, int server) {
  return e->servers[server].running;
}

/* Starts an election that `server`, the candidate, wins. It can win only if no
 * server that it reaches has a newer log. */
bool server_elect(struct ensemble *e, int64_t now, int server) {
  struct server *candidate = &e->servers[server];
  int old = ensemble_leader(e), reached = 0;
  if (!candidate->running || candidate->paused || candidate->observer)
    return false;
  for (int i = 0; i < e->settings.servers; i++) {
    const struct server *s = &e->servers[i];
    if (!s->running || s->paused || s->observer || s->group != candidate->group)
      continue;
    reached++;
    if (log_last(s) > log_last(candidate)) return false;
  }
  if (old == server || reached < majority_of(e)) return old == server;
  for (int i = 0; i < e->settings.servers; i++) {
    struct server *s = &e->servers[i];
    if (s->running && !s->paused && s->group == candidate->group)
      election_steps_down(s, now);
  }
  e->candidate = server;
  return true;
}

/* ---- Sessions ------------------------------------------------------------ */

static struct server *leader_of(const struct ensemble *e) {
  int leader = ensemble_leader(e);
  return leader < 0 ? NULL : &e->servers[leader];
}

bool ensemble_end_session(struct ensemble *e, int64_t now, int64_t session) {
  struct server *leader = leader_of(e);
  return leader && leader_ends_session(leader, session, now);
}

bool ensemble_has_session(const struct ensemble *e, int64_t session) {
  const struct server *leader = leader_of(e);
  if (!leader) return false;
  return tracker_find(&leader->tracker, session) != NULL;
}

int ensemble_client(const struct ensemble *e, int64_t session) {
  for (const struct zk_connection *c = e->connections; c; c = c->next)
    if (c->client_has_it && c->established && c->session == session)
      return c->hello.client;
  return 0;
}

int ensemble_server_of(const struct ensemble *e, int client) {
  for (const struct zk_connection *c = e->connections; c; c = c->next)
    if (c->client_has_it && c->established && c->hello.client == client)
      return c->server->number;
  return -1;
}

bool ensemble_is_left(const struct ensemble *e) {
  for (const struct zk_connection *c = e->connections; c; c = c->next)
    if (c->client_has_it) return false;
  return true;
}

/* ---- The nodes ----------------------------------------------------------- */

/* Returns the tree of the server that has applied the most transactions. */
static const struct tree *truth(const struct ensemble *e) {
  const struct tree *tree = e->servers[0].tree;
  for (int i = 1; i < e->settings.servers; i++)
    if (e->servers[i].tree->zxid > tree->zxid) tree = e->servers[i].tree;
  return tree;
}

bool ensemble_read(const struct ensemble *e, const char *path,
                   struct zk_stat *stat, struct zk_data *data) {
  const struct node *node = tree_find(truth(e), path);
  if (!node) return false;
  if (stat) node_stat(node, stat);
  const struct blob *bytes = node->state.data;
  if (data)
    *data = (struct zk_data){bytes ? bytes->bytes : NULL,
                             bytes ? bytes->length : -1};
  return true;
}

void ensemble_children(const struct ensemble *e, const char *path,
                       void (*each)(void *self, const char *name), void *self) {
  const struct node *node = tree_find(truth(e), path);
  for (int i = 0; node && i < node->count; i++)
    each(self, node->children[i]->name);
}

int ensemble_most_children(const struct ensemble *e, const char *path) {
  const struct node *node = tree_find(truth(e), path);
  return node ? node->most_ephemerals : 0;
}

int ensemble_watches(const struct ensemble *e, const char *prefix) {
  int count = 0;
  for (int i = 0; i < e->settings.servers; i++)
    count += watches_count(&e->servers[i].watches, prefix);
  return count;
}

int ensemble_connections(const struct ensemble *e, int server) {
  int count = 0;
  EACH_CONNECTION(c, &e->servers[server]) count++;
  return count;
}

static bool set_counter(struct tree *tree, const char *path, int32_t next) {
  struct node *node = tree ? tree_find(tree, path) : NULL;
  if (node) node->state.cversion = next;
  return node != NULL;
}

bool ensemble_set_counter(struct ensemble *e, const char *path, int32_t next) {
  bool found = false;
  for (int i = 0; i < e->settings.servers; i++) {
    found |= set_counter(e->servers[i].tree, path, next);
    set_counter(e->servers[i].head, path, next);
  }
  return found;
}
