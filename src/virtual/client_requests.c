/* Implements the functions of zookeeper.h that send a request. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "arena.h"
#include "client_inside.h"

static bool is_unusable(const zhandle_t *zh) {
  return zh->state == ZOO_EXPIRED_SESSION_STATE ||
         zh->state == ZOO_AUTH_FAILED_STATE;
}

/* Returns ZOK, or the error code that the library returns for a call without
 * sending a request. */
static int refusal(const zhandle_t *zh, const char *path) {
  size_t size = path ? strlen(path) : 0;
  if (is_unusable(zh)) return ZINVALIDSTATE;
  if (size == 0 || path[0] != '/') return ZBADARGUMENTS;
  if (size > 1 && path[size - 1] == '/') return ZBADARGUMENTS;
  return strstr(path, "//") ? ZBADARGUMENTS : ZOK;
}

static struct outstanding *ask(zhandle_t *zh, struct zk_request *request,
                               const void *data) {
  struct outstanding *asked = fresh(sizeof *asked);
  request->xid = asked->xid = ++zh->xid;
  asked->op = request->op;
  asked->path = fresh_text(request->path);
  asked->data = data;
  *zh->end = asked;
  zh->end = &asked->next;
  client_send(zh, request);
  return asked;
}

static struct zk_acls acls_of(struct arena *arena,
                              const struct ACL_vector *acl) {
  struct zk_acl *list =
      arena_alloc(arena, (size_t)(acl->count + 1) * sizeof *list);
  for (int i = 0; i < acl->count; i++)
    list[i] = (struct zk_acl){acl->data[i].perms, acl->data[i].id.scheme,
                              acl->data[i].id.id};
  return (struct zk_acls){acl->count, list};
}

static enum zk_op create_op(int mode, enum zk_op plain) {
  return mode == ZK_CONTAINER ? ZK_CREATE_CONTAINER : plain;
}

int zoo_acreate2(zhandle_t *zh, const char *path, const char *value, int size,
                 const struct ACL_vector *acl, int mode,
                 string_stat_completion_t completion, const void *data) {
  int rc =
      refusal(zh, mode & ZK_SEQUENTIAL && mode < ZK_CONTAINER ? "/" : path);
  if (rc != ZOK) return rc;
  struct arena *arena = arena_new();
  struct zk_request request = {.op = create_op(mode, ZK_CREATE2),
                               .path = path,
                               .data = {value, value ? size : -1},
                               .flags = mode,
                               .acls = acls_of(arena, acl)};
  ask(zh, &request, data)->on_created = completion;
  arena_free(arena);
  return ZOK;
}

int zoo_adelete(zhandle_t *zh, const char *path, int version,
                void_completion_t completion, const void *data) {
  int rc = refusal(zh, path);
  if (rc != ZOK) return rc;
  struct zk_request request = {.op = ZK_DELETE,
                               .path = path,
                               .version = version};
  ask(zh, &request, data)->on_void = completion;
  return ZOK;
}

int zoo_aset(zhandle_t *zh, const char *path, const char *value, int size,
             int version, stat_completion_t completion, const void *data) {
  int rc = refusal(zh, path);
  if (rc != ZOK) return rc;
  struct zk_request request = {.op = ZK_SET_DATA,
                               .path = path,
                               .data = {value, value ? size : -1},
                               .version = version};
  ask(zh, &request, data)->on_stat = completion;
  return ZOK;
}

int zoo_async(zhandle_t *zh, const char *path, string_completion_t completion,
              const void *data) {
  int rc = refusal(zh, path);
  if (rc != ZOK) return rc;
  struct zk_request request = {.op = ZK_SYNC, .path = path};
  ask(zh, &request, data)->on_string = completion;
  return ZOK;
}

/* ---- Reading ------------------------------------------------------------- */

static struct outstanding *ask_to_read(zhandle_t *zh, enum zk_op op,
                                       const char *path, int watch,
                                       const void *data) {
  struct zk_request request = {.op = op, .path = path, .watch = watch != 0};
  struct outstanding *asked = ask(zh, &request, data);
  asked->watch = watch;
  return asked;
}

static int watch_by(const zhandle_t *zh, watcher_fn watcher,
                    const void *context, int kind) {
  assert(!watcher || (watcher == zh->watcher && context == zh->context));
  return watcher ? kind : 0;
}

int zoo_awexists(zhandle_t *zh, const char *path, watcher_fn watcher,
                 void *context, stat_completion_t completion,
                 const void *data) {
  int rc = refusal(zh, path);
  int watch = watch_by(zh, watcher, context, WATCH_EXISTS);
  if (rc != ZOK) return rc;
  ask_to_read(zh, ZK_EXISTS, path, watch, data)->on_stat = completion;
  return ZOK;
}

int zoo_aexists(zhandle_t *zh, const char *path, int watch,
                stat_completion_t completion, const void *data) {
  return zoo_awexists(zh, path, watch ? zh->watcher : NULL, zh->context,
                      completion, data);
}

int zoo_awget(zhandle_t *zh, const char *path, watcher_fn watcher,
              void *context, data_completion_t completion, const void *data) {
  int rc = refusal(zh, path);
  int watch = watch_by(zh, watcher, context, WATCH_DATA);
  if (rc != ZOK) return rc;
  ask_to_read(zh, ZK_GET_DATA, path, watch, data)->on_data = completion;
  return ZOK;
}

int zoo_aget(zhandle_t *zh, const char *path, int watch,
             data_completion_t completion, const void *data) {
  return zoo_awget(zh, path, watch ? zh->watcher : NULL, zh->context,
                   completion, data);
}

int zoo_awget_children(zhandle_t *zh, const char *path, watcher_fn watcher,
                       void *context, strings_completion_t completion,
                       const void *data) {
  int rc = refusal(zh, path);
  int watch = watch_by(zh, watcher, context, WATCH_CHILDREN_OF);
  if (rc != ZOK) return rc;
  ask_to_read(zh, ZK_GET_CHILDREN, path, watch, data)->on_strings = completion;
  return ZOK;
}

int zoo_aget_children2(zhandle_t *zh, const char *path, int watch,
                       strings_stat_completion_t completion, const void *data) {
  int rc = refusal(zh, path);
  assert(!watch);
  if (rc != ZOK) return rc;
  ask_to_read(zh, ZK_GET_CHILDREN2, path, watch, data)->on_names = completion;
  return ZOK;
}

/* `completion` is the callback itself, as in calls of the real library.
 * zookeeper.h wrongly declares it as a pointer to a function pointer
 * (library_requests.c). */
int zoo_aremove_all_watches(zhandle_t *zh, const char *path,
                            ZooWatcherType type, int local,
                            void_completion_t *completion, const void *data) {
  int rc = refusal(zh, path);
  int kinds = (type & ZWATCHTYPE_CHILD ? WATCH_CHILDREN_OF : 0) |
              (type & ZWATCHTYPE_DATA ? WATCH_DATA | WATCH_EXISTS : 0);
  assert(!local);
  if (rc != ZOK) return rc;
  if (!watched_find(&zh->watches, path, kinds)) return ZNOWATCHER;
  struct zk_request request = {.op = ZK_REMOVE_WATCHES,
                               .path = path,
                               .flags = (int32_t)type};
  struct outstanding *asked = ask(zh, &request, data);
  asked->on_void = (void_completion_t)completion;
  asked->watch = kinds;
  return ZOK;
}

/* ---- Transactions -------------------------------------------------------- */

static struct zk_request part_of(struct arena *arena, const zoo_op_t *op) {
  struct zk_request part = {.op = (enum zk_op)op->type};
  switch (op->type) {
    case ZK_CREATE:
    case ZK_CREATE_CONTAINER:
      part.path = op->create_op.path;
      part.data =
          (struct zk_data){op->create_op.data,
                           op->create_op.data ? op->create_op.datalen : -1};
      part.flags = op->create_op.flags;
      part.acls = acls_of(arena, op->create_op.acl);
      break;
    case ZK_DELETE:
      part.path = op->delete_op.path;
      part.version = op->delete_op.version;
      break;
    case ZK_SET_DATA:
      part.path = op->set_op.path;
      part.data = (struct zk_data){op->set_op.data,
                                   op->set_op.data ? op->set_op.datalen : -1};
      part.version = op->set_op.version;
      break;
    case ZK_CHECK:
      part.path = op->check_op.path;
      part.version = op->check_op.version;
  }
  return part;
}

int zoo_amulti(zhandle_t *zh, int count, const zoo_op_t *ops,
               zoo_op_result_t *results, void_completion_t completion,
               const void *data) {
  if (is_unusable(zh)) return ZINVALIDSTATE;
  struct arena *arena = arena_new();
  struct zk_request *parts =
      arena_alloc(arena, (size_t)(count + 1) * sizeof *parts);
  for (int i = 0; i < count; i++) parts[i] = part_of(arena, &ops[i]);
  struct zk_request request = {.op = ZK_MULTI,
                               .part_count = count,
                               .parts = parts};
  struct outstanding *asked = ask(zh, &request, data);
  asked->on_void = completion;
  asked->part_count = count;
  asked->results = results;
  asked->parts = fresh((size_t)(count + 1) * sizeof *ops);
  memcpy(asked->parts, ops, (size_t)count * sizeof *ops);
  arena_free(arena);
  return ZOK;
}

/* ---- Credentials --------------------------------------------------------- */

int zoo_add_auth(zhandle_t *zh, const char *scheme, const char *secret,
                 int size, void_completion_t completion, const void *data) {
  struct auth **link = &zh->auths;
  (void)data;
  assert(!completion);
  if (is_unusable(zh)) return ZINVALIDSTATE;
  while (*link) link = &(*link)->next;
  struct auth *auth = *link = fresh(sizeof *auth);
  auth->scheme = fresh_text(scheme);
  auth->secret = fresh((size_t)size + 1);
  memcpy(auth->secret, secret, (size_t)size);
  auth->size = size;
  if (client_is_connected(zh)) client_send_auth(zh, auth);
  return ZOK;
}
