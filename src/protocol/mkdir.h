/* Creating a directory and its parents.
 *
 * zklock creates the directory itself first, because usually its parents exist.
 * If the parent is missing, zklock creates the parent, and then each level
 * below.
 *
 * Directories are containers, which servers delete when they are empty. The
 * chroot belongs to the application, so zklock creates it as a persistent node.
 *
 * A directory that denies access to its creator is useless. The clients that
 * want to use it could not delete it either. Only a server knows the client's
 * identities, such as its address. So if the ACL is in doubt, a rehearsal comes
 * first: a transaction that tests the ACL and creates nothing. The result of a
 * rehearsal is valid in its connection. */
#ifndef ZKLOCK_MKDIR_H
#define ZKLOCK_MKDIR_H

#include "pipeline.h"

#pragma GCC visibility push(hidden)

enum mkdir_step {
  MKDIR_DONE,
  MKDIR_CONTINUES, /* the path is incomplete: send another request */
  MKDIR_REFUSED,
};

/* Returns whether the next request is a check of the ACL. */
static inline bool mkdir_checks_acl(const struct pipeline *pipeline) {
  return pipeline->acl_may_deny &&
         pipeline->acl_checked_in != pipeline->connection;
}

/* Prepares `op` to create the node at the first `length` bytes of `path`, or to
 * check the ACL. Copies these bytes to `part`, the path of `op`, which has room
 * for the whole path. */
void mkdir_prepare(struct op *op, const struct pipeline *pipeline, char *part,
                   const char *path, size_t length);
/* Returns the next step after the reply `rc`, which is not a transient refusal.
 * Sets `*length` to the length for the next request. */
enum mkdir_step mkdir_on_reply(const struct op *op, struct pipeline *pipeline,
                               int rc, const char *path, size_t *length);

#pragma GCC visibility pop

#endif
