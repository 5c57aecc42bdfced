/* Implements the functions of ensemble.h, which act on a whole ensemble. */
#include <stdlib.h>

#include "connection.h"
#include "election.h"
#include "follower.h"
#include "leader.h"
#include "link.h"
#include "server.h"

struct ensemble_settings ensemble_defaults(void) {
  return (struct ensemble_settings){
      .servers = 1,
      .epoch_ms = INT64_C(1700000000000),
      .tick_ms = 2000,
      .sync_limit = 5,
      .max_buffer = 0xfffff,
      .max_connections = 60,
      .hides_events = true,
      .containers = true,
      .container_interval_ms = 60000,
      .client = {50000, 150000},
      .server = {50000, 150000},
      .disk = {100000, 300000},
      .election = {200 * MILLISECOND, 600 * MILLISECOND},
  };
}

static const struct hooks hooks = {.greets = server_greets,
                                   .reads = server_reads,
                                   .forgets = server_forgets,
                                   .forwards = follower_forwards,
                                   .touches = follower_touches,
                                   .checks = follower_checks,
                                   .steps_down = election_steps_down};

static void init_server(struct ensemble *e, int number) {
  struct server *server = &e->servers[number];
  server->ensemble = e;
  server->number = number;
  server->observer = number >= e->settings.servers - e->settings.observers;
  server->running = true;
  server->tree = tree_new();
  /* The id of a session contains a time in milliseconds and a number, as in
   * ZooKeeper. */
  server->session_count = (uint64_t)(e->settings.epoch_ms & 0xffffffffff)
                              << 16 |
                          (chance_next(&e->choices) & 0xfff);
  follower_init(server);
}

static void free_server(struct server *server) {
  if (server->role == LEADING) leader_ends(server);
  lane_clear(&server->to_leader);
  lane_clear(&server->from_leader);
  lane_clear(&server->disk);
  lane_clear(&server->applying);
  for (int i = 0; i < server->log_count; i++) txn_drop(server->log[i]);
  free(server->log);
  free(server->touched);
  watches_clear(&server->watches);
  tree_free(server->tree);
}

struct ensemble *ensemble_new(const struct ensemble_settings *settings,
                              uint64_t seed, int64_t now) {
  struct ensemble *e = fresh(sizeof *e);
  e->settings = *settings;
  e->hooks = &hooks;
  e->now = now;
  e->latencies = chance_stream(seed, 1);
  e->choices = chance_stream(seed, 2);
  e->secret = chance_next(&e->choices);
  e->connections_end = &e->connections;
  e->servers = fresh((size_t)settings->servers * sizeof *e->servers);
  for (int i = 0; i < settings->servers; i++) init_server(e, i);
  election_init(e);
  election_is_over(e, now);
  return e;
}

static void reap(struct ensemble *e) {
  struct zk_connection **link = &e->connections;
  while (*link) {
    struct zk_connection *c = *link;
    if (!connection_is_over(c)) {
      link = &c->next;
      continue;
    }
    *link = c->next;
    connection_free(c);
  }
  e->connections_end = link;
}

void ensemble_free(struct ensemble *e) {
  for (struct zk_connection *c = e->connections; c; c = c->next) {
    c->client_has_it = false;
    if (c->server_has_it) server_forgets(c->server, c);
  }
  reap(e);
  for (int i = 0; i < e->settings.servers; i++) free_server(&e->servers[i]);
  for (struct zk_link *next, *link = e->links; link; link = next) {
    next = link->next;
    link_free(link);
  }
  free(e->servers);
  agenda_free(&e->agenda);
  free(e);
}

int64_t ensemble_next(const struct ensemble *e) {
  return agenda_next(&e->agenda);
}

void ensemble_run(struct ensemble *e, int64_t now) {
  while (agenda_step(&e->agenda, now)) continue;
  e->now = now;
  reap(e);
}
