/* What a session was opened with; constant afterwards. */
#ifndef ZKLOCK_SETTINGS_H
#define ZKLOCK_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>

#pragma GCC visibility push(hidden)

enum { HOST_MAX = 255, PATH_MAX_BYTES = 1000, DATA_MAX_BYTES = 1000000 };

struct host {
  char name[HOST_MAX + 1];
  char port[6];
};

struct hosts {
  int count;
  struct host *list;
  char chroot[PATH_MAX_BYTES + 1]; /* "" or absolute */
};

struct credential {
  char *scheme, *secret;
  size_t size;
};

struct acl_entry {
  char *scheme, *id;
  int permissions; /* ZooKeeper's bits: read 1, write 2, create 4,
                      delete 8, admin 16 */
};

struct settings {
  struct hosts hosts;
  int session_timeout_ms;
  int least_session_timeout_ms; /* no server grants less; 0: not known */
  int tick_time_ms;             /* no server has a longer one; 0: not known */
  struct credential *credentials;
  int credential_count;
  struct acl_entry *acl;
  int acl_count; /* 0: open to all */
  bool want_log;
};

void settings_free(struct settings *settings);

/* Reads `host[:port],…[/chroot]`.  False: `error` is a sentence's end that
 * says what is wrong, or empty: no memory. */
bool hosts_parse(struct hosts *hosts, const char *text, char *error,
                 size_t error_size);

/* What ZooKeeper would refuse in a path, as a sentence's end; NULL: nothing. */
const char *path_fault(const char *path, size_t length);

#pragma GCC visibility pop

#endif
