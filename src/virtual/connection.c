#include "connection.h"

#include <stdlib.h>
#include <string.h>

#include "link.h"
#include "request.h"

static int64_t arrival(struct zk_connection *c, int64_t now) {
  struct ensemble *e = c->ensemble;
  int64_t delay = c->link ? c->link->faults.delay : 0;
  return now + latency_of(e, &e->settings.client) + delay;
}

static void end_for_client(struct zk_connection *c, enum zk_end end,
                           int64_t now) {
  struct message *message = message_new(DOWN_END);
  message->number = end;
  lane_send(&c->down, message, arrival(c, now));
}

/* ---- TLS ----------------------------------------------------------------- */

static struct message *tls_part(enum zk_tls_part part) {
  struct message *message = message_new(DOWN_TLS);
  message->number = part;
  return message;
}

/* Sends a message to the client as a TLS record. Takes ownership of the
 * message. */
static void tell_record(struct zk_connection *c, struct message *message,
                        int64_t at) {
  const struct zk_tls *tls = &c->link->faults.tls;
  int n = c->records < 0 ? 0 : ++c->records;
  bool stops = n > 0 && tls->stops_at && n >= tls->stops_at;
  bool fails = n > 0 && !stops && tls->fails_at && n >= tls->fails_at;
  if (n > 0 && (stops || tls->split))
    lane_send(&c->down, tls_part(ZK_TLS_HEAD), at);
  if (stops || fails) c->records = -1;
  if (c->records < 0) {
    c->broken = true;
    message_free(message);
  }
  if (fails)
    message = tls_part(tls->is_refusal ? ZK_TLS_REFUSAL : ZK_TLS_ALERT);
  if (fails || c->records > 0) lane_send(&c->down, message, at + tls->split);
}

static void shake(struct zk_connection *c, int64_t now) {
  const struct zk_tls *tls = &c->link->faults.tls;
  if (tls->stops_at < 0) c->records = -1;
  tell_record(c, tls_part(ZK_TLS_SHAKEN), arrival(c, now) + tls->delay);
}

/* ---- To the server ------------------------------------------------------- */

static void reach_server(struct zk_connection *c, int64_t now) {
  struct zk_link *link = c->link;
  struct server *server =
      link && !link->faults.refuses ? link_next_server(link) : NULL;
  if (link) link_is_visited(link, c);
  if (!server) {
    c->severed = true;
    end_for_client(c, link && link->faults.refuses ? ZK_CLOSED : ZK_REFUSED,
                   now);
    lane_clear(&c->up);
    return;
  }
  c->server = server;
  c->server_has_it = true;
  c->heard = now;
  if (server->paused) lane_hold(&c->up, HELD_BY_SERVER);
  struct message *accepted = message_new(DOWN_ACCEPTED);
  accepted->number = server->number;
  connection_tell(c, accepted, now);
  if (c->hello.secure)
    shake(c, now);
  else
    lane_send_first(&c->up, message_new(UP_HELLO), arrival(c, arrival(c, now)));
  if (link->faults.misbehaviour.silent) {
    lane_hold(&c->up, HELD_BY_LINK);
    c->broken = true;
  }
}

/* Breaks the connections that the link's decision `passage` on a message
 * requires. Returns false if the message must not be delivered. */
static bool follow_passage(struct zk_connection *c, enum passage passage,
                           int64_t now) {
  if (passage == CUTS) connection_cut(c, now, true);
  if (passage == CUTS_ALL)
    for (struct zk_connection *o = c->ensemble->connections; o; o = o->next)
      if (o->link == c->link) connection_cut(o, now, true);
  return passage == PASSES;
}

static void deliver_up(void *self, struct message *message, int64_t now) {
  struct zk_connection *c = self;
  const struct hooks *hooks = c->ensemble->hooks;
  if (message->kind == UP_CONNECT) {
    reach_server(c, now);
    return;
  }
  if (!c->server_has_it) return;
  if (c->link && !message->silent && !c->severed &&
      !follow_passage(c, link_passes_up(c->link, c, message), now))
    return;
  c->heard = now;
  if (message->kind != UP_END) {
    c->received++;
    c->server->received++;
  }
  if (message->kind == UP_HELLO)
    hooks->greets(c->server, c, now);
  else if (message->kind == UP_REQUEST)
    hooks->reads(c->server, c, message, now);
  else
    hooks->forgets(c->server, c);
}

/* ---- To the client ------------------------------------------------------- */

void connection_tell(struct zk_connection *c, struct message *message,
                     int64_t now) {
  if (message->kind != DOWN_ACCEPTED && message->kind != DOWN_END) {
    c->sent++;
    c->server->sent++;
  }
  if (c->severed || !c->client_has_it)
    message_free(message);
  else if (c->records != 0 && message->kind != DOWN_END)
    tell_record(c, message, arrival(c, now));
  else
    lane_send(&c->down, message, arrival(c, now));
}

static void call_client(struct zk_connection *c, struct message *message) {
  const struct zk_client *client = &c->client;
  switch ((enum down)message->kind) {
    case DOWN_ACCEPTED:
      if (client->accepted)
        client->accepted(client->self, (int)message->number);
      break;
    case DOWN_TLS:
      client->tls(client->self, (enum zk_tls_part)message->number,
                  c->link->faults.tls.text);
      break;
    case DOWN_CONNECTED:
      client->connected(client->self, message->content);
      break;
    case DOWN_REPLY:
      client->reply(client->self, message->content);
      break;
    case DOWN_EVENT:
      client->event(client->self, message->content);
      break;
    case DOWN_END:
      c->client_has_it = false;
      lane_clear(&c->down);
      client->ended(client->self, (enum zk_end)message->number);
      break;
  }
}

static void deliver_down(void *self, struct message *message, int64_t now) {
  struct zk_connection *c = self;
  if (!c->client_has_it) return;
  if (c->link && !c->severed && message->kind != DOWN_END &&
      !follow_passage(c, link_passes_down(c->link, c, message), now))
    return;
  if (!message->silent) call_client(c, message);
  if (c->link && !c->severed)
    follow_passage(c, link_passed_down(c->link, c, message, now), now);
}

/* ---- The end of a connection --------------------------------------------- */

void connection_drop(struct zk_connection *c, int64_t now) {
  if (!c->server_has_it) return;
  struct message *end = message_new(DOWN_END);
  end->number = ZK_CLOSED;
  connection_tell(c, end, now);
  c->ensemble->hooks->forgets(c->server, c);
}

void connection_cut(struct zk_connection *c, int64_t now, bool client_too) {
  if (c->severed) return;
  c->severed = true;
  lane_clear(&c->up);
  lane_clear(&c->down);
  lane_release(&c->up, HELD_BY_LINK | HELD_BY_RECEIVER, now);
  lane_release(&c->down, HELD_BY_LINK, now);
  if (c->server_has_it) lane_send(&c->up, message_new(UP_END), arrival(c, now));
  if (client_too && c->client_has_it) end_for_client(c, ZK_CLOSED, now);
}

static void blow(void *self, int64_t now) { connection_cut(self, now, true); }

bool connection_is_over(const struct zk_connection *c) {
  return !c->client_has_it && !c->server_has_it;
}

void connection_free(struct zk_connection *c) {
  lane_clear(&c->up);
  lane_clear(&c->down);
  alarm_stop(&c->ensemble->agenda, &c->fuse);
  acl_list_drop(c->identities);
  free(c);
}

static struct zk_link *link_at(struct ensemble *e, const char *address,
                               int client) {
  struct zk_link *found = NULL;
  for (struct zk_link *l = e->links; l; l = l->next) {
    if (strcmp(l->address, address) != 0) continue;
    if (l->client == client) return l;
    if (l->client == 0) found = l;
  }
  return found;
}

/* ---- What clients call --------------------------------------------------- */

struct zk_connection *ensemble_open(struct ensemble *e, int64_t now,
                                    const char *address,
                                    const struct zk_hello *hello,
                                    const struct zk_client *client) {
  struct zk_connection *c = fresh(sizeof *c);
  c->ensemble = e;
  c->order = ++e->orders;
  c->link = link_at(e, address, hello->client);
  c->client = *client;
  c->hello = *hello;
  c->client_has_it = true;
  lane_init(&c->up, &e->agenda, deliver_up, c);
  lane_init(&c->down, &e->agenda, deliver_down, c);
  alarm_init(&c->fuse, blow, c);
  c->identities = identities_of("127.0.0.1");
  *e->connections_end = c;
  e->connections_end = &c->next;
  if (c->link && c->link->faults.frozen) {
    lane_hold(&c->up, HELD_BY_LINK);
    lane_hold(&c->down, HELD_BY_LINK);
  }
  lane_send(&c->up, message_new(UP_CONNECT), arrival(c, now));
  return c;
}

void ensemble_greet(struct ensemble *e, int64_t now, struct zk_connection *c) {
  (void)e;
  if (!c->severed && c->server_has_it)
    lane_send_first(&c->up, message_new(UP_HELLO), arrival(c, now));
}

void ensemble_send(struct ensemble *e, int64_t now, struct zk_connection *c,
                   const struct zk_request *request) {
  (void)e;
  if (c->severed) return;
  struct message *message = message_new(UP_REQUEST);
  message->arena = arena_new();
  message->content = request_copy(message->arena, request);
  message->trap = zk_request_kind(request);
  lane_send(&c->up, message, arrival(c, now));
}

void ensemble_hang_up(struct ensemble *e, int64_t now,
                      struct zk_connection *c) {
  (void)e;
  if (!c->client_has_it) return;
  c->client_has_it = false;
  lane_clear(&c->down);
  if (c->server_has_it && !c->severed)
    lane_send(&c->up, message_new(UP_END), arrival(c, now));
  else if (!c->server_has_it)
    lane_clear(&c->up);
}
