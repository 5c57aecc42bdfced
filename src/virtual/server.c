#include "server.h"

#include <stdlib.h>
#include <string.h>

#include "connection.h"
#include "read.h"
#include "request.h"

#define EACH_CONNECTION(c, of)                                                \
  for (struct zk_connection *c = (of)->ensemble->connections; c; c = c->next) \
    if (c->server == (of) && c->server_has_it)

struct zk_connection *server_connection(const struct server *server,
                                        const struct origin *origin) {
  EACH_CONNECTION(c, server) if (c->order == origin->connection) return c;
  return NULL;
}

/* ---- Sessions ------------------------------------------------------------ */

static void make_password(const struct ensemble *e, int64_t session,
                          char password[16]) {
  struct chance chance = chance_stream(e->secret, (uint64_t)session);
  for (int i = 0; i < 2; i++) {
    uint64_t word = chance_next(&chance);
    for (int j = 0; j < 8; j++)
      password[8 * i + j] = (char)(word >> 8 * j & 0xff);
  }
}

static int32_t granted(const struct ensemble *e, int32_t timeout_ms) {
  const struct ensemble_settings *s = &e->settings;
  int32_t least = s->min_timeout_ms ? s->min_timeout_ms : 2 * s->tick_ms;
  int32_t most = s->max_timeout_ms ? s->max_timeout_ms : 20 * s->tick_ms;
  if (timeout_ms < least) return least;
  return timeout_ms > most ? most : timeout_ms;
}

static struct origin origin_of(const struct server *server,
                               const struct zk_connection *c) {
  return (struct origin){server->number, c->order, c->requests};
}

static void forward(struct server *server, const struct forward *what,
                    int64_t now) {
  server->ensemble->hooks->forwards(server, what, now);
}

/* Closes the older connections of a session. The session has come back on the
 * connection `now_`. */
static void close_older(struct server *server, const struct zk_connection *now_,
                        int64_t now) {
  EACH_CONNECTION(c, server)
  if (c != now_ && c->session == now_->hello.session) connection_drop(c, now);
}

static int connections_of(const struct server *server) {
  int count = 0;
  EACH_CONNECTION(c, server) count++;
  return count;
}

static bool welcomes(const struct server *server,
                     const struct zk_connection *c) {
  int most = server->ensemble->settings.max_connections;
  return server->serving && c->hello.seen <= server->tree->zxid &&
         (most == 0 || connections_of(server) <= most);
}

void server_greets(struct server *server, struct zk_connection *c,
                   int64_t now) {
  char password[16];
  if (!welcomes(server, c)) {
    connection_drop(c, now);
    return;
  }
  lane_hold(&c->up, HELD_BY_RECEIVER);
  c->timeout_ms = granted(server->ensemble, c->hello.timeout_ms);
  struct forward f = {.op = ZK_CREATE_SESSION,
                      .origin = origin_of(server, c),
                      .timeout_ms = c->timeout_ms};
  if (c->hello.session == 0) {
    f.session = c->session = ((int64_t)(server->number + 1) << 56) +
                             (int64_t)server->session_count++;
    forward(server, &f, now);
    return;
  }
  close_older(server, c, now);
  f.op = ZK_PING;
  f.session = c->session = c->hello.session;
  make_password(server->ensemble, c->session, password);
  if (memcmp(password, c->hello.password, sizeof password) == 0)
    forward(server, &f, now);
  else
    server_establishes(server, c, false, now);
}

void server_establishes(struct server *server, struct zk_connection *c,
                        bool valid, int64_t now) {
  struct message *message = message_new(DOWN_CONNECTED);
  message->arena = arena_new();
  struct zk_session *s = arena_alloc(message->arena, sizeof *s);
  if (valid) {
    s->id = c->session;
    s->timeout_ms = c->timeout_ms;
    make_password(server->ensemble, c->session, s->password);
    c->established = true;
    lane_release(&c->up, HELD_BY_RECEIVER, now);
  }
  message->content = s;
  connection_tell(c, message, now);
  if (!valid) connection_drop(c, now);
}

/* ---- Requests ------------------------------------------------------------ */

static void pending_free(struct pending *pending) {
  acl_list_drop(pending->identities);
  arena_free(pending->arena);
  free(pending);
}

static void finish(struct zk_connection *c) {
  struct pending *pending = c->first;
  c->first = pending->next;
  if (!c->first) c->last = NULL;
  pending_free(pending);
}

static void progress(struct server *server, struct zk_connection *c,
                     int64_t now) {
  while (c->server_has_it && c->first && !c->first->waits) {
    int rc = server->ensemble->hooks->checks(server, c->session);
    if (rc == ZK_SESSION_MOVED) { /* the client gets no reply */
      connection_drop(c, now);
      return;
    }
    read_answer(server, c, c->first, rc, now);
    finish(c);
  }
}

void server_finishes(struct server *server, struct zk_connection *c,
                     int64_t now) {
  finish(c);
  progress(server, c, now);
}

/* Answers a credential as soon as the server reads it, even if earlier requests
 * are not answered yet. */
static void authenticate(struct zk_connection *c,
                         const struct zk_request *request, int64_t now) {
  struct message *message;
  struct pending pending = {.request = request};
  struct zk_reply *reply = reply_new(&message, &pending);
  bool known = identities_add(&c->identities, request->scheme, &request->data,
                              "127.0.0.1");
  reply->rc = known ? ZK_OK : ZK_AUTH_FAILED;
  connection_tell(c, message, now);
  if (!known) connection_drop(c, now);
}

static struct pending *enqueue(struct zk_connection *c,
                               struct message *message) {
  struct pending *pending = fresh(sizeof *pending);
  pending->number = ++c->requests;
  pending->arena = message->arena;
  pending->request = message->content;
  pending->silent = message->silent;
  pending->identities = acl_list_keep(c->identities);
  message->arena = NULL;
  if (c->last)
    c->last->next = pending;
  else
    c->first = pending;
  c->last = pending;
  return pending;
}

void server_reads(struct server *server, struct zk_connection *c,
                  struct message *message, int64_t now) {
  const struct zk_request *request = message->content;
  const struct hooks *hooks = server->ensemble->hooks;
  if (request_size(request) > server->ensemble->settings.max_buffer) {
    connection_drop(c, now);
    return;
  }
  hooks->touches(server, c->session, c->timeout_ms, now);
  if (request->op == ZK_AUTH) {
    authenticate(c, request, now);
    return;
  }
  struct pending *pending = enqueue(c, message);
  bool sync = request->op == ZK_SYNC && server->role != LEADING;
  pending->waits = request_is_write(request->op) || sync;
  if (pending->waits) {
    struct forward f = {.op = request->op,
                        .origin = origin_of(server, c),
                        .session = c->session,
                        .timeout_ms = c->timeout_ms,
                        .identities = pending->identities,
                        .request = request};
    forward(server, &f, now);
  }
  progress(server, c, now);
}

/* ---- Answers ------------------------------------------------------------- */

void server_answers(struct server *server, const struct forward *answer,
                    int64_t now) {
  struct zk_connection *c = server_connection(server, &answer->origin);
  if (!c) return;
  if (answer->op == ZK_PING) {
    if (!c->established) server_establishes(server, c, answer->valid, now);
    return;
  }
  if (!c->first || c->first->number != answer->origin.request) return;
  c->first->waits = false;
  progress(server, c, now);
}

void server_forgets(struct server *server, struct zk_connection *c) {
  if (!c->server_has_it) return;
  c->server_has_it = false;
  watches_forget(&server->watches, c->order);
  while (c->first) finish(c);
  lane_clear(&c->up);
}

void server_drops_all(struct server *server, int64_t now) {
  EACH_CONNECTION(c, server) connection_drop(c, now);
}

void server_drops_session(struct server *server, int64_t session, int64_t now) {
  EACH_CONNECTION(c, server)
  if (c->session == session) connection_drop(c, now);
}
