/* Returns texts for ZooKeeper's reply codes and for zklock's own reasons. */
#ifndef ZKLOCK_REASON_H
#define ZKLOCK_REASON_H

#include <stddef.h>

#include "path.h"

#pragma GCC visibility push(hidden)

/* The size of a message that contains a chroot, a path and a node's name. */
enum { REASON_MAX = 2 * PATH_MAX_BYTES + 400 };

const char *reason_text(int rc);
/* Writes a message to `text`, such as "cannot list (/app/locks): not
 * authenticated". In this example, `what` is "cannot list", and `reason` is
 * "not authenticated". The message shows the first `length` bytes of `path`,
 * which begins with the chroot. */
void reason_write(char *text, size_t size, const char *what, const char *path,
                  size_t length, const char *reason);

#pragma GCC visibility pop

#endif
