#include "mkdir.h"

#include <string.h>

/* Returns the length of the parent's path, for the first `length` bytes of
 * `path`; 0: the parent is the root. */
static size_t parent_length(const char *path, size_t length) {
  while (length > 0 && path[--length] != '/') continue;
  return length;
}

static size_t child_length(const char *path, size_t length) {
  do length++;
  while (path[length] != '\0' && path[length] != '/');
  return length;
}

void mkdir_prepare(struct op *op, const struct pipeline *pipeline, char *part,
                   const char *path, size_t length) {
  memcpy(part, path, length);
  part[length] = '\0';
  op->kind = mkdir_checks_acl(pipeline) ? OP_CHECK_ACL : OP_MKDIR;
  op->persistent = pipeline->no_containers || length <= pipeline->chroot_length;
  op->shared = length < pipeline->chroot_length;
}

enum mkdir_step mkdir_on_reply(const struct op *op, struct pipeline *pipeline,
                               int rc, const char *path, size_t *length) {
  if (rc == REPLY_OK && op->kind == OP_CHECK_ACL) {
    pipeline->acl_checked_in = pipeline->connection;
  } else if (rc == REPLY_OK || rc == REPLY_NODE_EXISTS) {
    if (path[*length] == '\0') return MKDIR_DONE;
    *length = child_length(path, *length);
  } else if (rc == REPLY_NO_NODE) {
    size_t above = parent_length(path, *length);
    if (above == 0) return MKDIR_REFUSED;
    *length = above;
  } else if (rc == REPLY_UNIMPLEMENTED && !op->persistent) {
    pipeline->no_containers = true;
  } else {
    return MKDIR_REFUSED;
  }
  return MKDIR_CONTINUES;
}
