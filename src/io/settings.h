/* The options of a session. They are constant after the session was opened,
 * except the credentials. Each connection needs the credentials. So zklock
 * keeps them until the last connection has ended, and then wipes them. */
#ifndef ZKLOCK_SETTINGS_H
#define ZKLOCK_SETTINGS_H

#include "hosts.h"

#pragma GCC visibility push(hidden)

struct tls_module;

/* The maximum size of the data with which a contender's node is created. These
 * data identify the contender. The limit does not include REVOKE_MARK, which a
 * client can append later to ask for a release. */
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
  char *ca, *cert, *key; /* paths of files; `cert` and `key` can be NULL */
  /* The name that the servers' certificates must have. NULL: the certificate of
   * each server must have that server's name in `hosts`. */
  char *name;
};

struct settings {
  struct hosts hosts;
  int session_timeout_ms;
  int min_session_timeout_ms; /* smallest minimum of the servers; 0: unknown */
  int tick_time_ms;           /* the servers' greatest tickTime; 0: unknown */
  struct credential *credentials;
  int credential_count;
  struct acl_entry *acl;
  int acl_count;     /* 0: nodes are open to all clients */
  bool acl_may_deny; /* this session may lack rights in its own ACL */
  bool want_log;
  struct tls_settings tls;
};

void settings_free(struct settings *settings);
/* Wipes and frees the credentials, so that no copy stays in memory. */
void settings_forget_credentials(struct settings *settings);

#pragma GCC visibility pop

#endif
