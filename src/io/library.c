/* Requests, and what comes back.
 *
 * Callbacks of the library only append to the inbox; the protocol runs after
 * the library's call has returned.  (Some callbacks run in the middle of the
 * library's tidying up after a lost connection, where a new request would be
 * lost as well.) */
#include "library_inside.h"

#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "clock.h"
#include "fork.h"
#include "imports.h"
#include "protocol/name.h"

#define SAME(ours, theirs) \
  _Static_assert((int)(ours) == (int)(theirs), "a code of ZooKeeper's")
SAME(REPLY_OK, ZOK);
SAME(REPLY_LOST, ZCONNECTIONLOSS);
SAME(REPLY_UNIMPLEMENTED, ZUNIMPLEMENTED);
SAME(REPLY_BAD_ARGUMENTS, ZBADARGUMENTS);
SAME(REPLY_NO_NODE, ZNONODE);
SAME(REPLY_NO_AUTH, ZNOAUTH);
SAME(REPLY_NO_CHILDREN_FOR_EPHEMERALS, ZNOCHILDRENFOREPHEMERALS);
SAME(REPLY_NODE_EXISTS, ZNODEEXISTS);
SAME(REPLY_SESSION_EXPIRED, ZSESSIONEXPIRED);
SAME(REPLY_INVALID_ACL, ZINVALIDACL);
SAME(REPLY_AUTH_FAILED, ZAUTHFAILED);
SAME(REPLY_SESSION_MOVED, ZSESSIONMOVED);
_Static_assert(sizeof((struct identity){0}.password) ==
                   sizeof((clientid_t){0}.passwd),
               "a password of ZooKeeper's");

_Thread_local struct library *library_current;

const char *library_reason(int rc) { return zerror(rc); }

/* (They may be translated, under a lock of the C library's.) */
static const char *words_for(int error) {
  fork_gate_enter();
  const char *words = strerror(error);
  fork_gate_leave();
  return words;
}

/* The library says EHOSTDOWN when a server has closed the connection. */
const char *library_error(int error, int rc, bool greeted) {
  bool closed = error == EHOSTDOWN || error == ECONNRESET || error == EPIPE;
  if (closed && greeted) return "the server closed the connection";
  if (closed)
    return "the server closed the connection; are there maxClientCnxns from "
           "this address already?";
  return error ? words_for(error) : zerror(rc);
}

void library_say_error(struct library *l, const char *server,
                       const char *text) {
  l->listener.error(l->listener.self, server && *server ? server : NULL, text);
}

bool library_is_error(int rc) {
  return rc != ZOK && rc != ZNOTHING && rc != ZINVALIDSTATE &&
         rc != ZSESSIONEXPIRED && rc != ZAUTHFAILED;
}

/* The inbox. */

void library_append(struct library *l, struct incident *incident) {
  pthread_mutex_lock(&l->lock);
  if (incident) {
    incident->next = NULL;
    *l->inbox_end = incident;
    l->inbox_end = &incident->next;
  } else {
    l->overflow = true;
  }
  pthread_mutex_unlock(&l->lock);
#ifdef ZKLOCK_MT
  wakeup_signal(l->wakeup);
#endif
}

static void incident_free(struct incident *incident) {
  listing_free(incident->listing);
  free(incident);
}

void library_discard(struct library *l) {
  while (l->inbox) {
    struct incident *incident = l->inbox;
    l->inbox = incident->next;
    incident_free(incident);
  }
  l->inbox_end = &l->inbox;
  l->overflow = false;
}

/* `text`: a path, or data; a NUL is put behind it. */
static struct incident *incident_new(int kind, int code, const char *text,
                                     size_t size) {
  struct incident *incident = calloc(1, sizeof *incident + size + 1);
  if (!incident) return NULL;
  incident->kind = kind;
  incident->code = code;
  if (size) memcpy(incident->path, text, size);
  return incident;
}

static struct incident *reply_new(const void *data, int rc, const char *text,
                                  size_t size, const struct Stat *stat) {
  struct incident *incident = incident_new(INCIDENT_REPLY, rc, text, size);
  if (!incident) return NULL;
  incident->serial = (uint64_t)(uintptr_t)data;
  if (stat && rc == ZOK) {
    incident->czxid = stat->czxid;
    incident->owner = stat->ephemeralOwner;
    incident->ctime_ms = stat->ctime;
    incident->version = stat->version;
  }
  return incident;
}

static void on_void(int rc, const void *data) {
  library_append(library_current, reply_new(data, rc, NULL, 0, NULL));
}

static void on_string(int rc, const char *value, const void *data) {
  (void)value;
  on_void(rc, data);
}

static void on_created(int rc, const char *value, const struct Stat *stat,
                       const void *data) {
  size_t size = rc == ZOK ? strlen(value) : 0;
  library_append(library_current, reply_new(data, rc, value, size, stat));
}

static void on_stat(int rc, const struct Stat *stat, const void *data) {
  library_append(library_current, reply_new(data, rc, NULL, 0, stat));
}

/* Of a watched node's data only their beginning and their end matter. */
static void on_watched(int rc, const char *value, int length,
                       const struct Stat *stat, const void *data) {
  size_t size = rc == ZOK && length > 0 ? (size_t)length : 0;
  size_t own = data_own_size(value, size);
  struct incident *incident =
      reply_new(data, rc, value, own < OP_SHOWN ? own : OP_SHOWN, stat);
  if (incident) {
    incident->revoked = own < size;
    incident->size = (int)own;
  }
  library_append(library_current, incident);
}

static void on_data(int rc, const char *value, int length,
                    const struct Stat *stat, const void *data) {
  bool any = rc == ZOK && length > 0;
  struct incident *incident =
      reply_new(data, rc, value, any ? (size_t)length : 0, stat);
  if (incident) incident->size = length;
  library_append(library_current, incident);
}

static void on_children(int rc, const struct String_vector *names,
                        const void *data) {
  struct incident *incident = reply_new(data, rc, NULL, 0, NULL);
  if (incident && rc == ZOK)
    incident->listing =
        listing_new((const char *const *)names->data, names->count);
  library_append(library_current, incident);
}

/* `ip:port`, as the resolver spells it. */
static void read_address(zhandle_t *handle, char *text, size_t size) {
  struct sockaddr_storage peer;
  socklen_t length = sizeof peer;
  char ip[64], port[8];
  text[0] = '\0';
  if (zookeeper_get_connected_host(handle, (struct sockaddr *)&peer, &length) &&
      getnameinfo((struct sockaddr *)&peer, length, ip, sizeof ip, port,
                  sizeof port, NI_NUMERICHOST | NI_NUMERICSERV) == 0)
    snprintf(text, size, "%s:%s", ip, port);
}

/* What is to be told of a connection is kept here, not in the incident: there
 * may be no memory for that. */
static void greeted(struct library *l, zhandle_t *handle) {
  char address[sizeof l->address];
  read_address(handle, address, sizeof address);
  pthread_mutex_lock(&l->lock);
  memcpy(l->address, address, sizeof address);
  l->timeout = zoo_recv_timeout(handle) * MILLISECOND;
  backend_greeted(l, zoo_client_id(handle));
  pthread_mutex_unlock(&l->lock);
}

/* One function and one context for every watch and for the session. */
static void on_event(zhandle_t *handle, int type, int state, const char *path,
                     void *context) {
  struct library *l = context;
  library_current = l; /* `mt`: the completion thread's first callback */
  bool session = type == ZOO_SESSION_EVENT;
  if (!session && type != ZOO_DELETED_EVENT && type != ZOO_CHANGED_EVENT &&
      type != ZOO_CREATED_EVENT && type != ZOO_CHILD_EVENT)
    return;
  if (session && state == ZOO_CONNECTED_STATE) greeted(l, handle);
  library_append(l, incident_new(session ? INCIDENT_STATE : INCIDENT_WATCH,
                                 session ? state : type, path, strlen(path)));
}

/* Requests. */

bool library_is_answer(int rc) {
  return rc == ZOK ||
         (rc < ZAPIERROR && rc != ZSESSIONEXPIRED && rc != ZAUTHFAILED);
}

bool library_submit(struct library *l, const struct op *op) {
  zhandle_t *zh = l->handle;
  const void *data = (const void *)(uintptr_t)op->serial;
  int mode = op->persistent ? ZOO_PERSISTENT : ZOO_CONTAINER;
  int rc = ZINVALIDSTATE;
  if (!zh || l->parting) return false;
  switch (op->kind) {
    case OP_CREATE:
      rc = zoo_acreate2(zh, op->path, op->data, op->size, &l->acl,
                        op->exact ? ZOO_EPHEMERAL : ZOO_EPHEMERAL_SEQUENTIAL,
                        on_created, data);
      break;
    case OP_MKDIR:
      rc =
          zoo_acreate2(zh, op->path, NULL, -1, &l->acl, mode, on_created, data);
      break;
    case OP_LIST:
      rc = zoo_awget_children(zh, op->path, op->watch ? on_event : NULL, l,
                              on_children, data);
      break;
    case OP_GET:
      rc = zoo_awget(zh, op->path, on_event, l, on_watched, data);
      break;
    case OP_EXISTS:
      rc = zoo_awexists(zh, op->path, on_event, l, on_stat, data);
      break;
    case OP_READ:
      rc = zoo_aget(zh, op->path, 0, on_data, data);
      break;
    case OP_WRITE:
      rc = zoo_aset(zh, op->path, op->data, op->size, op->version, on_stat,
                    data);
      break;
    case OP_PING:
      rc = zoo_aexists(zh, op->path, 0, on_stat, data);
      break;
    case OP_REMOVE:
    case OP_HEARTBEAT:
      rc = zoo_adelete(zh, op->path, -1, on_void, data);
      break;
    case OP_SYNC:
      rc = zoo_async(zh, op->path, on_string, data);
      break;
    case OP_UNWATCH:
      /* Declared as a pointer to the function pointer, used as the function
       * itself (3.8).  local = 0: the server's watch goes, too. */
      rc = zoo_aremove_all_watches(zh, op->path,
                                   op->watch ? ZWATCHTYPE_CHILD
                                             : ZWATCHTYPE_DATA,
                                   0, (void_completion_t *)on_void, data);
      break;
  }
  l->outstanding += rc == ZOK;
  return rc == ZOK;
}

/* Handles. */

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
  l->fresh = identity->session == 0;
  memcpy(id.passwd, identity->password, sizeof id.passwd);
  pthread_once(&once, prepare);
  library_current = l;
  snprintf(l->server, sizeof l->server, "%s",
           strchr(addresses, ',') ? "" : addresses);
  l->began = clock_now();
  l->handle =
      zookeeper_init2(addresses, on_event, l->settings->session_timeout_ms,
                      identity->session ? &id : NULL, l, ZOO_NO_LOG_CLIENTENV,
                      backend_log(l, addresses));
  if (!l->handle) {
    library_say_error(l, NULL, words_for(errno));
    backend_dropped(l);
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

void library_drop(struct library *l) {
  if (!l->handle) return;
  library_current = l;
  backend_close(l->handle);
  l->handle = NULL;
  l->connected = l->parting = false;
  l->outstanding = l->handed = 0;
  backend_dropped(l);
  /* No callback can run any more, and nobody waits for what it reported. */
  library_discard(l);
}

void library_close(struct library *l, bool wait) {
  library_current = l;
  if (l->handle && wait) backend_farewell(l);
  library_drop(l);
}

static bool make_acl(struct library *l) {
  const struct settings *settings = l->settings;
  int n = settings->acl_count;
  l->acl = ZOO_OPEN_ACL_UNSAFE;
  if (n == 0) return true;
  l->acl_entries = calloc((size_t)n, sizeof(struct ACL));
  if (!l->acl_entries) return false;
  for (int i = 0; i < n; i++) {
    l->acl_entries[i].perms = settings->acl[i].permissions;
    l->acl_entries[i].id.scheme = settings->acl[i].scheme;
    l->acl_entries[i].id.id = settings->acl[i].id;
  }
  l->acl.count = n;
  l->acl.data = l->acl_entries;
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
  l->inbox_end = &l->inbox;
  if (!make_acl(l)) {
    free(l);
    return NULL;
  }
  pthread_mutex_init(&l->lock, NULL);
  backend_dropped(l);
  return l;
}

void library_free(struct library *l) {
  pthread_mutex_destroy(&l->lock);
  free(l->acl_entries);
  free(l);
}

/* Telling. */

void library_tell_lost(struct library *l) {
  if (!l->connected) return;
  l->connected = false;
  l->parting = true;
  l->listener.lost(l->listener.self);
}

void library_tell_accepted(struct library *l) {
  if (l->connected && l->handed == l->settings->credential_count)
    l->listener.accepted(l->listener.self);
}

void library_tell_over(struct library *l, enum library_end end) {
  library_tell_lost(l);
  library_drop(l);
  l->listener.over(l->listener.self, end);
}

static void tell_connected(struct library *l) {
  struct identity identity;
  char address[sizeof l->address];
  pthread_mutex_lock(&l->lock);
  identity = l->identity;
  memcpy(address, l->address, sizeof address);
  int64_t timeout = l->timeout;
  pthread_mutex_unlock(&l->lock);
  library_tell_lost(l);
  if (identity.session == 0 || timeout < SHORTEST) { /* it believes in that */
    library_say_error(l, address, "it grants no session");
    backend_abandon(l);
    return;
  }
  l->connected = true;
  l->parting = l->fresh = false;
  authenticate(l);
  backend_connected(l);
  l->listener.connected(l->listener.self, &identity, timeout,
                        address[0] ? address : NULL);
}

/* What the library says when it gives up what was asked for; but that it tells
 * after the loss of the connection.  A server that has failed says some of it,
 * too. */
static bool is_unknown(int rc) {
  return rc == ZCONNECTIONLOSS || rc == ZOPERATIONTIMEOUT ||
         rc == ZRUNTIMEINCONSISTENCY || rc == ZMARSHALLINGERROR ||
         rc == ZCLOSING || rc == ZINVALIDSTATE;
}

static void tell_reply(struct library *l, const struct incident *incident) {
  l->outstanding--;
  if (!l->connected) return;
  if (is_unknown(incident->code)) { /* and yet the connection is there */
    library_part(l);
    library_tell_lost(l);
    return;
  }
  struct reply reply = {.rc = incident->code,
                        .path = incident->path,
                        .czxid = incident->czxid,
                        .owner = incident->owner,
                        .ctime_ms = incident->ctime_ms,
                        .version = incident->version,
                        .data = incident->path,
                        .size = incident->size,
                        .revoked = incident->revoked,
                        .listing = incident->listing};
  l->listener.reply(l->listener.self, incident->serial, &reply);
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
                        incident->path);
      break;
    case INCIDENT_STATE:
      if (code == ZOO_CONNECTED_STATE)
        tell_connected(l);
      else
        library_tell_lost(l); /* and backend_look finds out why */
  }
}

/* There was no memory for something, and we do not know what we have missed:
 * let the protocol do what it does after a reconnection, where it trusts
 * nothing older.  It may have been news of the connection itself. */
static void catch_up(struct library *l) {
  if (!l->handle) return;
  if (zoo_state(l->handle) == ZOO_CONNECTED_STATE)
    tell_connected(l);
  else
    library_tell_lost(l);
}

void library_deliver(struct library *l) {
  pthread_mutex_lock(&l->lock);
  struct incident *incident = l->inbox;
  bool overflow = l->overflow;
  l->inbox = NULL;
  l->inbox_end = &l->inbox;
  l->overflow = false;
  pthread_mutex_unlock(&l->lock);
  while (incident) {
    struct incident *next = incident->next;
    tell(l, incident);
    incident_free(incident);
    incident = next;
  }
  if (overflow) catch_up(l);
  if (l->handle) backend_look(l);
}
