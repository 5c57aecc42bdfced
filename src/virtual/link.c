#include "link.h"

#include <stdlib.h>

#include "operator.h"
#include "request.h"

void link_free(struct zk_link *link) {
  arena_free(link->kept_arena);
  free(link->address);
  free(link->servers);
  free(link);
}

struct server *link_next_server(struct zk_link *link) {
  for (int i = 0; i < link->server_count; i++) {
    int number = link->servers[link->next_server++ % link->server_count];
    struct server *server = &link->ensemble->servers[number];
    if (server->running) return server;
  }
  return NULL;
}

static void spring(struct zk_link *link, enum link_sprung what) {
  link->sprung |= what;
  link->ensemble->sprung++;
}

static bool keeps(const struct zk_link *link, const struct message *message) {
  if (message->kind != UP_REQUEST) return false;
  for (int i = 0; i < link->kept_count; i++)
    if (link->kept_kinds[i] == message->trap) return true;
  return false;
}

enum passage link_passes_up(struct zk_link *link, struct zk_connection *c,
                            const struct message *message) {
  if (keeps(link, message)) {
    arena_free(link->kept_arena);
    link->kept_count = 0;
    link->kept_arena = arena_new();
    link->kept = request_copy(link->kept_arena, message->content);
    link->kept_session = c->session;
    spring(link, LINK_KEPT);
    return CUTS_ALL;
  }
  if (!link->drops_requests || message->kind == UP_END) return PASSES;
  c->broken = true;
  return STOPS;
}

enum passage link_passes_down(struct zk_link *link, struct zk_connection *c,
                              const struct message *message) {
  bool reply = message->kind == DOWN_REPLY && !message->silent;
  if (reply && link->lost_kind != 0 && link->lost_kind == message->trap) {
    link->lost_kind = 0;
    link->refuses = true;
    spring(link, LINK_LOST);
    return CUTS_ALL;
  }
  if (link->mutes_events && message->kind == DOWN_EVENT) return STOPS;
  if (link->drops_replies) {
    c->broken = true;
    return STOPS;
  }
  if (message->kind != DOWN_ACCEPTED && link->left > 0 && --link->left == 0) {
    spring(link, LINK_LAST);
    return CUTS;
  }
  return PASSES;
}

enum passage link_passed_down(struct zk_link *link,
                              const struct message *message) {
  if (message->kind != DOWN_REPLY) return PASSES;
  if (message->silent) {
    spring(link, LINK_APPLIED);
    return PASSES;
  }
  if (link->last_kind == 0 || link->last_kind != message->trap) return PASSES;
  link->last_kind = 0;
  spring(link, LINK_LAST);
  return CUTS;
}
