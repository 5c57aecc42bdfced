/* Making a directory, with what is above it.
 *
 * The directory itself is asked for first: mostly it is all that is missing.  Where
 * there is no node above it that one comes first, and each that was made is followed
 * by the next one below.
 *
 * Directories are containers, which servers delete when they are empty; the chroot
 * is the application's own, and stays.  A directory that shuts out its maker would
 * be of use to nobody, and nobody who wants to use it could delete it.  Who we are a
 * server knows: by its address, by which of our users.  So if the ACL is in doubt a
 * rehearsal comes first, whose answer is true of its connection. */
#ifndef ZKLOCK_MKDIR_H
#define ZKLOCK_MKDIR_H

#include "wire.h"

#pragma GCC visibility push(hidden)

enum mkdir_step {
  MKDIR_DONE,
  MKDIR_GOES_ON, /* with another request */
  MKDIR_REFUSED,
};

/* Is what comes next a rehearsal? */
static inline bool mkdir_rehearses(const struct wire *wire) {
  return wire->doubts_acl && wire->rehearsed_in != wire->connection;
}

/* The request for the first `length` bytes of `path`, which are written to `part`:
 * the path of the request, with room for all. */
void mkdir_prepare(struct op *op, const struct wire *wire, char *part,
                   const char *path, size_t length);
/* Its answer, which is no transient refusal: what comes next, and of how much of
 * the path. */
enum mkdir_step mkdir_answered(const struct op *op, struct wire *wire, int rc,
                               const char *path, size_t *length);

#pragma GCC visibility pop

#endif
