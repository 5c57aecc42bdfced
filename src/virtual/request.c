#include "request.h"

#include <string.h>

static struct zk_acls copy_acls(struct arena *arena,
                                const struct zk_acls *acls) {
  if (acls->count <= 0) return (struct zk_acls){acls->count, NULL};
  struct zk_acl *list = arena_alloc(arena, (size_t)acls->count * sizeof *list);
  for (int i = 0; i < acls->count; i++)
    list[i] = (struct zk_acl){acls->list[i].perms,
                              arena_text(arena, acls->list[i].scheme),
                              arena_text(arena, acls->list[i].id)};
  return (struct zk_acls){acls->count, list};
}

static struct zk_strings copy_strings(struct arena *arena,
                                      const struct zk_strings *strings) {
  if (strings->count <= 0) return (struct zk_strings){0, NULL};
  const char **list = arena_alloc(arena, (size_t)strings->count * sizeof *list);
  for (int i = 0; i < strings->count; i++)
    list[i] = arena_text(arena, strings->list[i]);
  return (struct zk_strings){strings->count, list};
}

static void copy_into(struct arena *arena, struct zk_request *copy,
                      const struct zk_request *r) {
  *copy = *r;
  copy->path = arena_text(arena, r->path ? r->path : "");
  copy->scheme = arena_text(arena, r->scheme ? r->scheme : "");
  if (r->data.length > 0)
    copy->data.bytes =
        arena_bytes(arena, r->data.bytes, (size_t)r->data.length);
  copy->acls = copy_acls(arena, &r->acls);
  copy->data_watches = copy_strings(arena, &r->data_watches);
  copy->exist_watches = copy_strings(arena, &r->exist_watches);
  copy->child_watches = copy_strings(arena, &r->child_watches);
  if (r->part_count <= 0) return;
  struct zk_request *parts =
      arena_alloc(arena, (size_t)r->part_count * sizeof *parts);
  for (int i = 0; i < r->part_count; i++)
    copy_into(arena, &parts[i], &r->parts[i]);
  copy->parts = parts;
}

struct zk_request *request_copy(struct arena *arena,
                                const struct zk_request *request) {
  struct zk_request *copy = arena_alloc(arena, sizeof *copy);
  copy_into(arena, copy, request);
  return copy;
}

static void copy_reply_into(struct arena *arena, struct zk_reply *copy,
                            const struct zk_reply *r) {
  *copy = *r;
  copy->path = arena_text(arena, r->path);
  if (r->data.length > 0)
    copy->data.bytes =
        arena_bytes(arena, r->data.bytes, (size_t)r->data.length);
  if (r->names.list) {
    copy->names = copy_strings(arena, &r->names);
    if (!copy->names.list) copy->names.list = arena_alloc(arena, 1);
  }
  if (r->acls.list) {
    copy->acls = copy_acls(arena, &r->acls);
    if (!copy->acls.list) copy->acls.list = arena_alloc(arena, 1);
  }
  if (!r->parts) return;
  struct zk_reply *parts =
      arena_alloc(arena, (size_t)r->part_count * sizeof *parts + 1);
  for (int i = 0; i < r->part_count; i++)
    copy_reply_into(arena, &parts[i], &r->parts[i]);
  copy->parts = parts;
}

struct zk_reply *reply_copy(struct arena *arena, const struct zk_reply *reply) {
  struct zk_reply *copy = arena_alloc(arena, sizeof *copy);
  copy_reply_into(arena, copy, reply);
  return copy;
}

/* ---- Sizes --------------------------------------------------------------- */

static int64_t text_size(const char *text) {
  return 4 + (text ? (int64_t)strlen(text) : 0);
}

static int64_t data_size(const struct zk_data *data) {
  return 4 + (data->length > 0 ? data->length : 0);
}

static int64_t acls_size(const struct zk_acls *acls) {
  int64_t size = 4;
  for (int i = 0; i < acls->count; i++)
    size += 4 + text_size(acls->list[i].scheme) + text_size(acls->list[i].id);
  return size;
}

static int64_t strings_size(const struct zk_strings *strings) {
  int64_t size = 4;
  for (int i = 0; i < strings->count; i++) size += text_size(strings->list[i]);
  return size;
}

static int64_t payload_size(const struct zk_request *r) {
  int64_t path = text_size(r->path);
  switch (r->op) {
    case ZK_CREATE:
    case ZK_CREATE2:
    case ZK_CREATE_CONTAINER:
      return path + data_size(&r->data) + acls_size(&r->acls) + 4;
    case ZK_CREATE_TTL:
      return path + data_size(&r->data) + acls_size(&r->acls) + 12;
    case ZK_DELETE:
    case ZK_CHECK:
    case ZK_REMOVE_WATCHES:
      return path + 4;
    case ZK_EXISTS:
    case ZK_GET_DATA:
    case ZK_GET_CHILDREN:
    case ZK_GET_CHILDREN2:
      return path + 1;
    case ZK_SET_DATA:
      return path + data_size(&r->data) + 4;
    case ZK_GET_ACL:
    case ZK_SYNC:
      return path;
    case ZK_SET_ACL:
      return path + acls_size(&r->acls) + 4;
    case ZK_AUTH:
      return 4 + text_size(r->scheme) + data_size(&r->data);
    case ZK_SET_WATCHES:
      return 8 + strings_size(&r->data_watches) +
             strings_size(&r->exist_watches) + strings_size(&r->child_watches);
    case ZK_MULTI: {
      int64_t size = 9;
      for (int i = 0; i < r->part_count; i++)
        size += 9 + payload_size(&r->parts[i]);
      return size;
    }
    default:
      return 0;
  }
}

int64_t request_size(const struct zk_request *request) {
  return 8 + payload_size(request);
}

bool request_is_write(enum zk_op op) {
  switch (op) {
    case ZK_CREATE:
    case ZK_CREATE2:
    case ZK_CREATE_CONTAINER:
    case ZK_CREATE_TTL:
    case ZK_DELETE:
    case ZK_SET_DATA:
    case ZK_SET_ACL:
    case ZK_CHECK:
    case ZK_MULTI:
    case ZK_CLOSE_SESSION:
      return true;
    default:
      return false;
  }
}

int zk_request_kind(const struct zk_request *request) {
  if (request->op != ZK_MULTI) return request->op;
  if (request->part_count == 0) return 100 * ZK_MULTI;
  int first = request->parts[0].op;
  if (first == ZK_CHECK && request->part_count > 1)
    return 10000 * ZK_MULTI + 100 * ZK_CHECK + request->parts[1].op;
  return 100 * ZK_MULTI + first;
}
