/* Parses the option `hosts`, the list of servers: `host[:port],…[/chroot]`.
 * This module does no I/O. */
#ifndef ZKLOCK_HOSTS_H
#define ZKLOCK_HOSTS_H

#include <stdbool.h>
#include <stddef.h>

#include "path.h"

#pragma GCC visibility push(hidden)

enum { HOST_MAX = 255 };

struct host {
  char name[HOST_MAX + 1];
  char port[6];
};

struct hosts {
  int count;
  struct host *list; /* the caller of hosts_parse must free the list */
  char chroot[PATH_MAX_BYTES + 1]; /* "" or an absolute path */
};

/* Parses the list in `text`. Returns false on failure. Then `error` is a part
 * of an error message, such as "has an empty host name". If there is no memory,
 * `error` is "". */
bool hosts_parse(struct hosts *hosts, const char *text, char *error,
                 size_t error_size);

/* Returns NULL for a valid chroot. Otherwise returns a part of an error message
 * that says what is wrong, such as "must not end with '/'". `/` is valid and
 * means no chroot. */
const char *hosts_chroot_fault(const char *text, size_t length);

#pragma GCC visibility pop

#endif
