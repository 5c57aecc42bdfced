/* A server: its connections, and the part of the log that it has applied. */
#include <assert.h>
#include <string.h>

#include "world.h"

static struct server *server_of(struct world *w, int server) {
  return &w->zoo.servers[server];
}

static struct connection *connection_of(struct world *w, int request) {
  return &w->zoo.connections[w->zoo.requests[request].connection];
}

void zoo_reset(struct world *w, int servers, int64_t tick) {
  struct zoo *zoo = &w->zoo;
  memset(zoo, 0, offsetof(struct zoo, history));
  history_reset(&zoo->history);
  zoo->server_count = servers;
  zoo->tick = tick;
  zoo->pings_at = NEVER;
  for (int i = 0; i < servers; i++) {
    struct server *s = &zoo->servers[i];
    memset(s, 0, offsetof(struct server, forwards));
    s->wakes_at = s->pings_at = NEVER;
    s->master = s->observer = NOBODY;
  }
}

/* Lines. */

static int64_t arrival(struct world *w, int64_t *until, int64_t longest) {
  int64_t at = w->now + random_span(&w->random, 20 * MICROSECOND, longest);
  return *until = later(*until, at);
}

int zoo_connect(struct world *w, int client, int server, int session) {
  struct zoo *zoo = &w->zoo;
  if (zoo->connection_count == CONNECTIONS_MAX) {
    zoo->overflowed = "connections";
    zoo->connection_count--;
  }
  int number = zoo->connection_count++;
  struct connection *c = &zoo->connections[number];
  memset(c, 0, offsetof(struct connection, waiting));
  c->first = c->last = 0;
  c->client = client;
  c->server = server;
  c->session = session;
  c->stuck = NOBODY;
  c->client_has_it = true;
  return number;
}

int zoo_request(struct world *w, enum ask ask, int connection) {
  struct zoo *zoo = &w->zoo;
  if (zoo->request_count == REQUESTS_MAX) {
    zoo->overflowed = "requests";
    zoo->request_count--;
  }
  int number = zoo->request_count++;
  struct request *r = &zoo->requests[number];
  memset(r, 0, sizeof *r);
  r->ask = ask;
  r->connection = connection;
  r->beside = r->provided = NOBODY;
  r->asked_at = w->now;
  return number;
}

void zoo_send(struct world *w, int request) {
  struct connection *c = connection_of(w, request);
  if (c->up_closed) return;
  agenda_add(&w->agenda, arrival(w, &c->up_until, w->profile.latency),
             AT_SERVER, 0, request);
}

static int new_note(struct world *w, const struct note *note) {
  struct zoo *zoo = &w->zoo;
  if (zoo->note_count == NOTES_MAX) {
    zoo->overflowed = "notes";
    zoo->note_count--;
  }
  zoo->notes[zoo->note_count] = *note;
  return zoo->note_count++;
}

static void say(struct world *w, const struct note *note) {
  struct connection *c = &w->zoo.connections[note->connection];
  if (!c->server_has_it || c->down_closed || !c->client_has_it) return;
  int number = new_note(w, note);
  agenda_add(&w->agenda, arrival(w, &c->down_until, w->profile.latency),
             AT_CLIENT, c->client, number);
}

static int number_of(const struct world *w, const struct connection *c) {
  return (int)(c - w->zoo.connections);
}

static struct note note_to(struct world *w, const struct connection *c,
                           enum note_kind kind) {
  return (struct note){.kind = kind,
                       .connection = number_of(w, c),
                       .request = NOBODY,
                       .node = NO_NODE,
                       .view = w->zoo.servers[c->server].view};
}

static void say_only(struct world *w, const struct connection *c,
                     enum note_kind kind) {
  struct note note = note_to(w, c, kind);
  say(w, &note);
}

/* The leader itself has nothing to send: what was on its way for longer is as
 * if it had been on its way to the server.  Mostly. */
void server_forward(struct world *w, int server, int request) {
  struct server *s = server_of(w, server);
  if (server == w->zoo.leader && s->up_first == s->up_last &&
      random_chance(&w->random, 90)) {
    leader_takes(w, server, request);
    return;
  }
  if (s->up_last - s->up_first == FORWARDS_MAX) {
    w->zoo.overflowed = "requests on their way to the leader";
    return;
  }
  struct forwarded *f = &s->forwards[s->up_last++ % FORWARDS_MAX];
  f->at = arrival(w, &s->up_until, w->profile.latency);
  f->request = request;
  agenda_add(&w->agenda, f->at, AT_LEADER, server, 0);
}

/* The end of a connection. */

static void let_go(struct world *w, struct connection *c) {
  if (!c->server_has_it) return;
  c->server_has_it = false;
  server_of(w, c->server)->connections--;
}

void server_drop(struct world *w, struct connection *c) {
  if (!c->server_has_it) return;
  say_only(w, c, NOTE_CLOSED);
  let_go(w, c);
  c->up_closed = c->up_cut = true;
}

/* Up: what is on its way to the server is lost as well.  Down: what is on its
 * way to the client is.  Silent: the client must find out by the clock. */
void connection_breaks(struct world *w, struct connection *c, bool up,
                       bool down, bool silent) {
  if (!c->client_has_it) return;
  c->up_closed = true;
  c->up_cut |= up;
  if (!silent && !c->down_closed) {
    bool server_has_it = c->server_has_it;
    c->server_has_it = true; /* it is not the server that says so */
    say_only(w, c, NOTE_CLOSED);
    c->server_has_it = server_has_it;
  }
  c->down_closed = true;
  c->down_cut |= down;
}

/* Reading. */

static void watch_node(struct world *w, struct connection *c, int path) {
  path_set_add(&c->watches, path);
  path_set_add(&w->zoo.watched, path);
}

static void watch_children(struct world *w, struct connection *c, int path) {
  path_set_add(&c->child_watches, path);
  path_set_add(&w->zoo.child_watched, path);
}

/* FinalRequestProcessor: is the node there, may the client read it; and only then
 * the watch, if there is to be one.  So a client may know that there is a node
 * which it may not read, and that there is none. */
static void watch_or_not(struct world *w, struct connection *c,
                         const struct request *r, struct note *note) {
  bool watch = r->op == OP_GET || r->op == OP_EXISTS;
  bool reads = r->op == OP_GET || r->op == OP_READ ||
               server_of(w, c->server)->privacy == SHOWS_READERS;
  if (note->node == NO_NODE) {
    note->rc = REPLY_NO_NODE;
    if (r->op == OP_EXISTS) watch_node(w, c, r->path);
  } else if (reads &&
             node_is_shut_to(&w->zoo.history.nodes[note->node], c->client)) {
    note->rc = REPLY_NO_AUTH;
  } else if (watch) {
    watch_node(w, c, r->path);
  }
}

static void list_or_not(struct world *w, struct connection *c,
                        const struct request *r, struct note *note) {
  if (note->node == NO_NODE)
    note->rc = REPLY_NO_NODE;
  else if (node_is_shut_to(&w->zoo.history.nodes[note->node], c->client))
    note->rc = REPLY_NO_AUTH;
  else if (r->watch)
    watch_children(w, c, r->path);
}

static void answer_read(struct world *w, struct connection *c, int request) {
  const struct request *r = &w->zoo.requests[request];
  struct note note = note_to(w, c, NOTE_REPLY);
  struct path_set *unwatched;
  note.request = request;
  note.path = r->path;
  if (r->throttled || r->alone_rc) {
    note.rc = r->throttled ? REPLY_THROTTLED : r->alone_rc;
    say(w, &note);
    return;
  }
  note.node = history_find(&w->zoo.history, &w->paths, r->path, note.view);
  switch (r->op) {
    case OP_LIST:
    case OP_NAMES:
      list_or_not(w, c, r, &note);
      break;
    case OP_UNWATCH:
      unwatched = r->watch ? &c->child_watches : &c->watches;
      if (!path_set_has(unwatched, r->path)) note.rc = REPLY_NO_WATCH;
      path_set_remove(unwatched, r->path);
      break;
    case OP_SYNC: /* of one that believes itself the leader */
      break;
    default:
      if (r->path != 0) watch_or_not(w, c, r, &note); /* 0: the root */
  }
  say(w, &note);
}

/* Requests, in order: a read waits for the writes before it. */

static bool must_wait(const struct world *w, const struct connection *c,
                      const struct request *r) {
  if (r->ask == ASK_CLOSE) return true;
  if (r->ask != ASK_OP || r->alone_rc || r->throttled) return false;
  if (r->op == OP_SYNC) return !w->zoo.servers[c->server].deposed;
  return op_is_write(r->op);
}

/* A server that asks nobody.  Its answer is as good as what it has applied: it may
 * be cut off from its leader, or be one that leads no more. */

/* enableEagerACLCheck: a plain create is refused by the ACL that the server knows.
 * It does not look into a multi, of which only a throttled server refuses the
 * whole.  (The protocol must take neither for a proof, whatever the code.) */
static int eager_refusal(struct world *w, const struct connection *c,
                         const struct request *r) {
  int parent = paths_parent(&w->paths, r->path);
  bool plain = (r->op == OP_CREATE || r->op == OP_MKDIR) && !r->with_serial;
  if (plain && parent == w->profile.forbidden_path &&
      history_find(&w->zoo.history, &w->paths, parent,
                   server_of(w, c->server)->view) != NO_NODE)
    return REPLY_NO_AUTH;
  if (r->op != OP_HEARTBEAT || w->calm || !random_chance(&w->random, 30))
    return REPLY_OK;
  static const int codes[] = {THROTTLED, REPLY_NO_AUTH, REPLY_NO_NODE};
  return codes[random_below(&w->random, 3)];
}

/* ZOOKEEPER-3594: what a leader refuses it answers, and proposes it to nobody.
 * That matters where it leads no more. */
static int skipped_refusal(struct world *w, const struct connection *c,
                           const struct request *r) {
  struct history *h = &w->zoo.history;
  const struct server *s = server_of(w, c->server);
  if (!s->deposed || r->with_serial) return REPLY_OK;
  int parent = paths_parent(&w->paths, r->path);
  bool there = history_find(h, &w->paths, r->path, s->view) != NO_NODE;
  bool below = history_find(h, &w->paths, parent, s->view) != NO_NODE;
  switch (r->op) {
    case OP_REMOVE:
      return there ? REPLY_OK : REPLY_NO_NODE;
    case OP_CREATE:
      if (below && parent == w->profile.forbidden_path) return REPLY_NO_AUTH;
      return !below              ? REPLY_NO_NODE
             : r->exact && there ? REPLY_NODE_EXISTS
                                 : REPLY_OK;
    case OP_MKDIR:
      return there ? REPLY_NODE_EXISTS : REPLY_OK;
    default:
      return REPLY_OK;
  }
}

static void refuse_alone(struct world *w, struct connection *c, int request) {
  struct request *r = &w->zoo.requests[request];
  if (r->ask != ASK_OP || !op_is_write(r->op)) return;
  if (fault_is(w, FAULT_REFUSE)) r->alone_rc = eager_refusal(w, c, r);
  if (!r->alone_rc && fault_is(w, FAULT_SKIP))
    r->alone_rc = skipped_refusal(w, c, r);
  if (!r->alone_rc) return;
  trace(w, c->client, "server %d refuses #%llu by itself: %d", c->server,
        (unsigned long long)r->serial, r->alone_rc);
}

static void progress(struct world *w, struct connection *c) {
  for (; c->first != c->last; c->first++) {
    int request = c->waiting[c->first % WAITING_MAX];
    const struct request *r = &w->zoo.requests[request];
    if (must_wait(w, c, r)) return;
    if (r->ask == ASK_OP) {
      answer_read(w, c, request);
    } else {
      say_only(w, c, NOTE_PONG);
    }
  }
}

static void answer_write(struct world *w, int request, int rc, int node) {
  struct connection *c = connection_of(w, request);
  if (!c->server_has_it || c->first == c->last) return;
  if (c->waiting[c->first % WAITING_MAX] != request) return;
  if (rc == REPLY_SESSION_MOVED) { /* FinalRequestProcessor: no answer */
    server_drop(w, c);
    return;
  }
  c->first++;
  struct note note = note_to(w, c, NOTE_REPLY);
  note.request = request;
  note.rc = rc;
  note.node = node;
  say(w, &note);
  progress(w, c);
}

static void meet(struct world *w, struct connection *c, int request) {
  struct zoo *zoo = &w->zoo;
  struct server *s = server_of(w, c->server);
  if (s->connections++ == 0) server_delivers(w, c->server);
  c->server_has_it = true;
  for (int i = 0; i < zoo->connection_count; i++) {
    struct connection *old = &zoo->connections[i];
    if (old == c || old->server != c->server || c->session == NOBODY ||
        old->session != c->session)
      continue;
    let_go(w, old);
    old->up_cut = old->replaced = true;
  }
  c->grant = s->grant;
  server_forward(w, c->server, request);
}

/* (They have been asked for all the time, but nobody could tell.) */
static void begin_pings(struct world *w, int server) {
  struct server *s = server_of(w, server);
  if ((s->master == NOBODY ? w->zoo.pings_at : s->pings_at) == NEVER)
    zoo_ping_later(w, server, random_between(&w->random, 0, w->zoo.tick / 2));
}

/* With one timeout for each: LearnerSessionTracker's touch table. */
static void note_sign(struct server *s, int session, int grant) {
  for (int i = 0; i < GRANTS; i++)
    s->report.heard[i] &= ~(UINT64_C(1) << session);
  s->report.heard[grant] |= UINT64_C(1) << session;
}

static void touch(struct world *w, int server, int session, int grant) {
  if (server == w->zoo.leader) {
    leader_touch(w, session, grant);
    return;
  }
  note_sign(server_of(w, server), session, grant);
  begin_pings(w, server);
}

void server_hears(struct world *w, int server, const struct report *report) {
  for (int grant = 0; grant < GRANTS; grant++) {
    uint64_t sessions = report->heard[grant];
    for (int i = 0; sessions; i++, sessions >>= 1)
      if (sessions & 1) touch(w, server, i, grant);
  }
}

static void wake(struct world *w, int server) {
  struct server *s = server_of(w, server);
  if (!s->asleep) return;
  s->asleep = false;
  server_delivers(w, server);
}

static bool is_write(const struct request *r) {
  return r->ask == ASK_OP && (r->op == OP_CREATE || r->op == OP_MKDIR ||
                              r->op == OP_REMOVE || r->op == OP_HEARTBEAT);
}

/* The server's thread for this connection has read the request, and stands still
 * before it hands the request on.  The client sees silence, or a connection that
 * breaks. */
static bool gets_stuck(struct world *w, struct connection *c, int request) {
  const struct request *r = &w->zoo.requests[request];
  bool chosen = fault_is(w, FAULT_STRAGGLE) && !w->calm && is_write(r) &&
                c->server_has_it && random_chance(&w->random, 12);
  if (!chosen) return false;
  c->stuck = request;
  c->stuck_until = fault_while(w);
  agenda_add(&w->agenda, c->stuck_until, AT_SERVER, 0, request);
  if (c->client < PROCESSES_MAX && random_chance(&w->random, 80))
    agenda_add(&w->agenda, w->now + world_span(w, w->profile.timeout / 8),
               CONNECTION_FLAPS, c->client, number_of(w, c));
  trace(w, c->client, "server %d stands still with #%llu until %.3f ms",
        c->server, (unsigned long long)r->serial, (double)c->stuck_until / 1e6);
  return true;
}

/* The thread goes on.  The connection may have been replaced meanwhile: the
 * session lives, and to the leader the request comes from where the session is,
 * if the new connection is one to the same server. */
static bool comes_late(struct world *w, struct connection *c, int request) {
  if (c->stuck != request || w->now < c->stuck_until) return false;
  c->stuck = NOBODY;
  if (c->server_has_it && !c->up_cut) return false;
  trace(w, c->client, "server %d hands on #%llu, of an old connection",
        c->server, (unsigned long long)w->zoo.requests[request].serial);
  if (c->session != NOBODY) touch(w, c->server, c->session, c->grant);
  server_forward(w, c->server, request);
  return true;
}

/* RequestThrottler: what has waited for too long goes through all processors, and
 * none does anything with it.  So answers keep their order.  (The library's pings,
 * and the end of a session, are spared.) */
static bool is_throttled(struct world *w, struct server *s,
                         const struct request *r) {
  if (!fault_is(w, FAULT_THROTTLE) || w->calm || w->ends_at != NEVER ||
      r->ask != ASK_OP)
    return false;
  if (w->now >= s->busy_until && random_chance(&w->random, 4))
    s->busy_until = fault_while(w);
  return random_chance(&w->random, w->now < s->busy_until ? 80 : 3);
}

void server_receives(struct world *w, int request) {
  struct connection *c = connection_of(w, request);
  struct server *s = server_of(w, c->server);
  struct request *r = &w->zoo.requests[request];
  if (w->now < s->stopped_until) {
    agenda_add(&w->agenda, s->stopped_until, AT_SERVER, 0, request);
    return;
  }
  if (comes_late(w, c, request) || c->up_cut) return;
  if (c->stuck != NOBODY) {
    agenda_add(&w->agenda, c->stuck_until, AT_SERVER, 0, request);
    return;
  }
  if (r->ask == ASK_CONNECT) {
    meet(w, c, request);
    wake(w, c->server);
    return;
  }
  if (!c->server_has_it) return;
  if (gets_stuck(w, c, request)) return;
  if (c->session != NOBODY) touch(w, c->server, c->session, c->grant);
  if (c->last - c->first == WAITING_MAX) {
    w->zoo.overflowed = "requests that wait at a server";
    return;
  }
  c->waiting[c->last++ % WAITING_MAX] = request;
  r->throttled = is_throttled(w, s, r);
  if (!r->throttled) refuse_alone(w, c, request);
  if (must_wait(w, c, r))
    server_forward(w, c->server, request);
  else
    progress(w, c);
  wake(w, c->server);
}

/* Applying. */

/* NIOServerCnxn.process: the watch is gone by then in any case. */
static bool may_hear(struct world *w, const struct connection *c,
                     const struct znode *node) {
  return server_of(w, c->server)->privacy == TELLS_ALL || !node ||
         !node_is_shut_to(node, c->client);
}

/* `node`: the one at this path; NULL: a directory, which all may read. */
static void fire(struct world *w, int server, int path, enum watch_event event,
                 const struct znode *node) {
  struct zoo *zoo = &w->zoo;
  bool any =
      (event != WATCH_CHILDREN && path_set_has(&zoo->watched, path)) ||
      (event != WATCH_CHANGED && path_set_has(&zoo->child_watched, path));
  if (!any || zoo->servers[server].connections == 0) return;
  for (int i = 0; i < zoo->connection_count; i++) {
    struct connection *c = &zoo->connections[i];
    if (c->server != server || !c->server_has_it) continue;
    bool wanted = false;
    if (event != WATCH_CHILDREN) {
      wanted = path_set_has(&c->watches, path);
      path_set_remove(&c->watches, path);
    }
    if (event != WATCH_CHANGED) {
      wanted |= path_set_has(&c->child_watches, path);
      path_set_remove(&c->child_watches, path);
    }
    if (!wanted || !may_hear(w, c, node)) continue;
    struct note note = note_to(w, c, NOTE_EVENT);
    note.event = event;
    note.path = path;
    say(w, &note);
  }
}

static void fire_gone(struct world *w, int server, int node) {
  const struct znode *n = &w->zoo.history.nodes[node];
  fire(w, server, n->path, WATCH_DELETED, n);
  fire(w, server, n->parent, WATCH_CHILDREN, NULL);
}

/* All ephemeral nodes go in one transaction, in the order of a hash table. */
static void close_session(struct world *w, int server, int transaction) {
  struct zoo *zoo = &w->zoo;
  int session = zoo->history.log[transaction].session;
  int nodes[NODES_MAX], node_count = 0;
  for (int i = 0; i < zoo->history.node_count; i++)
    if (zoo->history.nodes[i].session == session &&
        zoo->history.nodes[i].gone == transaction)
      nodes[node_count++] = i;
  while (node_count > 0) {
    int i = random_below(&w->random, node_count);
    fire_gone(w, server, nodes[i]);
    nodes[i] = nodes[--node_count];
  }
  for (int i = 0; i < zoo->connection_count; i++) {
    struct connection *c = &zoo->connections[i];
    if (c->server == server && c->session == session) server_drop(w, c);
  }
}

void server_applies(struct world *w, int server, int transaction) {
  const struct transaction *t = &w->zoo.history.log[transaction];
  const struct znode *node =
      t->node == NO_NODE ? NULL : &w->zoo.history.nodes[t->node];
  assert(w->zoo.servers[server].view == transaction);
  w->zoo.servers[server].view = transaction + 1;
  switch (t->kind) {
    case DID_CREATE:
      fire(w, server, node->path, WATCH_CHANGED, node);
      fire(w, server, node->parent, WATCH_CHILDREN, NULL);
      break; /* (nobody watches what is beside it before it is there) */
    case DID_WRITE:
      fire(w, server, node->path, WATCH_CHANGED, node);
      break;
    case DID_REMOVE:
      if (t->beside != NO_NODE) fire_gone(w, server, t->beside);
      fire_gone(w, server, t->node);
      break;
    case DID_CLOSE_SESSION:
      close_session(w, server, transaction);
      break;
    case DID_OPEN_SESSION: /* LearnerSessionTracker.commitSession */
      if (server != w->zoo.leader && t->request != NOBODY)
        note_sign(server_of(w, server), t->session,
                  w->zoo.sessions[t->session].stored);
      break;
    case DID_NOTHING:
      break;
  }
  if (t->request == NOBODY || t->server != server) return;
  if (t->kind == DID_OPEN_SESSION)
    say_only(w, connection_of(w, t->request), NOTE_CONNECTED);
  else
    answer_write(w, t->request, t->rc, t->node);
}

static void report(struct world *w, int server) {
  struct server *s = server_of(w, server);
  struct zoo *zoo = &w->zoo;
  uint64_t any = 0;
  for (int i = 0; i < GRANTS; i++) any |= s->report.heard[i];
  if (!any) return;
  if (zoo->report_count == REPORTS_MAX) {
    zoo->overflowed = "reports";
    return;
  }
  int request = zoo_request(w, ASK_REPORT, NOBODY);
  zoo->requests[request].path = zoo->report_count;
  zoo->reports[zoo->report_count++] = s->report;
  memset(&s->report, 0, sizeof s->report);
  server_forward(w, server, request);
}

static bool is_for_later(const struct delivery *d) {
  return d->to == NOBODY &&
         (d->kind == DELIVER_TRANSACTION || d->kind == DELIVER_SYNC);
}

static void take(struct world *w, int server, enum delivery_kind kind,
                 int what) {
  switch (kind) {
    case DELIVER_TRANSACTION:
      server_applies(w, server, what);
      break;
    case DELIVER_SYNC:
      answer_write(w, what, REPLY_OK, NO_NODE);
      break;
    case DELIVER_SESSION:
      say_only(w, connection_of(w, what), NOTE_CONNECTED);
      break;
    case DELIVER_NO_SESSION:
      say_only(w, connection_of(w, what), NOTE_EXPIRED);
      break;
    case DELIVER_PING:
      report(w, server);
      break;
  }
}

static void schedule(struct world *w, int server, int64_t at) {
  struct server *s = server_of(w, server);
  if (at < w->now) at = w->now;
  if (s->wakes_at <= at) return;
  s->wakes_at = at;
  agenda_add(&w->agenda, at, SERVER_DELIVERS, server, 0);
}

/* Down a line; `to`: an observer behind that server. */
static void send_down(struct world *w, int server, enum delivery_kind kind,
                      int what, int to) {
  struct server *s = server_of(w, server);
  if (s->first == s->last) s->first = s->arrived = s->last = 0;
  if (s->last == DELIVERIES_MAX) {
    w->zoo.overflowed = "deliveries";
    return;
  }
  struct delivery *d = &s->deliveries[s->last++];
  d->at = arrival(w, &s->down_until, w->profile.latency);
  d->kind = kind;
  d->what = what;
  d->to = to;
  /* Where nobody is connected nobody can tell when it is applied; but a master
   * is asked for what its observer has heard. */
  if (s->connections > 0 || to != NOBODY || kind == DELIVER_PING)
    schedule(w, server, later(d->at, s->cut_until));
}

void server_deliver(struct world *w, int server, enum delivery_kind kind,
                    int what) {
  const struct server *s = server_of(w, server);
  if (server == w->zoo.leader)
    take(w, server, kind, what);
  else if (s->master == NOBODY || kind == DELIVER_PING)
    send_down(w, server, kind, what, NOBODY);
  else
    send_down(w, s->master, kind, what, server);
}

/* What arrives, and does not wait for the commit processor. */
static void take_or_hand_on(struct world *w, int server,
                            const struct delivery *d) {
  if (d->to == NOBODY)
    take(w, server, d->kind, d->what);
  else
    send_down(w, d->to, d->kind, d->what, NOBODY);
}

static void arrive(struct world *w, int server) {
  struct server *s = server_of(w, server);
  while (s->arrived < s->last && s->deliveries[s->arrived].at <= w->now) {
    struct delivery *d = &s->deliveries[s->arrived++];
    if (!is_for_later(d)) {
      take_or_hand_on(w, server, d);
      continue;
    }
    d->at = later(d->at, s->cut_until);
    if (s->lag) d->at += random_span(&w->random, 0, s->lag);
    d->at = s->apply_until = later(d->at, s->apply_until);
  }
}

static void apply(struct world *w, int server) {
  struct server *s = server_of(w, server);
  for (; s->first < s->arrived; s->first++) {
    const struct delivery *d = &s->deliveries[s->first];
    if (!is_for_later(d)) continue;
    if (d->at > w->now) return;
    take(w, server, d->kind, d->what);
  }
}

void server_delivers(struct world *w, int server) {
  struct server *s = server_of(w, server);
  if (s->wakes_at <= w->now) s->wakes_at = NEVER;
  if (server == w->zoo.leader) return;
  if (w->now < s->stopped_until) {
    schedule(w, server, s->stopped_until);
    return;
  }
  if (w->now >= s->cut_until) arrive(w, server);
  if (!s->asleep) apply(w, server);
  if (s->arrived < s->last)
    schedule(w, server, later(s->deliveries[s->arrived].at, s->cut_until));
  if (!s->asleep && s->first < s->arrived)
    schedule(w, server, s->deliveries[s->first].at);
}

/* Applies all that is on its way: it becomes the leader. */
void server_catch_up(struct world *w, int server) {
  struct server *s = server_of(w, server);
  s->asleep = false;
  for (; s->first < s->last; s->first++) {
    const struct delivery *d = &s->deliveries[s->first];
    if (s->first >= s->arrived || is_for_later(d))
      take_or_hand_on(w, server, d);
  }
  s->arrived = s->last;
}

/* The link to the leader. */

void server_is_cut_off(struct world *w, int server, int64_t until) {
  struct server *s = server_of(w, server);
  s->cut_until = until;
  agenda_add(&w->agenda, until, SERVER_REJOINS, server, 0);
}

static void drop_all(struct world *w, int server) {
  for (int i = 0; i < w->zoo.connection_count; i++)
    if (w->zoo.connections[i].server == server)
      server_drop(w, &w->zoo.connections[i]);
}

static void leave_leader(struct world *w, int server) {
  struct server *s = server_of(w, server);
  s->up_first = s->up_last;
  drop_all(w, server);
}

void server_begins(struct world *w, int server) {
  struct server *s = server_of(w, server);
  leave_leader(w, server);
  s->view = w->zoo.history.log_count;
  s->first = s->arrived = s->last = 0;
  s->cut_until = 0;
  s->deposed = s->asleep = false;
  w->zoo.pings_at = s->pings_at = NEVER; /* until there is a sign to tell of */
  memset(&s->report, 0, sizeof s->report);
}

/* It is restarted with another configuration. */
void server_is_configured(struct world *w, int server, int grant) {
  struct zoo *zoo = &w->zoo;
  struct server *s = server_of(w, server);
  s->grant = grant;
  leave_leader(w, server);
  if (s->observer != NOBODY) leave_leader(w, s->observer);
  if (server != zoo->leader) return;
  /* (A leader that is restarted at once, and elected again.) */
  for (int i = 0; i < zoo->server_count; i++) leave_leader(w, i);
  for (int i = 0; i < zoo->session_count; i++)
    leader_touch(w, i, zoo->sessions[i].stored);
}

/* Broken: the server had given its leader up, dropped its clients, and what
 * it had sent is lost. */
void server_rejoins(struct world *w, int server, bool broken) {
  struct server *s = server_of(w, server);
  if (w->now < s->cut_until) return; /* it was cut off again */
  if (broken || s->deposed) {
    leave_leader(w, server);
    if (s->observer != NOBODY) leave_leader(w, s->observer);
  }
  s->deposed = false;
  server_delivers(w, server);
}
