/* The leader: the one order of all transactions, and the sessions. */
#include <stdio.h>
#include <string.h>

#include "world.h"

static struct history *history_of(struct world *w) { return &w->zoo.history; }

int zoo_find(struct world *w, int path) {
  struct history *h = history_of(w);
  return history_find(h, &w->paths, path, h->log_count);
}

/* Committing. */

static void commit_both(struct world *w, enum transaction_kind kind, int node,
                        int beside, int session, int request, int server,
                        int rc) {
  struct zoo *zoo = &w->zoo;
  int number = history_append(&zoo->history, kind, node, session);
  struct transaction *t = &zoo->history.log[number];
  t->beside = beside;
  t->request = request;
  t->server = server;
  t->rc = rc;
  t->at = w->now;
  if (kind == DID_CREATE && is_ready(w, &zoo->history.nodes[node]))
    invariants_invited(w, node);
  for (int i = 0; i < zoo->server_count; i++)
    if (i != zoo->leader) server_deliver(w, i, DELIVER_TRANSACTION, number);
  server_applies(w, zoo->leader, number);
}

static void commit(struct world *w, enum transaction_kind kind, int node,
                   int session, int request, int server, int rc) {
  commit_both(w, kind, node, NO_NODE, session, request, server, rc);
}

static void fail(struct world *w, int server, int request, int rc) {
  commit(w, DID_NOTHING, NO_NODE, NOBODY, request, server, rc);
}

/* By its maker's ACL others may not read it, or may. */
static void set_acl(const struct world *w, struct znode *node, int client) {
  if (w->profile.unreadable >> client & 1) node->shut_by = client;
}

/* Sessions. */

static const int64_t first_id = INT64_C(0x10000a5c3e90000);

int64_t zoo_session_id(int session) { return first_id + session; }

int zoo_session_number(int64_t id) { return (int)(id - first_id); }

/* ExpiryQueue.roundToNextInterval: never early, at most a tick late. */
static int64_t expiry_of(const struct world *w, int64_t timeout) {
  return ((w->now + timeout) / w->zoo.tick + 1) * w->zoo.tick;
}

static void look_at_session(struct world *w, int session, int64_t at) {
  struct zoo_session *s = &w->zoo.sessions[session];
  if (at >= s->looks_at) return;
  s->looks_at = at;
  agenda_add(&w->agenda, at, SESSION_MAY_EXPIRE, 0, session);
}

/* ExpiryQueue.update: later, or sooner, than the last one said. */
void leader_touch(struct world *w, int session, int grant) {
  struct zoo_session *s = &w->zoo.sessions[session];
  if (!s->alive) return;
  if (grant > s->least) s->least = grant;
  s->expires = expiry_of(w, w->zoo.grants[grant]);
  if (s->client < PROCESSES_MAX) look_at_session(w, session, s->expires);
}

static int new_session(struct world *w, int client, int grant, int server) {
  struct zoo *zoo = &w->zoo;
  if (zoo->session_count == SESSIONS_MAX) {
    zoo->overflowed = "sessions";
    return SESSIONS_MAX - 1;
  }
  int session = zoo->session_count++;
  zoo->sessions[session] = (struct zoo_session){
      .id = zoo_session_id(session),
      .expires = NEVER,
      .looks_at = NEVER,
      .stored = grant,
      .least = grant,
      .alive = true,
      .server = server,
      .client = client,
  };
  return session;
}

int leader_opens_session(struct world *w, int client) {
  int session = new_session(w, client, 0, NOBODY);
  commit(w, DID_OPEN_SESSION, NO_NODE, session, NOBODY, NOBODY, 0);
  return session;
}

/* By no fault of its owner. */
static void tamper(struct world *w, const struct znode *node) {
  int lock = lock_of_directory(w, node->parent);
  if (lock != NOBODY) w->profile.locks[lock].tampered = true;
}

void leader_closes_session(struct world *w, int session, bool forced) {
  struct history *h = history_of(w);
  struct zoo_session *s = &w->zoo.sessions[session];
  if (!s->alive) return;
  s->alive = false;
  s->forced = forced;
  for (int i = 0; i < h->node_count; i++) {
    if (h->nodes[i].session != session || !node_is_there(&h->nodes[i]))
      continue;
    if (forced) tamper(w, &h->nodes[i]);
    history_remove(h, i, forced);
    invariants_removed(w, i);
  }
  trace(w, NOBODY, "leader: session %d is over%s", session,
        forced ? ", by force" : "");
  commit(w, DID_CLOSE_SESSION, NO_NODE, session, NOBODY, NOBODY, 0);
}

/* A leader that goes on after a stop looks for overdue sessions, and asks for
 * reports, a while after it has begun to commit again (lease.h). */
static int64_t leader_delay(struct world *w) {
  return random_span(&w->random, 0, w->zoo.grants[GRANTS - 1] / 24);
}

void leader_looks_at_session(struct world *w, int session) {
  struct zoo_session *s = &w->zoo.sessions[session];
  const struct server *leader = &w->zoo.servers[w->zoo.leader];
  if (!s->alive || w->now < s->looks_at) return;
  s->looks_at = NEVER;
  int64_t due = s->expires;
  /* After a stop it is chance which thread is first: this one, or those that
   * read what has arrived meanwhile. */
  if (due < leader->stopped_until)
    due = leader->stopped_until + leader_delay(w);
  if (w->now < due) {
    look_at_session(w, session, due);
    return;
  }
  invariants_expiring(w, session);
  leader_closes_session(w, session, false);
}

/* Requests. */

static void connect(struct world *w, int server, int request) {
  struct zoo *zoo = &w->zoo;
  struct connection *c = &zoo->connections[zoo->requests[request].connection];
  faults_see(w, c->client, TRAP_CONNECT);
  if (c->session == NOBODY) {
    c->session = new_session(w, c->client, c->grant, server);
    leader_touch(w, c->session, c->grant);
    commit(w, DID_OPEN_SESSION, NO_NODE, c->session, request, c->server, 0);
    return;
  }
  struct zoo_session *s = &zoo->sessions[c->session];
  if (s->alive) {
    leader_touch(w, c->session, c->grant);
    s->server = server;
  }
  server_deliver(w, c->server, s->alive ? DELIVER_SESSION : DELIVER_NO_SESSION,
                 request);
}

static int child_path(struct world *w, int prefix, int32_t number) {
  char text[256];
  int length = snprintf(text, sizeof text, "%s%010d",
                        paths_text(&w->paths, prefix), (int)number);
  return paths_number(&w->paths, text, (size_t)length);
}

/* The number of the next child.  At its end the counter sticks; what is
 * created in one batch with another goes on at the smallest number. */
static int32_t next_number(struct world *w, struct znode *directory) {
  if (directory->counter < INT32_MAX) return directory->counter++;
  return random_chance(&w->random, 50) ? INT32_MAX : INT32_MIN;
}

/* Who downgrades makes a reader with the writer's number, and takes its
 * place; if that writer is gone it takes none. */
static int place_of(const struct history *h, const struct znode *node) {
  for (CHILDREN(writer, h, node->parent))
    if (node_is_there(writer) && writer->session == node->session &&
        writer->sequence == node->sequence &&
        (writer->role == ROLE_WRITE || writer->role == ROLE_KAZOO_LOCK))
      return writer->order;
  return NOT_YET;
}

/* A contender's node; its `path`, to which a number may have to be added. */
static int enter(struct world *w, int path, int parent, int session,
                 bool exact) {
  struct history *h = history_of(w);
  int directory = zoo_find(w, parent);
  if (!exact)
    path = child_path(w, path, next_number(w, &h->nodes[directory]));
  else if (h->nodes[directory].counter < INT32_MAX)
    h->nodes[directory].counter++;
  if (zoo_find(w, path) != NO_NODE) return NO_NODE;
  int number = history_create(h, &w->paths, path, parent, session, false);
  struct znode *node = &h->nodes[number];
  const char *name = paths_name(&w->paths, path);
  set_acl(w, node, w->zoo.sessions[session].client);
  node->role = name_parse(name, &node->sequence);
  if (exact && node->role != ROLE_FOREIGN) node->order = place_of(h, node);
  return number;
}

/* `enforceQuota`: where so many are there is no room for another. */
static bool is_over_quota(struct world *w, int directory) {
  if (!fault_is(w, FAULT_QUOTA) || w->calm) return false;
  return history_of(w)->nodes[directory].children >=
         1 + (int)(w->seed / 11 % 3);
}

/* Why nothing can be made there; 0: it can. */
static int create_refusal(struct world *w, const struct request *r) {
  int parent = paths_parent(&w->paths, r->path);
  int directory = zoo_find(w, parent);
  if (directory == NO_NODE) return REPLY_NO_NODE;
  if (parent == w->profile.forbidden_path) return REPLY_NO_AUTH;
  return is_over_quota(w, directory) ? REPLY_QUOTA_EXCEEDED : REPLY_OK;
}

/* (An unfair lock's node and the one beside it are made in one transaction.) */
static void create(struct world *w, int server, int request, int session) {
  struct history *h = history_of(w);
  const struct request *r = &w->zoo.requests[request];
  int parent = paths_parent(&w->paths, r->path);
  int node = NO_NODE, beside = NO_NODE, rc = create_refusal(w, r);
  bool both = r->beside != NOBODY;
  if (rc == REPLY_OK && both && zoo_find(w, r->beside) != NO_NODE)
    rc = REPLY_NODE_EXISTS;
  if (rc == REPLY_OK) {
    node = enter(w, r->path, parent, session, r->exact);
    if (node == NO_NODE) rc = REPLY_NODE_EXISTS;
  }
  if (rc != REPLY_OK) {
    fail(w, server, request, rc);
    return;
  }
  bool late = w->zoo.connections[r->connection].replaced;
  h->nodes[node].straggled = late;
  if (both) {
    beside = node;
    node = enter(w, r->beside, parent, session, true);
    h->nodes[node].straggled = late;
  }
  commit_both(w, DID_CREATE, node, beside, session, request, server, 0);
}

int leader_enters(struct world *w, int session, const char *path,
                  bool sequential) {
  int number = paths_number(&w->paths, path, strlen(path));
  int parent = paths_parent(&w->paths, number);
  if (zoo_find(w, parent) == NO_NODE) return NO_NODE;
  int node = enter(w, number, parent, session, !sequential);
  if (node != NO_NODE) commit(w, DID_CREATE, node, session, NOBODY, NOBODY, 0);
  return node;
}

static void make_directory(struct world *w, int server, int request) {
  struct history *h = history_of(w);
  const struct request *r = &w->zoo.requests[request];
  if (w->zoo.no_containers && !r->persistent) {
    fail(w, server, request, REPLY_UNIMPLEMENTED);
    return;
  }
  int parent = paths_parent(&w->paths, r->path);
  int rc = REPLY_OK;
  int old = r->replace ? zoo_find(w, r->path) : NO_NODE;
  if (r->provided != NOBODY && zoo_find(w, r->provided) == NO_NODE)
    rc = REPLY_UNDONE;
  else if (r->replace && old == NO_NODE)
    rc = REPLY_NO_NODE;
  else if (parent != 0 && zoo_find(w, parent) == NO_NODE)
    rc = REPLY_NO_NODE;
  else if (parent == w->profile.forbidden_path)
    rc = REPLY_NO_AUTH;
  else if (!r->replace && zoo_find(w, r->path) != NO_NODE)
    rc = REPLY_NODE_EXISTS;
  if (rc != REPLY_OK) {
    fail(w, server, request, rc);
    return;
  }
  if (old != NO_NODE) { /* (two transactions here, where it is one) */
    history_remove(h, old, false);
    commit(w, DID_REMOVE, old, NOBODY, NOBODY, server, 0);
  }
  int above = zoo_find(w, parent);
  if (above != NO_NODE && h->nodes[above].counter < INT32_MAX)
    h->nodes[above].counter++;
  int node =
      history_create(h, &w->paths, r->path, parent, NOBODY, !r->persistent);
  commit(w, DID_CREATE, node, NOBODY, request, server, 0);
}

void leader_forgets(struct world *w, int node) {
  history_remove(history_of(w), node, false);
  commit(w, DID_REMOVE, node, NOBODY, NOBODY, NOBODY, 0);
}

/* An unfair lock's node has one name for all.  Who gives it back has looked
 * whose it is; if an operator deletes it at that moment, and the next one has
 * made it again, the delete hits the next one's: the operator's doing.  But not
 * if that is longer ago than a lease lasts: then it had to look once more. */
static bool is_mistaken(const struct world *w, int node, int session,
                        const struct request *request) {
  const struct history *h = &w->zoo.history;
  const struct znode *n = &h->nodes[node];
  int lock = lock_of_directory(w, n->parent), own = n->older;
  if (n->session == NOBODY || lock == NOBODY ||
      w->profile.locks[lock].family != FAMILY_UNFAIR ||
      !w->profile.locks[lock].tampered)
    return false;
  /* (By its name alone: somebody has deleted the node beside it.) */
  if (request->beside == NOBODY) return true;
  if (n->session == session) return false;
  while (own != NO_NODE && h->nodes[own].session != session)
    own = h->nodes[own].older;
  return own == NO_NODE || request->asked_at - h->log[h->nodes[own].gone].at <=
                               w->zoo.grants[w->zoo.sessions[session].stored];
}

/* Another's node that has the very name of ours: while the delete was on its
 * way, nobody could know; or an operator has taken ours away, and nobody has
 * heard of that yet. */
static bool is_unlucky(const struct world *w, int node, int session,
                       const struct request *request) {
  const struct znode *nodes = w->zoo.history.nodes;
  int own = nodes[node].older;
  while (own != NO_NODE && nodes[own].session != session)
    own = nodes[own].older;
  return own != NO_NODE &&
         (nodes[own].by_force || nodes[node].made >= request->seen);
}

/* Whoever asks, it is one of our processes.  What an earlier session of its has
 * left is its own. */
static bool is_anothers(const struct world *w, int node, int session) {
  const struct znode *n = &w->zoo.history.nodes[node];
  const struct zoo_session *sessions = w->zoo.sessions;
  return n->session != NOBODY && n->role != ROLE_FOREIGN &&
         sessions[n->session].client != sessions[session].client;
}

static bool is_excused(struct world *w, int node, int session,
                       const struct request *request) {
  if (is_mistaken(w, node, session, request)) return true;
  if (!is_anothers(w, node, session)) return false;
  if (is_unlucky(w, node, session, request)) return true;
  invariants_anothers(w, node);
  return false;
}

static int remove_refusal(struct world *w, int path) {
  struct history *h = history_of(w);
  int node = zoo_find(w, path);
  if (node == NO_NODE) return REPLY_NO_NODE;
  if (fault_is(w, FAULT_DENIAL) && !w->calm && random_chance(&w->random, 15))
    return REPLY_NO_AUTH;
  return h->nodes[node].children > 0 ? REPLY_NOT_EMPTY : REPLY_OK;
}

/* `answered`: the request that this answers, or NOBODY. */
static void remove_node(struct world *w, int server, int request, int path,
                        int session, int answered) {
  struct history *h = history_of(w);
  int node = zoo_find(w, path);
  invariants_deleting(w, node);
  history_remove(h, node,
                 is_excused(w, node, session, &w->zoo.requests[request]));
  invariants_removed(w, node);
  commit(w, DID_REMOVE, node, NOBODY, answered, server, 0);
}

static void remove_both(struct world *w, int server, int request, int session) {
  struct history *h = history_of(w);
  const struct request *r = &w->zoo.requests[request];
  int beside = zoo_find(w, r->path), node = zoo_find(w, r->beside);
  if (beside == NO_NODE || node == NO_NODE) {
    fail(w, server, request, beside == NO_NODE ? REPLY_NO_NODE : REPLY_UNDONE);
    return;
  }
  history_remove(h, beside, is_excused(w, beside, session, r));
  history_remove(h, node, is_excused(w, node, session, r));
  invariants_removed(w, node);
  commit_both(w, DID_REMOVE, node, beside, NOBODY, request, server, 0);
}

static void remove_one(struct world *w, int server, int request, int session) {
  int path = w->zoo.requests[request].path;
  const struct request *r = &w->zoo.requests[request];
  int rc = remove_refusal(w, path);
  if (r->beside != NOBODY) {
    remove_both(w, server, request, session);
    return;
  }
  if (r->counted &&
      history_creates(history_of(w), paths_parent(&w->paths, path),
                      history_of(w)->log_count) != r->creates)
    rc = REPLY_UNDONE;
  if (rc == REPLY_OK)
    remove_node(w, server, request, path, session, request);
  else
    fail(w, server, request, rc);
}

/* A multi: both are done, or none.  (Who looks in between sees the first alone:
 * more than a server shows.) */
static void exchange(struct world *w, int server, int request, int session) {
  const struct history *h = history_of(w);
  struct request *r = &w->zoo.requests[request];
  int rc = remove_refusal(w, r->with_path);
  r->refused = OP_REMOVE;
  if (rc == REPLY_OK) {
    r->refused = OP_CREATE;
    rc = create_refusal(w, r);
    /* Beyond its end the counter gives some number twice. */
    if (rc == REPLY_OK &&
        h->nodes[zoo_find(w, paths_parent(&w->paths, r->path))].counter ==
            INT32_MAX)
      rc = REPLY_NODE_EXISTS;
  }
  if (rc == REPLY_OK) {
    remove_node(w, server, request, r->with_path, session, NOBODY);
    create(w, server, request, session);
  } else {
    fail(w, server, request, rc);
  }
}

static void execute(struct world *w, int server, int request, int session) {
  const struct request *r = &w->zoo.requests[request];
  switch (r->op) {
    case OP_CREATE:
      (r->with_serial ? exchange : create)(w, server, request, session);
      break;
    case OP_MKDIR:
      make_directory(w, server, request);
      break;
    case OP_REMOVE:
      remove_one(w, server, request, session);
      break;
    case OP_SYNC:
      server_deliver(w, server, DELIVER_SYNC, request);
      break;
    default: /* OP_HEARTBEAT: a multi that changes nothing */
      commit(w, DID_NOTHING, NO_NODE, NOBODY, request, server, REPLY_OK);
  }
}

/* PrepRequestProcessor: is the session alive, and does this server speak for
 * it?  A request that comes late through a server that the client has left
 * is refused. */
static void check_and_execute(struct world *w, int server, int request) {
  const struct request *r = &w->zoo.requests[request];
  const struct connection *c = &w->zoo.connections[r->connection];
  int session = c->session;
  const struct zoo_session *s = &w->zoo.sessions[session];
  if (!s->alive) {
    fail(w, c->server, request, REPLY_SESSION_EXPIRED);
  } else if (s->server != server) {
    fail(w, c->server, request, REPLY_SESSION_MOVED);
  } else if (r->ask == ASK_CLOSE) {
    leader_closes_session(w, session, false);
  } else {
    execute(w, c->server, request, session);
  }
}

/* `server`: the one that the leader has it from. */
void leader_takes(struct world *w, int server, int request) {
  const struct request *r = &w->zoo.requests[request];
  if (r->ask == ASK_REPORT)
    server_hears(w, w->zoo.leader, &w->zoo.reports[r->path]);
  else if (r->ask == ASK_CONNECT)
    connect(w, server, request);
  else
    check_and_execute(w, server, request);
}

/* At an observer's master.  What was asked through it, the leader takes for
 * the master's own. */
static void hand_on(struct world *w, int master, int request) {
  const struct request *r = &w->zoo.requests[request];
  if (r->ask == ASK_REPORT)
    server_hears(w, master, &w->zoo.reports[r->path]);
  else
    server_forward(w, master, request);
}

void leader_receives(struct world *w, int server) {
  struct server *s = &w->zoo.servers[server];
  while (s->up_first != s->up_last) {
    int to = s->master == NOBODY ? w->zoo.leader : s->master;
    const struct server *above = &w->zoo.servers[to];
    const struct forwarded *f = &s->forwards[s->up_first % FORWARDS_MAX];
    if (w->now < f->at) return;
    int64_t held = s->cut_until > above->stopped_until ? s->cut_until
                                                       : above->stopped_until;
    if (w->now < held) {
      agenda_add(&w->agenda, held, AT_LEADER, server, 0);
      return;
    }
    s->up_first++;
    if (s->master == NOBODY)
      leader_takes(w, server, f->request);
    else
      hand_on(w, s->master, f->request);
  }
}

void zoo_ping_later(struct world *w, int server, int64_t after) {
  struct server *s = &w->zoo.servers[server];
  if (s->master == NOBODY) {
    w->zoo.pings_at = w->now + after;
    agenda_add(&w->agenda, w->zoo.pings_at, LEADER_PINGS, 0, 0);
  } else {
    s->pings_at = w->now + after;
    agenda_add(&w->agenda, s->pings_at, MASTER_PINGS, server, 0);
  }
}

/* A whole half tick, or so long after a stop. */
static int64_t next_ping(struct world *w, int above) {
  const struct server *s = &w->zoo.servers[above];
  if (w->now >= s->stopped_until) return w->zoo.tick / 2;
  return s->stopped_until - w->now + leader_delay(w);
}

/* Every half tick; the answer is the report. */
void leader_pings(struct world *w) {
  struct zoo *zoo = &w->zoo;
  bool stopped = w->now < zoo->servers[zoo->leader].stopped_until;
  bool any = stopped;
  if (w->now != zoo->pings_at) return; /* of a leader that was */
  zoo->pings_at = NEVER;
  for (int i = 0; i < zoo->server_count && !stopped; i++) {
    const struct server *s = &zoo->servers[i];
    bool spoken_for =
        s->observer != NOBODY && zoo->servers[s->observer].pings_at != NEVER;
    if (i == zoo->leader || s->master != NOBODY) continue;
    if (!s->connections && !spoken_for) continue;
    server_deliver(w, i, DELIVER_PING, 0);
    any = true;
  }
  if (any) zoo_ping_later(w, zoo->leader, next_ping(w, zoo->leader));
}

/* The same of an observer's master. */
void master_pings(struct world *w, int observer) {
  struct server *s = &w->zoo.servers[observer];
  if (w->now != s->pings_at) return;
  s->pings_at = NEVER;
  if (s->master == NOBODY || !s->connections) return;
  if (w->now >= w->zoo.servers[s->master].stopped_until)
    server_deliver(w, observer, DELIVER_PING, 0);
  zoo_ping_later(w, observer, next_ping(w, s->master));
}

/* Operators and accidents. */

void leader_removes(struct world *w, int node) {
  struct history *h = history_of(w);
  if (!node_is_there(&h->nodes[node])) return;
  tamper(w, &h->nodes[node]);
  history_remove(h, node, true);
  commit(w, DID_REMOVE, node, NOBODY, NOBODY, NOBODY, 0);
}

void leader_removes_directory(struct world *w, int node) {
  struct history *h = history_of(w);
  for (CHILDREN(child, h, h->nodes[node].path))
    leader_removes_directory(w, (int)(child - h->nodes));
  leader_removes(w, node);
}

void leader_writes(struct world *w, int node, bool revoke) {
  struct history *h = history_of(w);
  struct znode *n = &h->nodes[node];
  if (!node_is_there(n)) return;
  if (revoke && n->revoked == NOT_YET) n->revoked = h->log_count;
  commit(w, DID_WRITE, node, NOBODY, NOBODY, NOBODY, 0);
}

void leader_makes(struct world *w, const char *path, bool container,
                  int32_t counter, int client) {
  struct history *h = history_of(w);
  int number = paths_number(&w->paths, path, strlen(path));
  int node = history_create(h, &w->paths, number,
                            paths_parent(&w->paths, number), NOBODY, container);
  h->nodes[node].counter = counter;
  if (client != NOBODY) set_acl(w, &h->nodes[node], client);
  commit(w, DID_CREATE, node, NOBODY, NOBODY, NOBODY, 0);
}

void leader_makes_directory(struct world *w, int path) {
  if (path == 0) return;
  if (zoo_find(w, path) != NO_NODE) return;
  leader_makes_directory(w, paths_parent(&w->paths, path));
  leader_makes(w, paths_text(&w->paths, path), true, 0, NOBODY);
}

/* ContainerManager: empty ones that were ever used. */
void leader_reaps(struct world *w) {
  struct history *h = history_of(w);
  int count_before = h->node_count;
  for (int i = 0; i < count_before; i++) {
    const struct znode *n = &h->nodes[i];
    if (!n->container || !node_is_there(n) || n->children > 0 ||
        n->counter == 0)
      continue;
    trace(w, NOBODY, "leader: reaps %s", paths_text(&w->paths, n->path));
    leader_removes(w, i);
  }
}

/* The new leader has every committed transaction, restarts all timers, and
 * the others have dropped their clients while they looked for it.  The old
 * one does not know yet.  (A proposal that the election loses is the same as
 * a request that never reached the leader.) */
void zoo_elects(struct world *w, int server, int64_t until) {
  struct zoo *zoo = &w->zoo;
  int old = zoo->leader;
  server_catch_up(w, server);
  zoo->leader = server;
  zoo->history.epoch++;
  if (zoo->servers[server].observer != NOBODY)
    zoo->servers[zoo->servers[server].observer].master = NOBODY;
  zoo->servers[server].observer = NOBODY;
  for (int i = 0; i < zoo->session_count; i++)
    leader_touch(w, i, zoo->sessions[i].stored);
  zoo_ping_later(w, server, zoo->tick / 2);
  for (int i = 0; i < zoo->server_count; i++)
    zoo->servers[i].up_first = zoo->servers[i].up_last;
  for (int i = 0; i < zoo->connection_count; i++)
    if (zoo->connections[i].server != old) server_drop(w, &zoo->connections[i]);
  zoo->servers[old].deposed = true;
  server_is_cut_off(w, old, until);
}
