/* Handles: making them, closing them, and telling what has become of them. */
#include "library.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "imports.h"
#include "library_backend.h"
#include "library_codes.h"
#include "library_handle.h"
#include "library_heartbeat.h"
#include "library_requests.h"

/* No session lives for less. */
#define SHORTEST (10 * MILLISECOND)

static void prepare(void) {
  imports_replace((void (*)(void))zookeeper_init2);
  /* The library would seed the process's random() for us. */
  zoo_deterministic_conn_order(1);
}

/* What the library sends in each connection before any request; so the answer
 * to a request tells that all are accepted.  (Its own callbacks do not: the
 * first answer calls them all, and so does an attempt that fails.)  `mt`: it
 * takes none just after an attempt has failed; then they are handed over when
 * there is a connection. */
static void authenticate(struct library *l) {
  const struct settings *settings = l->settings;
  for (; l->handed < settings->credential_count; l->handed++) {
    const struct credential *c = &settings->credentials[l->handed];
    if (zoo_add_auth(l->handle, c->scheme, c->secret, (int)c->size, NULL,
                     NULL) != ZOK)
      return;
  }
}

bool library_open(struct library *l, const char *addresses,
                  const struct identity *identity) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  clientid_t id = {.client_id = identity->session};
  _Static_assert(sizeof id.passwd == sizeof identity->password, "as it has");
  l->fresh = identity->session == 0;
  memcpy(id.passwd, identity->password, sizeof id.passwd);
  pthread_once(&once, prepare);
  inbox_current = &l->inbox;
  snprintf(l->server, sizeof l->server, "%s",
           strchr(addresses, ',') ? "" : addresses);
  l->began = clock_now();
  l->handle = zookeeper_init2(addresses, requests_on_event,
                              l->settings->session_timeout_ms,
                              identity->session ? &id : NULL, l,
                              ZOO_NO_LOG_CLIENTENV, backend_log(l, addresses));
  if (!l->handle) {
    handle_tell_error(l, NULL, code_errno_words(errno));
    backend_close(l);
    return false;
  }
  /* By default every turn resolves the list again, and a resolver that fails
   * stops the pings (ZOOKEEPER-1998). */
  zoo_set_servers_resolution_delay(l->handle, -1);
  authenticate(l);
  backend_opened(l);
  return true;
}

bool library_is_open(const struct library *l) { return l->handle; }

int64_t library_began(const struct library *l) { return l->began; }

void library_close(struct library *l, bool wait) {
  inbox_current = &l->inbox;
  if (l->handle && wait) backend_farewell(l);
  backend_close(l);
}

void library_part(struct library *l) { backend_part(l); }

bool library_submit(struct library *l, const struct op *op,
                    const struct op *before) {
  return requests_submit(l, op, before);
}

bool library_tries_all(void) { return backend_tries_all(); }

const char *library_backend(void) { return backend_name(); }

/* What is above the chroot is other applications' as well.  The first client that
 * needs it must not have it for itself: others may make theirs beside it, but only
 * its maker may delete any of it.  And all members of a double barrier must see
 * its `ready`. */
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
                            const struct library_listener *listener,
                            const struct wakeup *wakeup) {
  struct library *l = calloc(1, sizeof *l);
  if (!l) return NULL;
  l->settings = settings;
  l->listener = *listener;
  l->wakeup = wakeup;
  l->backend = backend_new();
  if (!l->backend || !make_acl(l)) {
    free(l->backend);
    free(l);
    return NULL;
  }
  answers_init(&l->answers);
  heartbeat_init(l);
  inbox_init(&l->inbox, backend_has_threads() ? wakeup : NULL);
  return l;
}

void library_free(struct library *l) {
  inbox_free(&l->inbox);
  free(l->acl_entries);
  free(l->backend);
  free(l);
}

/* Telling. */

/* To whom it is, in the log. */
static void tell_doubt(struct library *l, const char *doubt) {
  char address[sizeof l->inbox.greeting.address], text[200];
  pthread_mutex_lock(&l->inbox.lock);
  memcpy(address, l->inbox.greeting.address, sizeof address);
  pthread_mutex_unlock(&l->inbox.lock);
  snprintf(text, sizeof text, "it has sent an answer that cannot be true: %s",
           doubt);
  handle_tell_error(l, address, text);
}

static void tell_connected(struct library *l) {
  pthread_mutex_lock(&l->inbox.lock);
  struct greeting g = l->inbox.greeting;
  pthread_mutex_unlock(&l->inbox.lock);
  handle_tell_lost(l);
  if (g.identity.session == 0 || g.timeout < SHORTEST) { /* it believes so */
    handle_tell_error(l, g.address, "it grants no session");
    backend_abandon(l);
    return;
  }
  l->connected = true;
  l->parting = l->fresh = l->odd = false;
  answers_begin(&l->answers, g.identity.session);
  authenticate(l);
  backend_connected(l);
  l->listener.connected(l->listener.self, &g.identity, g.timeout,
                        g.address[0] ? g.address : NULL);
}

/* The connection is there, and of no use. */
static void leave(struct library *l) {
  l->left = true;
  backend_part(l);
  handle_tell_lost(l);
}

static void tell_reply(struct library *l, const struct incident *incident) {
  const char *doubt = answers_doubt(&l->answers, incident);
  l->outstanding--;
  if (!l->connected) return;
  if (doubt) tell_doubt(l, doubt);
  if (doubt || code_is_unknown(incident->code) ||
      code_is_farewell(incident->code)) {
    leave(l);
    return;
  }
  struct reply reply = {.rc = incident->code,
                        .path = incident->text,
                        .czxid = incident->czxid,
                        .owner = incident->owner,
                        .ctime_ms = incident->ctime_ms,
                        .mtime_ms = incident->mtime_ms,
                        .version = incident->version,
                        .length = incident->length,
                        .children = incident->children,
                        .data = incident->text,
                        .size = incident->size,
                        .revoked = incident->revoked,
                        .listing = incident->listing};
  l->listener.reply(l->listener.self, incident->serial, &reply);
  if (!code_wants_auth(reply.rc) || !l->connected) return;
  l->stranger = true;
  leave(l);
}

/* Of the connection.  The library tells of one that has begun, and then of its
 * end: who says something else is no server, but somebody who sends what only
 * the library may say.  (`mt` may have another one before we hear of the end of
 * the first: its beginning follows.) */
static void tell_state(struct library *l, int state) {
  if (l->left) return;
  if (state != ZOO_CONNECTED_STATE) {
    if (l->connected) l->odd = zoo_state(l->handle) == ZOO_CONNECTED_STATE;
    handle_tell_lost(l); /* and backend_look finds out why */
  } else if (l->connected) {
    tell_doubt(l, "news of the session that only the client library tells");
    leave(l);
  } else {
    tell_connected(l);
  }
}

static void tell(struct library *l, const struct incident *incident) {
  int code = incident->code;
  if (!l->handle) return; /* it was given up meanwhile */
  switch (incident->kind) {
    case INCIDENT_REPLY:
      tell_reply(l, incident);
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
      tell_state(l, code);
  }
}

/* There was no memory for something, and we do not know what we have missed:
 * let the protocol do what it does after a reconnection, where it trusts
 * nothing older.  It may have been news of the connection itself. */
static void catch_up(struct library *l) {
  if (!l->handle || l->left) return;
  if (zoo_state(l->handle) == ZOO_CONNECTED_STATE)
    tell_connected(l);
  else
    handle_tell_lost(l);
}

void library_deliver(struct library *l) {
  bool overflow;
  struct incident *incident = inbox_take(&l->inbox, &overflow);
  while (incident) {
    struct incident *next = incident->next;
    tell(l, incident);
    incident_free(incident);
    incident = next;
  }
  handle_free_done(l);
  if (overflow) catch_up(l);
  if (l->handle) backend_look(l);
}

int64_t library_prepare(struct library *l, int *fd, short *events) {
  inbox_current = &l->inbox;
  *fd = -1;
  *events = 0;
  return l->handle ? backend_prepare(l, fd, events) : INT64_MAX;
}

void library_process(struct library *l, short events) {
  if (l->handle) backend_process(l, events);
}
