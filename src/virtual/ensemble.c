#include "ensemble.h"

#include <stdlib.h>

#include "inside.h"

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

int64_t ensemble_latency(struct ensemble *e, const struct zk_latency *latency) {
  uint64_t span = (uint64_t)(latency->most - latency->least) + 1;
  return latency->least + (int64_t)chance_below(&e->latencies, span);
}

struct ensemble *ensemble_new(const struct ensemble_settings *settings,
                              uint64_t seed, int64_t now) {
  struct ensemble *e = fresh(sizeof *e);
  e->settings = *settings;
  e->now = now;
  e->latencies = chance_stream(seed, 1);
  e->choices = chance_stream(seed, 2);
  e->secret = chance_next(&e->choices);
  e->connections_end = &e->connections;
  e->servers = fresh((size_t)settings->servers * sizeof *e->servers);
  for (int i = 0; i < settings->servers; i++) server_init(&e->servers[i], e, i);
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
  for (int i = 0; i < e->settings.servers; i++) server_free(&e->servers[i]);
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
