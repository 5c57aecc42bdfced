/* Creates a directory and its parents.
 *
 * zklock creates the directory itself first, because usually its parents exist.
 * If the parent is missing, zklock creates the parent, and then each level
 * below.
 *
 * Directories are containers, which servers delete when they are empty. The
 * chroot belongs to the application, so zklock creates it as a persistent node.
 *
 * A directory whose ACL denies access to its creator would be useless, and
 * clients could not delete it either. Whether an ACL denies access depends on
 * the client's identities, such as its address. Only a server knows all of
 * them. So if the ACL is in doubt, zklock first sends a rehearsal: a
 * transaction that tests the ACL and creates nothing. The result of a rehearsal
 * is valid in its connection. */
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
 * check the ACL. Copies these bytes to `part`, which is the path of `op`.
 * `part` must have room for the whole path. */
void mkdir_prepare(struct op *op, const struct pipeline *pipeline, char *part,
                   const char *path, size_t length);
/* Returns the next step after the reply `rc` to `op`. The caller handles
 * transient refusals itself. `*length`: the length of the path that `op` has
 * requested. Sets it to the length for the next request. */
enum mkdir_step mkdir_on_reply(const struct op *op, struct pipeline *pipeline,
                               int rc, const char *path, size_t *length);

#pragma GCC visibility pop

#endif
