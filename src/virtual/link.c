#include "link.h"

#include <stdlib.h>
#include <string.h>

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

/* ---- Misbehaviour -------------------------------------------------------- */

void link_is_visited(struct zk_link *link, struct zk_connection *c) {
  struct zk_misbehaviour *misbehaviour = &link->faults.misbehaviour;
  link->visits.connections++;
  if (misbehaviour->asks_ms) c->hello.timeout_ms = misbehaviour->asks_ms;
}

static bool happens(int *count) { return *count > 0 && (*count)--; }

static void greet(struct zk_link *link, struct zk_connection *c) {
  struct zk_misbehaviour *misbehaviour = &link->faults.misbehaviour;
  bool returns = c->hello.session != 0;
  link->visits.sessions += !returns;
  link->visits.returns += returns;
  /* Replaces the password in the hello by zeros. The server then answers
   * "session expired", as it does for every wrong password. */
  if (returns && (misbehaviour->expires || happens(&misbehaviour->forgets)))
    memset(c->hello.password, 0, sizeof c->hello.password);
}

static enum passage hear_request(const struct zk_misbehaviour *misbehaviour,
                                 struct zk_connection *c,
                                 const struct message *message) {
  bool last = ++c->requested == misbehaviour->drop_at;
  bool large = misbehaviour->largest &&
               request_size(message->content) > misbehaviour->largest;
  return last || large ? CUTS : PASSES;
}

static enum passage treat(struct zk_misbehaviour *misbehaviour,
                          struct zk_connection *c, struct message *message) {
  bool connect = message->kind == DOWN_CONNECTED;
  bool reply = message->kind == DOWN_REPLY && !message->silent;
  int kind = connect ? LINK_CONNECT : message->trap;
  if (c->muted) return STOPS;
  if (connect && misbehaviour->says_ms)
    ((struct zk_session *)message->content)->timeout_ms = misbehaviour->says_ms;
  if (connect && misbehaviour->expires)
    *(struct zk_session *)message->content = (struct zk_session){0};
  if ((!connect && !reply) || misbehaviour->count == 0 ||
      (misbehaviour->kind != kind &&
       !(reply && misbehaviour->kind == LINK_ANY)) ||
      (kind == ZK_PING && misbehaviour->treatment == LINK_REFUSE) ||
      c->treated++ < misbehaviour->skip)
    return PASSES;
  misbehaviour->count--;
  if (misbehaviour->treatment == LINK_CUT) return CUTS;
  c->muted = misbehaviour->treatment == LINK_MUTE;
  if (c->muted) return STOPS;
  struct zk_reply *answer = message->content;
  *answer = (struct zk_reply){.xid = answer->xid,
                              .op = answer->op,
                              .zxid = answer->zxid,
                              .rc = misbehaviour->code,
                              .data.length = -1};
  return PASSES;
}

/* ---- Traps --------------------------------------------------------------- */

static bool keeps(const struct zk_link *link, const struct message *message) {
  if (message->kind != UP_REQUEST) return false;
  for (int i = 0; i < link->kept_count; i++)
    if (link->kept_kinds[i] == message->trap) return true;
  return false;
}

enum passage link_passes_up(struct zk_link *link, struct zk_connection *c,
                            const struct message *message) {
  if (message->kind == UP_HELLO) greet(link, c);
  if (message->kind == UP_REQUEST) {
    enum passage passage = hear_request(&link->faults.misbehaviour, c, message);
    if (passage != PASSES) return passage;
  }
  if (keeps(link, message)) {
    arena_free(link->kept_arena);
    link->kept_count = 0;
    link->kept_arena = arena_new();
    link->kept = request_copy(link->kept_arena, message->content);
    link->kept_session = c->session;
    spring(link, LINK_KEPT);
    return CUTS_ALL;
  }
  if (!link->faults.drops_requests || message->kind == UP_END) return PASSES;
  c->broken = true;
  return STOPS;
}

enum passage link_passes_down(struct zk_link *link, struct zk_connection *c,
                              struct message *message) {
  enum passage passage = treat(&link->faults.misbehaviour, c, message);
  if (passage != PASSES) return passage;
  bool reply = message->kind == DOWN_REPLY && !message->silent;
  if (reply && link->lost_kind != 0 && link->lost_kind == message->trap) {
    link->lost_kind = 0;
    link->faults.refuses = true;
    spring(link, LINK_LOST);
    return CUTS_ALL;
  }
  if (link->faults.mutes_events && message->kind == DOWN_EVENT) return STOPS;
  if (link->faults.drops_replies) {
    c->broken = true;
    return STOPS;
  }
  if (message->kind != DOWN_ACCEPTED && link->left > 0 && --link->left == 0) {
    spring(link, LINK_LAST);
    return CUTS;
  }
  return PASSES;
}

enum passage link_passed_down(struct zk_link *link, struct zk_connection *c,
                              const struct message *message, int64_t now) {
  int64_t after = link->faults.misbehaviour.drop_after;
  if (message->kind == DOWN_CONNECTED && after < 0) return CUTS;
  if (message->kind == DOWN_CONNECTED && after > 0)
    alarm_set(&link->ensemble->agenda, &c->fuse, now + after);
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
