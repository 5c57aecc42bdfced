/* The options of a session. Constant after it was opened, except the
 * credentials: each connection needs them, and they are wiped after the last
 * one. */
#ifndef ZKLOCK_SETTINGS_H
#define ZKLOCK_SETTINGS_H

#include "hosts.h"

#pragma GCC visibility push(hidden)

struct tls_module;

/* The most bytes of data in a node that zklock creates for a contender. The
 * data identify the contender. A mark (REVOKE_MARK) can make them longer. */
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

struct tls_settings {
  const struct tls_module *module; /* NULL: no TLS */
  char *ca, *cert, *key;           /* files; cert and key: NULL for none */
  char *name; /* the name in the servers' certificates; NULL: the name in
               * `hosts` */
};

struct settings {
  struct hosts hosts;
  int session_timeout_ms;
  int min_session_timeout_ms; /* minimum over all servers; 0: not known */
  int tick_time_ms;           /* maximum over all servers; 0: not known */
  struct credential *credentials;
  int credential_count;
  struct acl_entry *acl;
  int acl_count;   /* 0: open to all */
  bool doubts_acl; /* the ACL may deny this session itself */
  bool want_log;
  struct tls_settings tls;
};

void settings_free(struct settings *settings);
/* Wipes the credentials, so that zklock has no copy left. */
void settings_forget_credentials(struct settings *settings);

#pragma GCC visibility pop

#endif
