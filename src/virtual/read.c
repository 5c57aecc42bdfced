#include "read.h"

#include "connection.h"

struct zk_reply *reply_new(struct message **message,
                           const struct pending *pending) {
  *message = message_new(DOWN_REPLY);
  (*message)->arena = arena_new();
  (*message)->trap = zk_request_kind(pending->request);
  (*message)->silent = pending->silent;
  struct zk_reply *reply = arena_alloc((*message)->arena, sizeof *reply);
  (*message)->content = reply;
  reply->xid = pending->request->xid;
  reply->op = pending->request->op;
  reply->data.length = -1;
  return reply;
}

void event_send(struct zk_connection *c, enum zk_event_type type,
                const char *path, int64_t zxid, int64_t now) {
  struct message *message = message_new(DOWN_EVENT);
  message->arena = arena_new();
  struct zk_event *event = arena_alloc(message->arena, sizeof *event);
  *event = (struct zk_event){type, arena_text(message->arena, path), zxid};
  message->content = event;
  connection_tell(c, message, now);
}

/* What the functions that answer a request need. They fill `reply`. */
struct answer {
  struct server *server;
  struct zk_connection *connection;
  const struct zk_request *request;
  const struct acl_list *identities;
  struct zk_reply *reply;
  struct arena *arena;
};

static void watch(const struct answer *a, bool child) {
  if (a->request->watch)
    watches_add(&a->server->watches, a->request->path, child,
                a->connection->order, a->connection);
}

static bool may(const struct answer *a, const struct node *node,
                int32_t perms) {
  return acl_grants(node->state.acls, perms, a->identities);
}

static int exists(const struct answer *a, const struct node *node) {
  bool hides = a->server->ensemble->settings.hides_nodes;
  if (node && hides && !may(a, node, ZK_READ)) return ZK_NO_AUTH;
  watch(a, false);
  if (!node) return ZK_NO_NODE;
  node_stat(node, &a->reply->stat);
  return ZK_OK;
}

static int get_data(const struct answer *a, const struct node *node) {
  if (!node) return ZK_NO_NODE;
  if (!may(a, node, ZK_READ)) return ZK_NO_AUTH;
  watch(a, false);
  node_stat(node, &a->reply->stat);
  const struct blob *data = node->state.data;
  if (data)
    a->reply->data = (struct zk_data){arena_bytes(a->arena, data->bytes,
                                                  (size_t)data->length),
                                      data->length};
  return ZK_OK;
}

static int get_children(const struct answer *a, const struct node *node) {
  if (!node) return ZK_NO_NODE;
  if (!may(a, node, ZK_READ)) return ZK_NO_AUTH;
  watch(a, true);
  if (a->request->op == ZK_GET_CHILDREN2) node_stat(node, &a->reply->stat);
  const char **names =
      arena_alloc(a->arena, (size_t)node->count * sizeof *names + 1);
  for (int i = 0; i < node->count; i++)
    names[i] = arena_text(a->arena, node->children[i]->name);
  a->reply->names = (struct zk_strings){node->count, names};
  return ZK_OK;
}

static int get_acl(const struct answer *a, const struct node *node) {
  if (!node) return ZK_NO_NODE;
  if (!may(a, node, ZK_READ | ZK_ADMIN)) return ZK_NO_AUTH;
  node_stat(node, &a->reply->stat);
  a->reply->acls =
      acl_list_shown(node->state.acls, !may(a, node, ZK_ADMIN), a->arena);
  return ZK_OK;
}

static int remove_watches(const struct answer *a) {
  struct watches *watches = &a->server->watches;
  const char *path = a->request->path;
  uint64_t order = a->connection->order;
  bool removed = false;
  if (a->request->flags & ZK_DATA_WATCHES)
    removed |= watches_remove(watches, path, false, order);
  if (a->request->flags & ZK_CHILD_WATCHES)
    removed |= watches_remove(watches, path, true, order);
  return removed ? ZK_OK : ZK_NO_WATCHER;
}

/* Restores a watch that the client had in its previous connection. If the event
 * of this watch has happened meanwhile, sends the event instead. `missed`: the
 * type of this event, or 0. */
static void set_watch(const struct answer *a, const char *path,
                      enum zk_event_type missed, bool child, int64_t now) {
  if (missed)
    event_send(a->connection, missed, path, -1, now);
  else
    watches_add(&a->server->watches, path, child, a->connection->order,
                a->connection);
}

static void set_watches(const struct answer *a, int64_t now) {
  const struct zk_request *r = a->request;
  const struct tree *tree = a->server->tree;
  for (int i = 0; i < r->data_watches.count; i++) {
    const char *path = r->data_watches.list[i];
    const struct node *node = tree_find(tree, path);
    set_watch(a, path,
              !node                         ? ZK_NODE_DELETED
              : node->state.mzxid > r->seen ? ZK_NODE_CHANGED
                                            : 0,
              false, now);
  }
  for (int i = 0; i < r->exist_watches.count; i++) {
    const char *path = r->exist_watches.list[i];
    set_watch(a, path, tree_find(tree, path) ? ZK_NODE_CREATED : 0, false, now);
  }
  for (int i = 0; i < r->child_watches.count; i++) {
    const char *path = r->child_watches.list[i];
    const struct node *node = tree_find(tree, path);
    set_watch(a, path,
              !node                         ? ZK_NODE_DELETED
              : node->state.pzxid > r->seen ? ZK_CHILDREN_CHANGED
                                            : 0,
              true, now);
  }
}

static int answer(const struct answer *a, int64_t now) {
  const struct zk_request *r = a->request;
  const struct node *node = tree_find(a->server->tree, r->path);
  switch (r->op) {
    case ZK_EXISTS:
      return exists(a, node);
    case ZK_GET_DATA:
      return get_data(a, node);
    case ZK_GET_CHILDREN:
    case ZK_GET_CHILDREN2:
      return get_children(a, node);
    case ZK_GET_ACL:
      return get_acl(a, node);
    case ZK_SYNC:
      a->reply->path = arena_text(a->arena, r->path);
      return ZK_OK;
    case ZK_REMOVE_WATCHES:
      return remove_watches(a);
    case ZK_SET_WATCHES:
      set_watches(a, now);
      return ZK_OK;
    case ZK_WHO_AM_I:
      a->reply->acls = identities_shown(a->identities, a->arena);
      return ZK_OK;
    case ZK_PING:
      return ZK_OK;
    default:
      return ZK_UNIMPLEMENTED;
  }
}

void read_answer(struct server *server, struct zk_connection *c,
                 const struct pending *pending, int rc, int64_t now) {
  struct message *message;
  struct zk_reply *reply = reply_new(&message, pending);
  struct answer a = {.server = server,
                     .connection = c,
                     .request = pending->request,
                     .identities = pending->identities,
                     .reply = reply,
                     .arena = message->arena};
  reply->rc = rc ? rc : answer(&a, now);
  reply->zxid = server->tree->zxid;
  connection_tell(c, message, now);
}
