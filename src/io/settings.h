/* What a session was opened with; constant afterwards, but for the credentials:
 * each connection needs them, and who has had the last forgets them. */
#ifndef ZKLOCK_SETTINGS_H
#define ZKLOCK_SETTINGS_H

#include "hosts.h"

#pragma GCC visibility push(hidden)

/* Of a node that zklock makes, or stamps: they say who holds it. */
enum { DATA_MAX_BYTES = 1024 };

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
  int acl_count;   /* 0: open to all */
  bool doubts_acl; /* it may be that it shuts out ourselves */
  bool want_log;
};

void settings_free(struct settings *settings);
/* Wipes them: nothing of ours has them any more. */
void settings_forget_credentials(struct settings *settings);

#pragma GCC visibility pop

#endif
