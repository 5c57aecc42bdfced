#include "apply.h"

#include <stdlib.h>

#include "connection.h"
#include "log.h"
#include "read.h"
#include "server.h"

/* Applies a committed transaction at a server, in three steps. Changes the
 * server's tree, sends the watch events, and answers the client that waits for
 * the transaction. So a client receives an event before any reply that shows
 * the change. */

struct application {
  struct server *server;
  const struct txn *txn;
  int64_t now;
  struct zk_stat *stats; /* the Stats, one for each change */
};

static bool may_know(const struct application *a, const struct zk_connection *c,
                     const struct acl_list *acls) {
  return !a->server->ensemble->settings.hides_events ||
         acl_grants(acls, ZK_READ, c->identities);
}

static bool is_among(const struct watch_entry *list, int count,
                     uint64_t order) {
  for (int i = 0; i < count; i++)
    if (list[i].order == order) return true;
  return false;
}

static void fire(const struct application *a, enum zk_event_type type,
                 const char *path, const struct acl_list *acls,
                 const struct watch_entry *list, int count) {
  for (int i = 0; i < count; i++)
    if (may_know(a, list[i].connection, acls))
      event_send(list[i].connection, type, path, a->txn->zxid, a->now);
}

static void trigger(const struct application *a, enum zk_event_type type,
                    const char *path, bool child, const struct acl_list *acls) {
  int count;
  struct watch_entry *list =
      watches_take(&a->server->watches, path, child, &count);
  fire(a, type, path, acls, list, count);
  free(list);
}

static void created(void *self, const char *path, const struct acl_list *acls) {
  trigger(self, ZK_NODE_CREATED, path, false, acls);
}

static void changed(void *self, const char *path, const struct acl_list *acls) {
  trigger(self, ZK_NODE_CHANGED, path, false, acls);
}

static void children_changed(void *self, const char *path,
                             const struct acl_list *acls) {
  trigger(self, ZK_CHILDREN_CHANGED, path, true, acls);
}

/* Sends the events of a deletion. A client that watches both the node and its
 * children receives one event. */
static void deleted(void *self, const char *path, const struct acl_list *acls) {
  const struct application *a = self;
  struct watches *watches = &a->server->watches;
  int count, child_count, others = 0;
  struct watch_entry *list = watches_take(watches, path, false, &count);
  struct watch_entry *children =
      watches_take(watches, path, true, &child_count);
  for (int i = 0; i < child_count; i++)
    if (!is_among(list, count, children[i].order))
      children[others++] = children[i];
  fire(a, ZK_NODE_DELETED, path, acls, list, count);
  fire(a, ZK_NODE_DELETED, path, acls, children, others);
  free(list);
  free(children);
}

static void keep_stat(void *self, int change, const struct zk_stat *stat) {
  const struct application *a = self;
  a->stats[change] = *stat;
}

/* ---- The reply ----------------------------------------------------------- */

static void describe(struct zk_reply *reply, struct arena *arena,
                     const struct change *c, const struct zk_stat *stat) {
  reply->op = c->op;
  reply->rc = c->rc;
  reply->data.length = -1;
  if (c->rc != ZK_OK) return;
  reply->stat = *stat;
  if (c->op != ZK_DELETE && c->op != ZK_CHECK && c->op != ZK_SET_DATA &&
      c->op != ZK_SET_ACL)
    reply->path = arena_text(arena, c->path);
}

static void describe_parts(struct zk_reply *reply, struct arena *arena,
                           const struct application *a) {
  const struct txn *txn = a->txn;
  bool fails = txn_fails(txn);
  const struct zk_stat none = {0};
  struct zk_reply *parts =
      arena_alloc(arena, (size_t)txn->change_count * sizeof *parts + 1);
  for (int i = 0; i < txn->change_count; i++) {
    struct change change = txn->changes[i];
    describe(&parts[i], arena, &change, &a->stats[i]);
    if (!fails) continue;
    parts[i].path = NULL;
    parts[i].stat = none;
  }
  reply->part_count = txn->change_count;
  reply->parts = parts;
}

static void answer(const struct application *a, struct zk_connection *c) {
  struct message *message;
  const struct txn *txn = a->txn;
  struct zk_reply *reply = reply_new(&message, c->first);
  enum zk_op op = reply->op;
  if (op == ZK_MULTI)
    describe_parts(reply, message->arena, a);
  else if (txn->change_count > 0 && op != ZK_CLOSE_SESSION)
    describe(reply, message->arena, &txn->changes[0], &a->stats[0]);
  reply->op = op;
  reply->rc = txn->rc;
  reply->zxid = txn->zxid;
  connection_tell(c, message, a->now);
}

static void answer_client(const struct application *a) {
  const struct txn *txn = a->txn;
  struct server *server = a->server;
  if (txn->origin.server != server->number) return;
  struct zk_connection *c = server_connection(server, &txn->origin);
  if (!c) return;
  if (txn->op == ZK_CREATE_SESSION) {
    if (!c->established) server_establishes(server, c, true, a->now);
    return;
  }
  if (!c->first || c->first->number != txn->origin.request) return;
  if (txn->rc == ZK_SESSION_MOVED) { /* the client gets no reply */
    connection_drop(c, a->now);
    return;
  }
  answer(a, c);
  server_finishes(server, c, a->now);
}

static void apply(struct server *server, const struct txn *txn, int64_t now) {
  struct application a = {.server = server, .txn = txn, .now = now};
  a.stats = fresh((size_t)txn->change_count * sizeof *a.stats);
  const struct txn_observer observer = {.self = &a,
                                        .created = created,
                                        .deleted = deleted,
                                        .changed = changed,
                                        .children_changed = children_changed,
                                        .stat = keep_stat};
  txn_apply(txn, server->tree, &observer);
  answer_client(&a);
  if (txn->op == ZK_CLOSE_SESSION && txn->rc == ZK_OK)
    server_drops_session(server, txn->session, now);
  free(a.stats);
}

void apply_until(struct server *server, int64_t zxid, int64_t now) {
  for (int i = log_place(server, server->tree->zxid);
       i < server->log_count && server->log[i]->zxid <= zxid; i++) {
    /* Keeps a reference to the transaction: `apply` can stop the server or
     * shorten its log, which would free the transaction. */
    struct txn *txn = txn_keep(server->log[i]);
    apply(server, txn, now);
    txn_drop(txn);
  }
  log_forget(server->ensemble);
}
