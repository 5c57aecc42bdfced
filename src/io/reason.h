/* Words for ZooKeeper's reply codes, and for our own reasons beside them. */
#ifndef ZKLOCK_REASON_H
#define ZKLOCK_REASON_H

#include <stddef.h>

#include "path.h"

#pragma GCC visibility push(hidden)

/* A chroot, a path and a node's name in a sentence. */
enum { REASON_MAX = 2 * PATH_MAX_BYTES + 400 };

const char *reason_words(int rc);
/* "cannot list (/app/locks): not authenticated", as the log and messages have
 * it: `what` was not done to so much of `path`, which begins with the chroot. */
void reason_say(char *text, size_t size, const char *what, const char *path,
                size_t length, const char *words);

#pragma GCC visibility pop

#endif
