/* The ZooKeeper client library beneath one session: its connection, its
 * watches, its own pings and its own idea of when a server is dead. */
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
  memset(l, 0, sizeof *l);
  l->connection = l->session = l->server = NOBODY;
  l->wakes_at = NEVER;
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
  l->timeout = w->profile.timeout;
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

static void try(struct world *w, struct process *p) {
  struct library *l = &p->library;
  int server = random_below(&w->random, w->zoo.server_count);
  l->state = LIBRARY_ATTEMPTING;
  l->tried_at = w->now;
  l->connection =
      zoo_connect(w, p->number, server, l->session, l->timeout, l->seen);
  trace(w, p->number, "tries server %d", server);
  if (w->now >= p->unreachable_until)
    zoo_send(w, zoo_request(w, ASK_CONNECT, l->connection));
  arrange(w, p);
}

static void send_watches(struct world *w, struct process *p) {
  struct library *l = &p->library;
  struct connection *c = &w->zoo.connections[l->connection];
  c->data = l->data;
  c->missing = l->missing;
  c->children = l->children;
  c->seen = l->seen;
  zoo_send(w, zoo_request(w, ASK_WATCHES, l->connection));
}

static void connected(struct world *w, struct process *p) {
  struct library *l = &p->library;
  const struct connection *c = &w->zoo.connections[l->connection];
  bool again = l->session != NOBODY;
  count(w, again ? SAW_RECONNECTED : SAW_CONNECTED);
  if (again && l->server != c->server) count(w, SAW_MOVED_SERVER);
  l->state = LIBRARY_CONNECTED;
  l->session = c->session;
  l->server = c->server;
  l->timeout = c->timeout;
  l->connected_at = l->last_sent = l->last_received = w->now;
  trace(w, p->number, "connected to server %d, session %d", c->server,
        c->session);
  if (again) send_watches(w, p);
  session_connected(&p->session, p->now, zoo_session_id(c->session), c->timeout,
                    process_clock_at(p, l->tried_at));
}

/* Answers that nobody waits for any more: they must do nothing. */
static void answer_late(struct world *w, struct process *p) {
  struct reply reply = {.rc = REPLY_NO_NODE};
  count(w, SAW_LATE_ANSWER);
  trace(w, p->number, "a late answer to #%llu",
        (unsigned long long)p->library.late);
  session_reply(&p->session, p->now, p->library.late, &reply);
  if (random_chance(&w->random, 50)) p->library.late = 0;
}

static bool was_made(const struct world *w, const char *prefix) {
  const struct history *h = &w->zoo.history;
  for (int i = 0; i < h->node_count; i++)
    if (strncmp(paths_text(&w->paths, h->nodes[i].path), prefix,
                strlen(prefix)) == 0)
      return true;
  return false;
}

static void count_losses(struct world *w, const struct op *op) {
  for (; op; op = op->next) {
    if (op->kind == OP_CREATE) {
      count(w, SAW_CREATE_LOST);
      if (was_made(w, op->path)) count(w, SAW_CREATE_LOST_APPLIED);
    } else if (op->kind == OP_REMOVE) {
      struct history *h = &w->zoo.history;
      int path = paths_number(&w->paths, op->path, strlen(op->path));
      count(w, SAW_REMOVE_LOST);
      if (history_find(h, &w->paths, path, h->log_count) == NO_NODE)
        count(w, SAW_REMOVE_LOST_APPLIED);
    }
  }
}

static void disconnected(struct world *w, struct process *p) {
  struct library *l = &p->library;
  count_losses(w, p->session.flight);
  if (fault_is(w, FAULT_LATE))
    for (const struct op *op = p->session.flight; op; op = op->next)
      if (random_chance(&w->random, 50)) l->late = op->serial;
  library_leave(w, p);
  trace(w, p->number, "is disconnected");
  session_disconnected(&p->session, p->now);
  rest(w, p, w->calm ? 50 * MILLISECOND : l->timeout / 2);
}

static void expired(struct world *w, struct process *p) {
  struct library *l = &p->library;
  count(w, SAW_EXPIRY_TOLD);
  trace(w, p->number, "is told: session %d is over", l->session);
  library_leave(w, p);
  l->state = LIBRARY_CLOSED;
  session_expired(&p->session, p->now);
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

bool library_submit(struct world *w, struct process *p, const struct op *op) {
  struct library *l = &p->library;
  if (l->state != LIBRARY_CONNECTED) return false;
  if (!w->calm && random_chance(&w->random, w->profile.submit_fails)) {
    count(w, SAW_SUBMIT_FAILED);
    return false;
  }
  int number = zoo_request(w, ASK_OP, l->connection);
  struct request *r = &w->zoo.requests[number];
  r->op = op->kind;
  r->persistent = op->persistent;
  r->exact = op->exact;
  r->watch = op->watch;
  r->serial = op->serial;
  r->path = paths_number(&w->paths, op->path, strlen(op->path));
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
static struct listing *listing_of(struct world *w, int path, int view) {
  const char *names[NODES_MAX];
  const struct history *h = &w->zoo.history;
  int name_count = 0;
  int child = history_first_child(h, path);
  for (; child != NO_NODE; child = h->nodes[child].sibling) {
    if (!node_seen(&h->nodes[child], view)) continue;
    const char *text = paths_text(&w->paths, h->nodes[child].path);
    names[name_count++] = strrchr(text, '/') + 1;
  }
  struct listing *listing = listing_new(names, name_count);
  if (!listing) count(w, SAW_LIST_WITHOUT_MEMORY);
  return listing;
}

static void describe_node(const struct world *w, const struct note *note,
                          struct reply *reply) {
  const struct node *node = &w->zoo.history.nodes[note->node];
  reply->path = paths_text(&w->paths, node->path);
  reply->czxid = w->zoo.history.log[node->made].zxid;
  reply->owner = node->session == NOBODY ? 0 : zoo_session_id(node->session);
  reply->size = node->size;
  reply->revoked = node->revoked < note->view;
}

static const char *const op_names[] = {
    [OP_CREATE] = "create",       [OP_MKDIR] = "mkdir",
    [OP_LIST] = "list",           [OP_GET] = "get",
    [OP_EXISTS] = "exists",       [OP_REMOVE] = "remove",
    [OP_SYNC] = "sync",           [OP_READ] = "check",
    [OP_HEARTBEAT] = "heartbeat", [OP_PING] = "ping",
    [OP_UNWATCH] = "unwatch",
};

static void answered(struct world *w, struct process *p,
                     const struct note *note) {
  const struct request *r = &w->zoo.requests[note->request];
  struct reply reply = {.rc = note->rc};
  struct listing *listing = NULL;
  if (note->node != NO_NODE && note->rc == REPLY_OK)
    describe_node(w, note, &reply);
  if (r->op == OP_LIST && note->rc == REPLY_OK)
    reply.listing = listing = listing_of(w, r->path, note->view);
  p->library.outstanding--;
  keep_watch(&p->library, r, note->rc);
  trace(w, p->number, "%s #%llu: %d %s (view %d)", op_names[r->op],
        (unsigned long long)r->serial, note->rc,
        reply.path ? reply.path : paths_text(&w->paths, r->path), note->view);
  session_reply(&p->session, p->now, r->serial, &reply);
  listing_free(listing);
}

static void fired(struct world *w, struct process *p, const struct note *note) {
  struct library *l = &p->library;
  static const char *const names[] = {[WATCH_DELETED] = "deleted",
                                      [WATCH_CHANGED] = "changed",
                                      [WATCH_CHILDREN] = "children"};
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
  if (!known) return;
  faults_see(w, p->number, TRAP_EVENT);
  trace(w, p->number, "event: %s %s (view %d)", names[note->event],
        paths_text(&w->paths, note->path), note->view);
  session_event(&p->session, p->now, note->event,
                paths_text(&w->paths, note->path));
}

void library_hears(struct world *w, struct process *p,
                   const struct note *note) {
  struct library *l = &p->library;
  if (l->late && random_chance(&w->random, 15)) answer_late(w, p);
  if (note->connection != l->connection) return; /* of an older connection */
  l->last_received = w->now;
  bool replies = note->kind == NOTE_REPLY || note->kind == NOTE_PONG;
  /* (An event does not tell the library how new it is.) */
  if (replies && note->view > l->seen) l->seen = note->view;
  if ((note->kind == NOTE_REPLY || note->kind == NOTE_EVENT) &&
      note->view > p->seen)
    p->seen = note->view;
  switch (note->kind) {
    case NOTE_CONNECTED:
      connected(w, p);
      break;
    case NOTE_EXPIRED:
      expired(w, p);
      break;
    case NOTE_REPLY:
      answered(w, p, note);
      break;
    case NOTE_EVENT:
      fired(w, p, note);
      break;
    case NOTE_PONG:
      l->outstanding--;
      break;
    case NOTE_CLOSED:
      closed(w, p);
  }
  arrange(w, p);
}

/* Its clock. */

void library_looks(struct world *w, struct process *p) {
  struct library *l = &p->library;
  int64_t patience = l->timeout / 3 * 2;
  if (l->state == LIBRARY_RESTING && w->now >= l->tries_at) {
    try(w, p);
  } else if (l->state == LIBRARY_ATTEMPTING &&
             w->now >= l->tried_at + patience) {
    count(w, SAW_ATTEMPT_TIMED_OUT);
    library_leave(w, p);
    rest(w, p, 100 * MILLISECOND);
  } else if (l->state == LIBRARY_CONNECTED &&
             w->now >= l->last_received + patience) {
    count(w, SAW_SILENT_DISCONNECT);
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
