/* Creates and closes handles of the client library, and passes their reports to
 * the listener. */
#include "library.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "imports.h"
#include "library_codes.h"
#include "library_handle.h"

/* The shortest session timeout that zklock accepts. A server that grants a
 * shorter one counts as broken. */
#define SHORTEST (10 * MILLISECOND)

/* Returns whether zklock's calls are bound to the library whose zookeeper_init2
 * is at the address `own`. Returns true if `own` is NULL. Kept out of
 * library_bind: there, the compiler could load the address of zookeeper_init2
 * before imports_replace has changed it. */
__attribute__((noinline)) static bool is_bound(const void *own) {
  return !own || own == (const void *)(uintptr_t)zookeeper_init2;
}

bool library_bind(void *module) {
  static const char any[] = "zookeeper_init2";
  imports_replace(module, any);
  return is_bound(dlsym(module, any));
}

/* Drops the messages of the client library's log, because they are for the
 * library's developers. zklock reports errors itself. */
static void on_log(const char *message) { (void)message; }

/* Switches off the client library's random order of servers. To choose that
 * order, the library would seed random(), which belongs to the whole
 * process. */
static void prepare(void) { zoo_deterministic_conn_order(1); }

static zhandle_t *make_handle(struct library *l,
                              const struct identity *identity) {
  clientid_t id = {.client_id = identity->session};
  _Static_assert(sizeof id.passwd == sizeof identity->password, "as it has");
  memcpy(id.passwd, identity->password, sizeof id.passwd);
  return zookeeper_init2(l->server, requests_on_event,
                         l->settings->session_timeout_ms,
                         identity->session ? &id : NULL, l,
                         ZOO_NO_LOG_CLIENTENV, on_log);
}

/* Adds the credentials to the handle. The library sends them at the start of
 * each connection, before any request. So the reply to a later request proves
 * that the server has accepted all of them. The callbacks of zoo_add_auth would
 * prove nothing, because the first reply, or a failed attempt, calls all of
 * them. */
static bool authenticate(struct library *l) {
  const struct settings *settings = l->settings;
  for (int i = 0; i < settings->credential_count; i++) {
    const struct credential *c = &settings->credentials[i];
    if (zoo_add_auth(l->handle, c->scheme, c->secret, (int)c->size, NULL,
                     NULL) != ZOK)
      return false;
  }
  return true;
}

bool library_open(struct library *l, const char *address, const char *names,
                  const struct identity *identity) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, prepare);
  library_current = l;
  snprintf(l->server, sizeof l->server, "%s", address);
  l->began = clock_now();
  if (!connection_secure(l, names)) return false;
  errno = 0;
  l->handle = make_handle(l, identity);
  if (!l->handle || !authenticate(l)) {
    handle_report_error(l, code_errno_text(errno ? errno : ENOMEM));
    connection_close(l);
    return false;
  }
  /* Stops the library from resolving the server's address again in each call. A
   * lookup that fails would stop the library's pings (ZOOKEEPER-1998). */
  zoo_set_servers_resolution_delay(l->handle, -1);
  connection_begin(l);
  return true;
}

bool library_is_in_handshake(const struct library *l) {
  return stream_is_in_handshake(&l->stream);
}

bool library_is_open(const struct library *l) { return l->handle; }

int64_t library_began(const struct library *l) { return l->began; }

void library_close(struct library *l, bool wait) {
  library_current = l;
  if (l->handle && wait)
    connection_end_session(l);
  else
    connection_close(l);
}

void library_disconnect(struct library *l) { connection_end(l); }

/* Returns the ACL entry that lets all other clients read a node and create
 * children. Two kinds of nodes that several clients use get this entry, besides
 * the entries of option `acl`. They are the directories above the chroot, and
 * the `ready` node of a double barrier. Without the entry, the client that
 * creates such a node first could exclude the others. The entry does not let
 * them delete children. */
static struct ACL for_others(void) {
  return (struct ACL){.perms = ZOO_PERM_READ | ZOO_PERM_CREATE,
                      .id = ZOO_ANYONE_ID_UNSAFE};
}

static bool make_acl(struct library *l) {
  const struct settings *settings = l->settings;
  int n = settings->acl_count;
  l->acl = l->acl_shared = ZOO_OPEN_ACL_UNSAFE;
  if (n == 0) return true;
  l->acl_entries = calloc((size_t)n + 1, sizeof(struct ACL));
  if (!l->acl_entries) return false;
  for (int i = 0; i < n; i++) {
    l->acl_entries[i].perms = settings->acl[i].permissions;
    l->acl_entries[i].id.scheme = settings->acl[i].scheme;
    l->acl_entries[i].id.id = settings->acl[i].id;
  }
  l->acl_entries[n] = for_others();
  l->acl = (struct ACL_vector){n, l->acl_entries};
  l->acl_shared = (struct ACL_vector){n + 1, l->acl_entries};
  return true;
}

struct library *library_new(const struct settings *settings,
                            const struct library_listener *listener) {
  struct library *l = calloc(1, sizeof *l);
  if (!l) return NULL;
  l->settings = settings;
  l->listener = *listener;
  if (!make_acl(l)) {
    free(l);
    return NULL;
  }
  l->end = &l->first;
  certificates_init(&l->certificates, &settings->tls);
  answers_init(&l->answers);
  connection_init(l);
  return l;
}

void library_free(struct library *l) {
  certificates_free(&l->certificates);
  free(l->acl_entries);
  free(l);
}

/* Reports to the listener. */

static void report_false_reply(struct library *l, const char *fault) {
  char text[200];
  snprintf(text, sizeof text, "it has sent an answer that cannot be true: %s",
           fault);
  handle_report_error(l, text);
}

static void report_connected(struct library *l) {
  const clientid_t *id = zoo_client_id(l->handle);
  struct identity identity = {.session = id->client_id};
  int64_t timeout = zoo_recv_timeout(l->handle) * MILLISECOND;
  memcpy(identity.password, id->passwd, sizeof identity.password);
  if (identity.session == 0 ||
      timeout < SHORTEST) { /* the client library accepts any timeout */
    handle_report_error(l, "it grants no session");
    connection_end(l);
    return;
  }
  l->connected = true;
  answers_begin(&l->answers, identity.session);
  connection_greeted(l);
  l->listener.connected(l->listener.self, &identity, timeout);
}

static void report_reply(struct library *l, const struct incident *incident) {
  const char *fault = answers_check(&l->answers, incident);
  if (!l->connected) return;
  if (fault) report_false_reply(l, fault);
  if (fault || code_is_unknown(incident->code) ||
      code_ends_connection(incident->code)) {
    connection_end(l);
    return;
  }
  l->listener.reply(l->listener.self, incident->serial, &incident->reply);
  if (!code_requires_auth(incident->code) || !l->connected) return;
  l->auth_required = true;
  connection_end(l);
}

/* Handles a state change that the client library reports. The first change is
 * the start of the connection, the second its end. A second start can only come
 * from a server that forged a session event. So this function then reports a
 * false reply and ends the connection. */
static void report_state(struct library *l, int state) {
  if (state == ZOO_CONNECTED_STATE && l->connected)
    report_false_reply(
        l, "a session event that only the client library may report");
  if (l->connected)
    connection_end(l);
  else if (state == ZOO_CONNECTED_STATE)
    report_connected(l);
}

static void report(struct library *l, const struct incident *incident) {
  int code = incident->code;
  if (!l->handle) return; /* the handle was closed in the meantime */
  switch (incident->kind) {
    case INCIDENT_REPLY:
      report_reply(l, incident);
      break;
    case INCIDENT_WATCH:
      if (!l->connected) return;
      l->listener.event(l->listener.self,
                        code == ZOO_DELETED_EVENT ? WATCH_DELETED
                        : code == ZOO_CHILD_EVENT ? WATCH_CHILDREN
                                                  : WATCH_CHANGED,
                        incident->text);
      break;
    case INCIDENT_STATE:
      report_state(l, code);
  }
}

/* Takes all incidents (reports of the client library) out of the inbox, then
 * passes each to the listener. A callback of the listener can close the handle,
 * and then the later incidents are skipped. If incidents were dropped for lack
 * of memory, ends the connection, because zklock does not know what it has
 * missed. The protocol reads all state again in the next connection. */
void library_deliver(struct library *l) {
  bool overflow;
  struct incident *incident = inbox_take(l, &overflow);
  while (incident) {
    struct incident *next = incident->next;
    report(l, incident);
    incident_free(incident);
    incident = next;
  }
  transactions_free(l, false);
  if (overflow && l->handle) connection_end(l);
  if (l->handle) connection_check_end(l);
}

int64_t library_prepare(struct library *l, int *fd, short *events) {
  library_current = l;
  *fd = -1;
  *events = 0;
  return l->handle ? connection_prepare(l, fd, events) : INT64_MAX;
}

void library_process(struct library *l, short events) {
  if (l->handle) connection_process(l, events);
}
