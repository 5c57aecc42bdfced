/* The servers as the user names them: `host[:port],…[/chroot]`.  Pure. */
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
  struct host *list;               /* whoever has had them read frees it */
  char chroot[PATH_MAX_BYTES + 1]; /* "" or absolute */
};

/* False: `error` is a sentence's end that says what is wrong, or empty: no
 * memory. */
bool hosts_parse(struct hosts *hosts, const char *text, char *error,
                 size_t error_size);

/* What is wrong with a chroot, as a sentence's end, or NULL.  `/` is none. */
const char *hosts_chroot_fault(const char *text, size_t length);

#pragma GCC visibility pop

#endif
