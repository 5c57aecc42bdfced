/* Implements the functions of operator.h by which a test disturbs links. */
#include <stdlib.h>
#include <string.h>

#include "connection.h"
#include "operator.h"

static struct zk_link *add_link(struct ensemble *e, const char *address,
                                const int *servers, int count) {
  struct zk_link *link = fresh(sizeof *link);
  link->ensemble = e;
  link->address = fresh_text(address);
  link->servers = fresh((size_t)count * sizeof *servers);
  memcpy(link->servers, servers, (size_t)count * sizeof *servers);
  link->server_count = count;
  link->next = e->links;
  e->links = link;
  return link;
}

struct zk_link *link_new(struct ensemble *e, const char *address,
                         const int *servers, int count) {
  return link_find(e, address) ? NULL : add_link(e, address, servers, count);
}

struct zk_link *link_find(struct ensemble *e, const char *address) {
  for (struct zk_link *l = e->links; l; l = l->next)
    if (l->client == 0 && strcmp(l->address, address) == 0) return l;
  return NULL;
}

struct zk_link *link_apart(struct zk_link *link, int client) {
  struct ensemble *e = link->ensemble;
  for (struct zk_link *l = e->links; l; l = l->next)
    if (l->client == client && strcmp(l->address, link->address) == 0) return l;
  struct zk_link *apart =
      add_link(e, link->address, link->servers, link->server_count);
  apart->client = client;
  apart->faults = link->faults;
  for (struct zk_connection *c = e->connections; c; c = c->next)
    if (c->link == link && c->hello.client == client) c->link = apart;
  return apart;
}

void link_each(struct ensemble *e, const char *address, int64_t now,
               void (*fault)(struct zk_link *link, int64_t now)) {
  for (struct zk_link *l = e->links; l; l = l->next)
    if (strcmp(l->address, address) == 0) fault(l, now);
}

/* ---- Faults -------------------------------------------------------------- */

#define EACH_CONNECTION(c, link)                                   \
  for (struct zk_connection *c = (link)->ensemble->connections; c; \
       c = c->next)                                                \
    if (c->link == (link))

void link_cut(struct zk_link *link, int64_t now) {
  EACH_CONNECTION(c, link) connection_cut(c, now, true);
}

void link_half_open(struct zk_link *link, int64_t now) {
  EACH_CONNECTION(c, link) connection_cut(c, now, false);
}

void link_refuse(struct zk_link *link, int64_t now) {
  link->faults.refuses = true;
  link_cut(link, now);
}

void link_freeze(struct zk_link *link, int64_t now) {
  (void)now;
  link->faults.frozen = true;
  EACH_CONNECTION(c, link) {
    lane_hold(&c->up, HELD_BY_LINK);
    lane_hold(&c->down, HELD_BY_LINK);
  }
}

void link_delay(struct zk_link *link, int64_t now, int64_t by) {
  (void)now;
  link->faults.delay = by;
}

void link_drop_requests(struct zk_link *link, int64_t now) {
  (void)now;
  link->faults.drops_requests = true;
}

void link_drop_replies(struct zk_link *link, int64_t now) {
  (void)now;
  link->faults.drops_replies = true;
}

void link_mute_events(struct zk_link *link, int64_t now) {
  (void)now;
  link->faults.mutes_events = true;
}

void link_misbehave(struct zk_link *link,
                    const struct zk_misbehaviour *misbehaviour) {
  link->faults.misbehaviour = *misbehaviour;
}

void link_secure(struct zk_link *link, const struct zk_tls *tls) {
  link->faults.tls = *tls;
}

struct zk_visits link_visits(const struct zk_link *link) {
  return link->visits;
}

void link_heal(struct zk_link *link, int64_t now) {
  link->faults = (struct link_faults){0};
  EACH_CONNECTION(c, link) {
    if (c->broken) connection_cut(c, now, true);
    lane_release(&c->up, HELD_BY_LINK, now);
    lane_release(&c->down, HELD_BY_LINK, now);
  }
}

/* ---- Traps --------------------------------------------------------------- */

void link_lose_reply(struct zk_link *link, int kind) { link->lost_kind = kind; }

void link_keep_request(struct zk_link *link, const int *kinds, int count) {
  link->kept_count = count < KINDS_MAX ? count : KINDS_MAX;
  memcpy(link->kept_kinds, kinds, (size_t)link->kept_count * sizeof *kinds);
}

void link_cut_after_reply(struct zk_link *link, int kind) {
  link->last_kind = kind;
}

void link_cut_at(struct zk_link *link, int nth) { link->left = nth; }

void link_disarm(struct zk_link *link) {
  link->lost_kind = link->last_kind = 0;
  link->left = link->kept_count = 0;
}

bool link_has_sprung(struct zk_link *link, enum link_sprung what) {
  bool sprung = (link->sprung & what) != 0;
  link->sprung &= ~(unsigned)what;
  return sprung;
}

unsigned ensemble_sprung(const struct ensemble *e) { return e->sprung; }

bool link_apply_late(struct zk_link *link, int64_t now) {
  if (!link->kept) return false;
  EACH_CONNECTION(c, link) {
    if (c->severed || !c->server_has_it || !c->established ||
        c->session != link->kept_session)
      continue;
    struct message *message = message_new(UP_REQUEST);
    message->silent = true;
    message->arena = link->kept_arena;
    message->content = (void *)link->kept;
    link->kept_arena = NULL;
    link->kept = NULL;
    lane_send(&c->up, message, now);
    return true;
  }
  return false;
}
