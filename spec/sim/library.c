/* The ZooKeeper client library beneath one session: its connection, its
 * watches, its own pings and its own idea of when a server is dead.  Each
 * attempt to connect is a new handle for the same session (client.c): it has
 * seen nothing, has no watches, and asks for the whole timeout. */
#include <string.h>

#include "world.h"

static int64_t due_of(const struct library *l) {
  int64_t due = NEVER;
  switch (l->state) {
    case LIBRARY_CLOSED:
      break;
    case LIBRARY_RESTING:
      due = l->tries_at;
      break;
    case LIBRARY_ATTEMPTING:
      due = l->tried_at + l->timeout / 3 * 2;
      break;
    case LIBRARY_CONNECTED:
      due = l->last_received + l->timeout / 3 * 2;
      if (l->outstanding == 0 && l->last_sent + l->timeout / 3 < due)
        due = l->last_sent + l->timeout / 3;
  }
  return due;
}

static void arrange(struct world *w, struct process *p) {
  struct library *l = &p->library;
  int64_t due = due_of(l);
  if (due <= w->now) due = w->now + MICROSECOND;
  if (due >= l->wakes_at) return;
  l->wakes_at = due;
  agenda_add(&w->agenda, due, LIBRARY_WAKES, p->number, 0);
}

void library_reset(struct library *l) {
  int least = l->least;
  memset(l, 0, sizeof *l);
  l->connection = l->session = NOBODY;
  l->wakes_at = NEVER;
  l->least = least;
}

static void rest(struct world *w, struct process *p, int64_t longest) {
  struct library *l = &p->library;
  l->state = LIBRARY_RESTING;
  l->tries_at = w->now + world_span(w, longest);
  arrange(w, p);
}

/* Lets go of a connection; what it sent may still be on its way. */
void library_leave(struct world *w, struct process *p) {
  struct library *l = &p->library;
  if (l->connection == NOBODY) return;
  struct connection *c = &w->zoo.connections[l->connection];
  c->client_has_it = false;
  c->up_closed = true;
  l->connection = NOBODY;
  l->outstanding = 0;
}

void library_open(struct world *w, struct process *p) {
  struct library *l = &p->library;
  int64_t wakes_at = l->wakes_at;
  library_close(w, p);
  library_reset(l);
  l->wakes_at = wakes_at;
  l->timeout = w->zoo.grants[0];
  rest(w, p, 20 * MILLISECOND);
}

void library_close(struct world *w, struct process *p) {
  struct library *l = &p->library;
  if (l->state == LIBRARY_CONNECTED)
    zoo_send(w, zoo_request(w, ASK_CLOSE, l->connection));
  library_leave(w, p);
  l->state = LIBRARY_CLOSED;
}

/* Connecting. */

/* An observer's master serves observers alone.  To the leader what comes
 * through its observers is its own: it would take a request that comes late
 * through the one that a client has left, where it refuses what comes late
 * through any other server. */
static int some_server(struct world *w) {
  int server = random_below(&w->random, w->zoo.server_count);
  int observer = w->zoo.servers[server].observer;
  return observer == NOBODY ? server : observer;
}

static void try(struct world *w, struct process *p) {
  struct library *l = &p->library;
  int server = some_server(w);
  l->seen = 0;
  memset(&l->data, 0, sizeof l->data);
  memset(&l->missing, 0, sizeof l->missing);
  memset(&l->children, 0, sizeof l->children);
  l->state = LIBRARY_ATTEMPTING;
  l->tried_at = w->now;
  l->started = p->now;
  session_attempting(&p->session, p->now);
  l->connection = zoo_connect(w, p->number, server, l->session);
  trace(w, p->number, "tries server %d", server);
  if (w->now >= p->unreachable_until)
    zoo_send(w, zoo_request(w, ASK_CONNECT, l->connection));
  arrange(w, p);
}

/* (The client waits for a while before it tries again: client.c.) */
static bool is_shut_out(struct world *w, struct process *p) {
  p->shut_out =
      fault_is(w, FAULT_REFUSAL) && !w->calm && random_chance(&w->random, 25);
  if (!p->shut_out) return false;
  trace(w, p->number, "is not accepted");
  library_leave(w, p);
  rest(w, p, w->calm ? 50 * MILLISECOND : p->library.timeout / 2);
  session_refused(&p->session, p->now, REASON_CREDENTIALS);
  return true;
}

static void connected(struct world *w, struct process *p) {
  struct library *l = &p->library;
  const struct connection *c = &w->zoo.connections[l->connection];
  l->state = LIBRARY_CONNECTED;
  l->session = c->session;
  l->timeout = w->zoo.grants[c->grant];
  l->connected_at = l->last_sent = l->last_received = w->now;
  trace(w, p->number, "connected to server %d, session %d, timeout %.0f ms",
        c->server, c->session, (double)l->timeout / 1e6);
  if (fault_is(w, FAULT_FLAP) && !w->calm && p->flaps++ < 6)
    agenda_add(&w->agenda, w->now + world_span(w, l->timeout / 8),
               CONNECTION_FLAPS, p->number, l->connection);
  if (c->grant > l->least) l->least = c->grant;
  session_greeted(&p->session, p->now, zoo_session_id(c->session), l->timeout,
                  l->started);
  if (is_shut_out(w, p)) return;
  session_connected(&p->session, p->now, zoo_session_id(c->session), l->timeout,
                    l->started);
}

/* Answers that nobody waits for any more: they must do nothing. */
static void answer_late(struct world *w, struct process *p) {
  struct reply reply = {.rc = REPLY_NO_NODE};
  trace(w, p->number, "a late answer to #%llu",
        (unsigned long long)p->library.late);
  session_reply(&p->session, p->now, p->library.late, &reply);
  if (random_chance(&w->random, 50)) p->library.late = 0;
}

static void disconnected(struct world *w, struct process *p) {
  struct library *l = &p->library;
  library_leave(w, p);
  rest(w, p, w->calm ? 50 * MILLISECOND : l->timeout / 2);
  if (fault_is(w, FAULT_LATE))
    for (const struct op *op = p->session.pipeline.flight; op; op = op->next)
      if (random_chance(&w->random, 50)) l->late = op->serial;
  trace(w, p->number, "is disconnected");
  session_disconnected(&p->session, p->now);
}

static void expired(struct world *w, struct process *p) {
  trace(w, p->number, "is told: session %d is over", p->library.session);
  session_expired(&p->session, p->now);
  library_open(w, p);
}

static void closed(struct world *w, struct process *p) {
  if (p->library.state == LIBRARY_CONNECTED) {
    disconnected(w, p);
  } else {
    library_leave(w, p);
    rest(w, p, 100 * MILLISECOND);
  }
}

/* Requests. */

bool library_submit(struct world *w, struct process *p, const struct op *op,
                    const struct op *before) {
  struct library *l = &p->library;
  if (l->state != LIBRARY_CONNECTED) return false;
  if (!w->calm && random_chance(&w->random, w->profile.submit_fails))
    return false;
  int number = zoo_request(w, ASK_OP, l->connection);
  struct request *r = &w->zoo.requests[number];
  r->op = op->kind;
  r->persistent = op->persistent;
  r->exact = op->exact;
  r->watch = op->watch;
  r->serial = op->serial;
  r->seen = p->seen;
  r->path = paths_number(&w->paths, op->path, strlen(op->path));
  if (op->beside)
    r->beside =
        paths_below(&w->paths, op->path,
                    (size_t)(strrchr(op->path, '/') - op->path), op->beside);
  r->replace = op->replace;
  r->counted = op->counted;
  r->creates = op->creates;
  if (op->provided)
    r->provided = paths_number(&w->paths, op->provided, strlen(op->provided));
  if (before) {
    r->with_serial = before->serial;
    r->with_path = paths_number(&w->paths, before->path, strlen(before->path));
  }
  l->outstanding++;
  l->last_sent = w->now;
  zoo_send(w, number);
  return true;
}

static void keep_watch(struct library *l, const struct request *r, int rc) {
  if (r->op == OP_UNWATCH && rc == REPLY_OK && r->watch) {
    path_set_remove(&l->children, r->path);
  } else if (r->op == OP_UNWATCH && rc == REPLY_OK) {
    path_set_remove(&l->data, r->path);
    path_set_remove(&l->missing, r->path);
  } else if (r->op == OP_LIST && r->watch && rc == REPLY_OK) {
    path_set_add(&l->children, r->path);
  } else if ((r->op == OP_GET || r->op == OP_EXISTS) && rc == REPLY_OK) {
    path_set_add(&l->data, r->path);
  } else if (r->op == OP_EXISTS && rc == REPLY_NO_NODE) {
    path_set_add(&l->missing, r->path);
  }
}

/* The children as the server saw them, in no order. */
static struct listing *listing_of(struct world *w, int path, int view,
                                  bool all) {
  const char *names[NODES_MAX];
  const struct history *h = &w->zoo.history;
  int name_count = 0;
  for (CHILDREN(child, h, path))
    if (node_seen(child, view))
      names[name_count++] = paths_name(&w->paths, child->path);
  struct listing *listing =
      (all ? listing_new_of_all : listing_new)(names, name_count);
  if (listing) listing->creates = history_creates(h, path, view);
  return listing;
}

static void describe_node(const struct world *w, const struct note *note,
                          struct reply *reply) {
  const struct znode *node = &w->zoo.history.nodes[note->node];
  reply->path = paths_text(&w->paths, node->path);
  reply->czxid = w->zoo.history.log[node->made].zxid;
  reply->owner = node->session == NOBODY ? 0 : zoo_session_id(node->session);
  reply->size = node->size;
  reply->revoked = node->revoked < note->view;
}

/* A multi tells the path and nothing else. */
static void describe_both(const struct world *w, const struct note *note,
                          struct reply *reply) {
  const struct history *h = &w->zoo.history;
  int beside = h->log[h->nodes[note->node].made].beside;
  *reply = (struct reply){.path = paths_text(&w->paths, h->nodes[beside].path)};
}

static const char *const op_names[] = {
    [OP_CREATE] = "create",       [OP_MKDIR] = "mkdir",
    [OP_LIST] = "list",           [OP_GET] = "get",
    [OP_EXISTS] = "exists",       [OP_REMOVE] = "remove",
    [OP_SYNC] = "sync",           [OP_READ] = "check",
    [OP_HEARTBEAT] = "heartbeat", [OP_PING] = "ping",
    [OP_UNWATCH] = "unwatch",     [OP_CHECK_ACL] = "rehearse",
    [OP_NAMES] = "names",
};

static bool on_renewal(struct world *w, struct process *p, uint64_t serial) {
  const struct op *op = p->session.pipeline.flight;
  while (op && op->serial != serial) op = op->next;
  if (!op) return false;
  if (op->renews &&
      (p->session.all.holders > 0 || random_chance(&w->random, 20)))
    faults_see(w, p->number, TRAP_ROUND);
  return op->renews;
}

/* The name of no node that was asked for: nothing, the directory, another. */
static const char *garble(struct world *w, const char *path) {
  static char text[256];
  size_t length = strlen(path);
  char *name = text + (strrchr(path, '/') - path);
  memset(text, 0, sizeof text);
  memcpy(text, path, length + 1);
  switch (random_below(&w->random, 5)) {
    case 0:
      return NULL;
    case 1:
      memset(text, 0, sizeof text);
      break;
    case 2:
      *name = '\0';
      break;
    case 3:
      name[1] ^= 1;
      break;
    default:
      memset(text + length, '1', 80);
  }
  return text;
}

static void tell(struct world *w, struct process *p, const struct request *r,
                 uint64_t serial, enum op_kind op, const struct reply *reply,
                 int view) {
  trace(w, p->number, "%s #%llu: %d %s (view %d)", op_names[op],
        (unsigned long long)serial, reply->rc,
        reply->path ? reply->path : paths_text(&w->paths, r->path), view);
  bool renewal = on_renewal(w, p, serial);
  session_reply(&p->session, p->now, serial, reply);
  if (renewal && reply_proves(op, reply->rc)) invariants_proved(w, p);
}

/* What becomes of one of the two of a transaction. */
static int part_of(const struct request *r, enum op_kind op, int rc) {
  bool refused = rc != REPLY_OK && !reply_is_unknown(rc) && !r->throttled;
  return refused && r->refused != op ? REPLY_UNDONE : rc;
}

static void answered(struct world *w, struct process *p,
                     const struct note *note) {
  const struct request *r = &w->zoo.requests[note->request];
  struct reply reply = {.rc = note->rc};
  if (note->node != NO_NODE && note->rc == REPLY_OK)
    describe_node(w, note, &reply);
  if (r->op == OP_CREATE && r->beside != NOBODY && reply.path)
    describe_both(w, note, &reply);
  if (r->provided != NOBODY) reply.owner = reply.czxid = 0;
  if (r->op == OP_CREATE && reply.path && fault_is(w, FAULT_GARBLE) &&
      random_chance(&w->random, 30)) {
    reply.path = garble(w, reply.path);
  }
  if ((r->op == OP_LIST || r->op == OP_NAMES) && note->rc == REPLY_OK)
    reply.listing = listing_of(w, r->path, note->view, r->op == OP_NAMES);
  if (r->with_serial) {
    const struct reply removed = {.rc = part_of(r, OP_REMOVE, note->rc)};
    reply.rc = part_of(r, OP_CREATE, note->rc);
    reply.owner = reply.czxid = 0;
    tell(w, p, r, r->with_serial, OP_REMOVE, &removed, note->view);
  }
  tell(w, p, r, r->serial, r->op, &reply, note->view);
  listing_free(reply.listing);
}

/* Did it want to hear of that?  It is told once. */
static bool take_watch(struct library *l, const struct note *note) {
  bool known = false;
  if (note->event != WATCH_CHILDREN) {
    known = path_set_has(&l->data, note->path) ||
            path_set_has(&l->missing, note->path);
    path_set_remove(&l->data, note->path);
    path_set_remove(&l->missing, note->path);
  }
  if (note->event != WATCH_CHANGED) {
    known |= path_set_has(&l->children, note->path);
    path_set_remove(&l->children, note->path);
  }
  return known;
}

static void fired(struct world *w, struct process *p, const struct note *note) {
  static const char *const names[] = {[WATCH_DELETED] = "deleted",
                                      [WATCH_CHANGED] = "changed",
                                      [WATCH_CHILDREN] = "children"};
  faults_see(w, p->number, TRAP_EVENT);
  trace(w, p->number, "event: %s %s (view %d)", names[note->event],
        paths_text(&w->paths, note->path), note->view);
  session_event(&p->session, p->now, note->event,
                paths_text(&w->paths, note->path));
}

/* (An event does not tell the library how new it is.) */
static void see_answer(struct library *l, const struct note *note) {
  l->outstanding--;
  if (note->view > l->seen) l->seen = note->view;
}

void library_hears(struct world *w, struct process *p,
                   const struct note *note) {
  struct library *l = &p->library;
  if (note->connection != l->connection) return; /* of an older one */
  l->last_received = w->now;
  if (l->late && random_chance(&w->random, 15)) answer_late(w, p);
  switch (note->kind) {
    case NOTE_CONNECTED:
      connected(w, p);
      break;
    case NOTE_EXPIRED:
      expired(w, p);
      break;
    case NOTE_REPLY:
      see_answer(l, note);
      if (note->view > p->seen) p->seen = note->view;
      keep_watch(l, &w->zoo.requests[note->request], note->rc);
      answered(w, p, note);
      break;
    case NOTE_EVENT:
      if (!take_watch(l, note)) break;
      if (note->view > p->seen) p->seen = note->view;
      fired(w, p, note);
      break;
    case NOTE_PONG:
      see_answer(l, note);
      break;
    case NOTE_CLOSED:
      closed(w, p);
  }
  arrange(w, p);
}

/* Its clock. */

/* As the client does it (client.c). */
static void give_up_session(struct world *w, struct process *p) {
  trace(w, p->number, "gives session %d up", p->library.session);
  w->zoo.sessions[p->library.session].given_up = true;
  session_expired(&p->session, p->now);
  library_open(w, p);
}

/* (When an attempt begins, and is given up, is client.c's to say.) */
void library_dozed(struct world *w, struct process *p, int64_t time) {
  p->library.last_sent += time;
  p->library.last_received += time;
  arrange(w, p);
}

void library_looks(struct world *w, struct process *p) {
  struct library *l = &p->library;
  int64_t patience = l->timeout / 3 * 2;
  if (l->state == LIBRARY_RESTING && w->now >= l->tries_at) {
    try(w, p);
  } else if (l->state == LIBRARY_ATTEMPTING &&
             w->now >= l->tried_at + patience) {
    library_leave(w, p);
    if (session_is_overdue(&p->session, p->now))
      give_up_session(w, p);
    else
      rest(w, p, 100 * MILLISECOND);
  } else if (l->state == LIBRARY_CONNECTED &&
             w->now >= l->last_received + patience) {
    disconnected(w, p);
  } else if (l->state == LIBRARY_CONNECTED && l->outstanding == 0 &&
             w->now >= l->last_sent + l->timeout / 3) {
    l->last_sent = w->now;
    l->outstanding++;
    zoo_send(w, zoo_request(w, ASK_PING, l->connection));
  }
  arrange(w, p);
}

void library_wakes(struct world *w, struct process *p) {
  struct library *l = &p->library;
  if (l->wakes_at <= w->now) l->wakes_at = NEVER;
  if (p->crashed || !p->open || process_is_paused(w, p)) return;
  if (w->now < due_of(l)) {
    arrange(w, p); /* it was due earlier once */
    return;
  }
  process_begins(w, p);
  library_looks(w, p);
  process_ends(w, p);
}
