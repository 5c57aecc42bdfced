/* Two backends, one behaviour.  `st` (libzookeeper_st): this thread turns the
 * library itself.  `mt` (libzookeeper_mt, -DTHREADED): the library's own
 * threads do, and their callbacks only fill the inbox below.
 *
 * Callbacks of the library only append to the inbox; the protocol runs after
 * the library's call has returned.  (Some callbacks run in the middle of the
 * library's tidying up after a lost connection, where a new request would be
 * lost as well.) */
#ifdef ZKLOCK_MT
#define THREADED
#endif
#include <zookeeper/zookeeper.h>

#include "client.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "claim.h"
#include "resolver.h"

#define MILLISECOND INT64_C(1000000)
#define FAREWELL (1500 * MILLISECOND)

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

/* Something that the library has reported. */
struct incident {
  struct incident *next;
  enum { INCIDENT_REPLY, INCIDENT_WATCH, INCIDENT_STATE } kind;
  uint64_t serial;
  int code; /* rc, type or state */
  int64_t czxid, owner, ctime_ms;
  int version;
  bool revoked;
  struct listing *listing;
  int size;    /* of the data; -1: none */
  char path[]; /* or the data */
};

struct client {
  const struct settings *settings; /* (c) */
  struct session *session;         /* (c) */
  struct client_listener listener; /* (c) */
  const struct wakeup *wakeup;     /* (c) */

  zhandle_t *handle;   /* NULL: none yet */
  int64_t attempt;     /* when the present attempt to connect began */
  int64_t library_due; /* when the library wants to be turned */
  int failures;        /* failed attempts in a row */
  int addresses;
  bool connected;
  int fd;           /* `st`: the socket, while connected */
  int outstanding;  /* requests without a reply yet */
  int auth_pending; /* credentials not yet accepted */
  bool refused;     /* the ensemble did not accept them */
  uint64_t jitter;

  struct resolver *resolver; /* at work, or NULL */
  int64_t renew_at;          /* when to try a new handle: see lost_connection */
  int64_t resolve_at;        /* when to ask again whether names have moved */
  char *resolved;            /* the list in use */
  char *server_list;         /* the same, shuffled, of odd length */
  struct client *next;       /* `mt`: enrolled, guarded by enrolled_lock */

  struct ACL *acl_entries;
  struct ACL_vector acl;

  pthread_mutex_t lock; /* of the inbox: `mt` fills it from other threads */
  struct incident *inbox, **inbox_end;
  bool inbox_overflow; /* no memory for something: see catch_up */
  int auth_accepted;   /* credentials, since the inbox was emptied */
};

/* The client whose callbacks this thread runs: the library hands completions
 * one pointer, and that carries the request's serial. */
static _Thread_local struct client *current;

const char *client_reason(int rc) {
  switch (rc) {
    case REASON_COUNTER_AT_END:
      return "the sequence counter of the directory is at its end, and it "
             "carries data: delete it when it is empty";
    case REASON_NO_MEMORY:
      return "not enough memory";
    case REASON_NO_ROOM:
      return "this session has too many locks and waits at once; use another";
    default:
      return zerror(rc);
  }
}

/* Why there is no connection. The library says EHOSTDOWN when a server has
 * closed it. */
static const char *error_reason(int error, int rc) {
  if (error == EHOSTDOWN || error == ECONNRESET || error == EPIPE)
    return "the server closed the connection; are there maxClientCnxns from "
           "this address already?";
  return error ? strerror(error) : zerror(rc);
}

/* The inbox. */

static void append(struct client *client, struct incident *incident) {
  pthread_mutex_lock(&client->lock);
  if (incident) {
    incident->next = NULL;
    *client->inbox_end = incident;
    client->inbox_end = &incident->next;
  } else {
    client->inbox_overflow = true;
  }
  pthread_mutex_unlock(&client->lock);
#ifdef ZKLOCK_MT
  wakeup_signal(client->wakeup);
#endif
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
  append(current, reply_new(data, rc, NULL, 0, NULL));
}

static void on_string(int rc, const char *value, const void *data) {
  (void)value;
  on_void(rc, data);
}

static void on_created(int rc, const char *value, const struct Stat *stat,
                       const void *data) {
  size_t size = rc == ZOK ? strlen(value) : 0;
  append(current, reply_new(data, rc, value, size, stat));
}

static void on_stat(int rc, const struct Stat *stat, const void *data) {
  append(current, reply_new(data, rc, NULL, 0, stat));
}

/* Of a watched node's data only their end matters. */
static void on_watched(int rc, const char *value, int length,
                       const struct Stat *stat, const void *data) {
  struct incident *incident = reply_new(data, rc, NULL, 0, stat);
  if (incident && rc == ZOK && length > 0)
    incident->revoked = data_is_revoked(value, (size_t)length);
  append(current, incident);
}

static void on_data(int rc, const char *value, int length,
                    const struct Stat *stat, const void *data) {
  bool any = rc == ZOK && length > 0;
  struct incident *incident =
      reply_new(data, rc, value, any ? (size_t)length : 0, stat);
  if (incident) incident->size = length;
  append(current, incident);
}

static void on_children(int rc, const struct String_vector *names,
                        const void *data) {
  struct incident *incident = reply_new(data, rc, NULL, 0, NULL);
  if (incident && rc == ZOK)
    incident->listing =
        listing_new((const char *const *)names->data, names->count);
  append(current, incident);
}

static void on_auth(int rc, const void *data) {
  /* `mt` calls this on a thread of its own: `current` is not set there. */
  struct client *client = (struct client *)data;
  if (rc != ZOK) return; /* the state tells */
  pthread_mutex_lock(&client->lock);
  client->auth_accepted++;
  pthread_mutex_unlock(&client->lock);
#ifdef ZKLOCK_MT
  wakeup_signal(client->wakeup);
#endif
}

/* One function and one context for every watch and for the session. */
static void on_event(zhandle_t *handle, int type, int state, const char *path,
                     void *context) {
  struct client *client = context;
  (void)handle;
  current = client; /* `mt`: the completion thread's first callback */
  bool session = type == ZOO_SESSION_EVENT;
  if (!session && type != ZOO_DELETED_EVENT && type != ZOO_CHANGED_EVENT &&
      type != ZOO_CREATED_EVENT && type != ZOO_CHILD_EVENT)
    return;
  append(client, incident_new(session ? INCIDENT_STATE : INCIDENT_WATCH,
                              session ? state : type, path, strlen(path)));
}

#ifndef ZKLOCK_MT
static void on_log(const char *message) {
  struct client *client = current;
  if (!client || !client->settings->want_log) return;
  const char *level = strstr(message, "ZOO_ERROR")  ? "error"
                      : strstr(message, "ZOO_WARN") ? "warn"
                                                    : "debug";
  client->listener.log(client->listener.self, level, message);
}

static void enroll(struct client *client) { (void)client; }
static void unenroll(struct client *client) { (void)client; }
static void use_server_list(struct client *client, char *list) {
  free(client->server_list);
  client->server_list = list;
}
#else
/* The library's threads log, and tell not for which handle.  But what they say
 * of a failed attempt, "Socket ip:port … errno=N(text)", tells whose it may be. */
static pthread_mutex_t enrolled_lock = PTHREAD_MUTEX_INITIALIZER;
static struct client *enrolled;

static void enroll(struct client *client) {
  pthread_mutex_lock(&enrolled_lock);
  client->next = enrolled;
  enrolled = client;
  pthread_mutex_unlock(&enrolled_lock);
}

static void unenroll(struct client *client) {
  pthread_mutex_lock(&enrolled_lock);
  struct client **link = &enrolled;
  while (*link != client) link = &(*link)->next;
  *link = client->next;
  pthread_mutex_unlock(&enrolled_lock);
}

static void use_server_list(struct client *client, char *list) {
  pthread_mutex_lock(&enrolled_lock);
  free(client->server_list);
  client->server_list = list;
  pthread_mutex_unlock(&enrolled_lock);
}

static void on_log(const char *message) {
  char address[80];
  int error;
  const char *from = strstr(message, "Socket ");
  const char *reason = strstr(message, "errno=");
  if (!from || !reason || sscanf(from + 7, "%79s", address) != 1 ||
      sscanf(reason, "errno=%d", &error) != 1)
    return;
  pthread_mutex_lock(&enrolled_lock);
  for (struct client *c = enrolled; c; c = c->next)
    if (c->server_list && strstr(c->server_list, address))
      c->listener.error(c->listener.self, error_reason(error, ZSYSTEMERROR));
  pthread_mutex_unlock(&enrolled_lock);
}
#endif

/* Requests. */

static bool submit(void *self, const struct op *op) {
  struct client *client = self;
  zhandle_t *zh = client->handle;
  const void *data = (const void *)(uintptr_t)op->serial;
  int mode = op->persistent ? ZOO_PERSISTENT : ZOO_CONTAINER;
  int rc = ZINVALIDSTATE;
  if (!zh) return false;
  switch (op->kind) {
    case OP_CREATE:
      rc = zoo_acreate2(zh, op->path, op->data, op->size, &client->acl,
                        op->exact ? ZOO_EPHEMERAL : ZOO_EPHEMERAL_SEQUENTIAL,
                        on_created, data);
      break;
    case OP_MKDIR:
      rc = zoo_acreate2(zh, op->path, NULL, -1, &client->acl, mode, on_created,
                        data);
      break;
    case OP_LIST:
      rc = zoo_awget_children(zh, op->path, op->watch ? on_event : NULL, client,
                              on_children, data);
      break;
    case OP_GET:
      rc = zoo_awget(zh, op->path, on_event, client, on_watched, data);
      break;
    case OP_EXISTS:
      rc = zoo_awexists(zh, op->path, on_event, client, on_stat, data);
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
  client->outstanding += rc == ZOK;
  return rc == ZOK;
}

/* Handles. */

static void say_error(struct client *client, const char *text) {
  client->listener.error(client->listener.self, text);
}

static void discard_inbox(struct client *client) {
  while (client->inbox) {
    struct incident *incident = client->inbox;
    client->inbox = incident->next;
    listing_free(incident->listing);
    free(incident);
  }
  client->inbox_end = &client->inbox;
  client->inbox_overflow = false;
  client->auth_accepted = 0;
}

static void drop_handle(struct client *client) {
  if (!client->handle) return;
  zookeeper_close(client->handle);
  client->handle = NULL;
  client->connected = false;
  client->outstanding = 0;
  /* No callback can run any more, and nobody waits for what it reported. */
  discard_inbox(client);
}

static void use_no_global_random(void) {
  /* The library would seed the process's random() for us. */
  zoo_deterministic_conn_order(1);
}

/* Shuffled, so that clients spread; and of odd length, because the library
 * skips every second address of an even list (ZOOKEEPER-2466). */
static bool make_server_list(struct client *client) {
  char *copy = strdup(client->resolved);
  char **items = calloc(strlen(client->resolved) / 2 + 2, sizeof *items);
  char *rest = NULL;
  int n = 0;
  if (!copy || !items) {
    free(copy);
    free(items);
    return false;
  }
  for (char *item = strtok_r(copy, ",", &rest); item;
       item = strtok_r(NULL, ",", &rest))
    items[n++] = item;
  for (int i = n - 1; i > 0; i--) {
    client->jitter = client->jitter * UINT64_C(6364136223846793005) + 1;
    int j = (int)((client->jitter >> 33) % (uint64_t)(i + 1));
    char *swap = items[i];
    items[i] = items[j];
    items[j] = swap;
  }
  if (n % 2 == 0 && n > 0) {
    items[n] = items[0];
    n++;
  }
  size_t size = 1;
  for (int i = 0; i < n; i++) size += strlen(items[i]) + 1;
  char *list = malloc(size);
  if (list) {
    list[0] = '\0';
    for (int i = 0; i < n; i++) {
      if (i) strcat(list, ",");
      strcat(list, items[i]);
    }
    use_server_list(client, list);
    client->addresses = n;
  }
  free(items);
  free(copy);
  return list != NULL;
}

static void make_handle(struct client *client, const clientid_t *id) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  const struct settings *settings = client->settings;
  pthread_once(&once, use_no_global_random);
  if (!make_server_list(client)) {
    client->resolve_at = clock_now() + 100 * MILLISECOND;
    return;
  }
  client->failures = 0;
  client->attempt = client->library_due = clock_now();
  client->handle = zookeeper_init2(client->server_list, on_event,
                                   settings->session_timeout_ms, id, client,
                                   ZOO_NO_LOG_CLIENTENV, on_log);
  if (!client->handle) {
    say_error(client, strerror(errno));
    client->resolve_at = clock_now() + 100 * MILLISECOND;
    return;
  }
  /* By default every turn resolves the list again, and a resolver that fails
   * stops the pings (ZOOKEEPER-1998). */
  zoo_set_servers_resolution_delay(client->handle, -1);
  client->auth_pending = 0;
  for (int i = 0; i < settings->credential_count; i++) {
    const struct credential *c = &settings->credentials[i];
    if (zoo_add_auth(client->handle, c->scheme, c->secret, (int)c->size,
                     on_auth, client) == ZOK)
      client->auth_pending++;
  }
}

/* A new handle for the same ZooKeeper session. */
static void renew_handle(struct client *client) {
  clientid_t id;
  bool same = client->handle && client->session->id != 0;
  if (same) id = *zoo_client_id(client->handle);
  drop_handle(client);
  make_handle(client, same ? &id : NULL);
}

static void wake_up(void *self) { wakeup_signal(self); }

static void resolve(struct client *client) {
  client->resolve_at = NEVER;
  if (client->resolver) return;
  client->resolver =
      resolver_start(&client->settings->hosts, wake_up, (void *)client->wakeup);
  if (!client->resolver) client->resolve_at = clock_now() + 100 * MILLISECOND;
}

/* A list has come.  With a handle already: have the servers moved?  Then the
 * same session goes on over a new handle. */
static void resolved(struct client *client) {
  const char *error = "";
  bool temporary = false;
  if (!client->resolver) return;
  const char *list = resolver_result(client->resolver, &error, &temporary);
  if (!list) return;
  if (!*list) {
    say_error(client, error);
    client->resolve_at = clock_now() + 500 * MILLISECOND;
    if (!client->handle && !temporary)
      client->listener.failed(client->listener.self, CLIENT_NO_ADDRESS);
  } else if (!client->handle || strcmp(list, client->resolved) != 0) {
    char *copy = client->connected ? NULL : strdup(list);
    if (copy) {
      free(client->resolved);
      client->resolved = copy;
      renew_handle(client);
    }
  }
  resolver_abandon(client->resolver);
  client->resolver = NULL;
}

static void open_session(void *self) {
  struct client *client = self;
  drop_handle(client);
  if (client->resolved)
    make_handle(client, NULL);
  else
    resolve(client);
}

static bool make_acl(struct client *client) {
  const struct settings *settings = client->settings;
  int n = settings->acl_count;
  client->acl = ZOO_OPEN_ACL_UNSAFE;
  if (n == 0) return true;
  client->acl_entries = calloc((size_t)n, sizeof(struct ACL));
  if (!client->acl_entries) return false;
  for (int i = 0; i < n; i++) {
    client->acl_entries[i].perms = settings->acl[i].permissions;
    client->acl_entries[i].id.scheme = settings->acl[i].scheme;
    client->acl_entries[i].id.id = settings->acl[i].id;
  }
  client->acl.count = n;
  client->acl.data = client->acl_entries;
  return true;
}

struct client *client_new(const struct settings *settings,
                          struct session *session,
                          const struct client_listener *listener,
                          const struct wakeup *wakeup) {
  struct client *client = calloc(1, sizeof *client);
  if (!client) return NULL;
  client->settings = settings;
  client->session = session;
  client->listener = *listener;
  client->wakeup = wakeup;
  client->inbox_end = &client->inbox;
  client->resolve_at = client->renew_at = client->library_due = NEVER;
  client->jitter = (uint64_t)clock_now() ^ (uint64_t)(uintptr_t)client;
  if (!make_acl(client)) {
    free(client);
    return NULL;
  }
  pthread_mutex_init(&client->lock, NULL);
  enroll(client);
  return client;
}

struct transport client_transport(struct client *client) {
  return (
      struct transport){.self = client, .submit = submit, .open = open_session};
}

#ifndef ZKLOCK_MT
/* A socket that is closed with replies unread is reset, and a reset discards
 * what the server has not yet read: our farewell, too, and the session lives
 * on until its timeout.  A duplicate keeps the socket open until the server
 * closes it, which is its answer to the farewell. */
static void say_farewell(struct client *client) {
  char rest[4096];
  int64_t deadline = clock_now() + FAREWELL;
  struct pollfd p = {.events = POLLIN};
  p.fd = client->connected && client->fd >= 0
             ? fcntl(client->fd, F_DUPFD_CLOEXEC, 0)
             : -1;
  drop_handle(client);
  while (p.fd >= 0) {
    int64_t left = (deadline - clock_now()) / MILLISECOND;
    if (left <= 0 || poll(&p, 1, (int)left) <= 0) break;
    ssize_t n = read(p.fd, rest, sizeof rest);
    if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) break;
  }
  if (p.fd >= 0) close(p.fd);
}
#else
/* The same danger; there the library awaits the answer to the farewell, if
 * nothing else is still to be answered. */
static void say_farewell(struct client *client) {
  int64_t deadline = clock_now() + FAREWELL;
  struct pollfd p = {.fd = client->wakeup->read_fd, .events = POLLIN};
  while (client->connected && client->outstanding > 0 &&
         clock_now() < deadline) {
    poll(&p, 1, 20);
    wakeup_clear(client->wakeup);
    pthread_mutex_lock(&client->lock);
    for (struct incident *i = client->inbox; i; i = i->next)
      client->outstanding -= i->kind == INCIDENT_REPLY;
    discard_inbox(client);
    pthread_mutex_unlock(&client->lock);
  }
  drop_handle(client);
}
#endif

void client_close(struct client *client) {
  current = client;
  resolver_abandon(client->resolver);
  client->resolver = NULL;
  say_farewell(client);
}

void client_free(struct client *client) {
  unenroll(client);
  discard_inbox(client);
  pthread_mutex_destroy(&client->lock);
  free(client->resolved);
  free(client->server_list);
  free(client->acl_entries);
  free(client);
}

/* Delivering. */

static void lost_connection(struct client *client) {
  client->connected = false;
  /* The names may have moved: ask while the library tries the old list. */
  int64_t patience = client->session->timeout / 3;
  if (patience < 1000 * MILLISECOND) patience = 1000 * MILLISECOND;
  client->resolve_at = clock_now() + patience;
  /* An ensemble that has come back without its data refuses whoever has seen
   * more than it knows. A new handle has seen nothing. Safe, for after a
   * reconnection the protocol trusts nothing older. */
  client->renew_at = clock_now() + client->session->timeout;
#ifdef ZKLOCK_MT
  client->attempt = clock_now();
#endif
}

static void connected(struct client *client) {
  if (!client->connected || client->auth_pending > 0) return;
  int64_t timeout = zoo_recv_timeout(client->handle) * MILLISECOND;
  client->failures = 0;
  client->resolve_at = client->renew_at = NEVER;
  session_connected(client->session, clock_now(),
                    zoo_client_id(client->handle)->client_id, timeout,
                    client->attempt);
}

static void state_changed(struct client *client, int state) {
  if (state == ZOO_CONNECTED_STATE) {
    client->connected = true;
    connected(client);
  } else if (state == ZOO_EXPIRED_SESSION_STATE) {
    client->connected = false;
    session_expired(client->session, clock_now());
  } else if (state == ZOO_AUTH_FAILED_STATE) {
    client->refused = true;
    client->connected = false;
    client->listener.failed(client->listener.self, CLIENT_REFUSED_AUTH);
  } else {
    lost_connection(client);
    session_disconnected(client->session, clock_now());
  }
}

/* Everything whose outcome is unknown looks the same to the protocol. */
static int outcome(int rc) {
  switch (rc) {
    case ZOPERATIONTIMEOUT:
    case ZRUNTIMEINCONSISTENCY:
    case ZMARSHALLINGERROR:
    case ZCLOSING:
    case ZINVALIDSTATE:
      return REPLY_LOST;
    default:
      return rc;
  }
}

static void deliver(struct client *client, const struct incident *incident) {
  switch (incident->kind) {
    case INCIDENT_REPLY: {
      client->outstanding--;
      struct reply reply = {.rc = outcome(incident->code),
                            .path = incident->path,
                            .czxid = incident->czxid,
                            .owner = incident->owner,
                            .ctime_ms = incident->ctime_ms,
                            .version = incident->version,
                            .data = incident->path,
                            .size = incident->size,
                            .revoked = incident->revoked,
                            .listing = incident->listing};
      session_reply(client->session, clock_now(), incident->serial, &reply);
      break;
    }
    case INCIDENT_WATCH:
      session_event(client->session, clock_now(),
                    incident->code == ZOO_DELETED_EVENT ? WATCH_DELETED
                    : incident->code == ZOO_CHILD_EVENT ? WATCH_CHILDREN
                                                        : WATCH_CHANGED,
                    incident->path);
      break;
    case INCIDENT_STATE:
      state_changed(client, incident->code);
      break;
  }
}

/* There was no memory for something, and we do not know what we have missed:
 * let the protocol do what it does after a reconnection, where it trusts
 * nothing older.  It may have been news of the connection itself. */
static void catch_up(struct client *client) {
  struct session *s = client->session;
  if (!client->handle) return;
  int state = zoo_state(client->handle);
  if (state == ZOO_CONNECTED_STATE && session_is_connected(s)) {
    session_disconnected(s, clock_now());
    session_connected(s, clock_now(), s->id, s->timeout, client->attempt);
  } else {
    state_changed(client, state);
  }
}

void client_deliver(struct client *client) {
  pthread_mutex_lock(&client->lock);
  struct incident *incident = client->inbox;
  bool overflow = client->inbox_overflow;
  int accepted = client->auth_accepted;
  client->inbox = NULL;
  client->inbox_end = &client->inbox;
  client->inbox_overflow = false;
  client->auth_accepted = 0;
  pthread_mutex_unlock(&client->lock);
  while (incident) {
    struct incident *next = incident->next;
    deliver(client, incident);
    listing_free(incident->listing);
    free(incident);
    incident = next;
  }
  if (accepted) {
    client->auth_pending -= accepted;
    connected(client);
  }
  if (overflow) catch_up(client);
  resolved(client);
}

/* Turning the library. */

#ifndef ZKLOCK_MT
static int64_t backoff(struct client *client) {
  int rounds = client->failures++ / (client->addresses ? client->addresses : 1);
  if (rounds == 0) return 0;
  int64_t delay = (10 * MILLISECOND) << (rounds < 6 ? rounds : 6);
  client->jitter = client->jitter * UINT64_C(6364136223846793005) + 1;
  return delay / 2 + (int64_t)((client->jitter >> 33) % (uint64_t)delay);
}

/* The library makes one attempt to connect at each call without a socket. */
static void turn(struct client *client, int *fd, short *events) {
  int interest = 0;
  struct timeval tv = {0, 0};
  int64_t now = clock_now();
  int state = zoo_state(client->handle);
  bool trying = state == ZOO_CONNECTING_STATE ||
                state == ZOO_ASSOCIATING_STATE || state == ZOO_CONNECTED_STATE;
  if (!trying) {
    if (now < client->library_due) return;
    client->attempt = now;
  }
  errno = 0;
  int rc = zookeeper_interest(client->handle, fd, &interest, &tv);
  if (rc != ZOK && rc != ZINVALIDSTATE)
    say_error(client, error_reason(errno, rc));
  if (rc != ZOK || *fd < 0) {
    *fd = -1;
    client->library_due = clock_now() + backoff(client);
    return;
  }
  if (!trying) fcntl(*fd, F_SETFD, FD_CLOEXEC);
  client->fd = *fd;
  *events = (short)((interest & ZOOKEEPER_READ ? POLLIN : 0) |
                    (interest & ZOOKEEPER_WRITE ? POLLOUT : 0));
  client->library_due = now + (int64_t)tv.tv_sec * 1000 * MILLISECOND +
                        (int64_t)tv.tv_usec * 1000;
}

/* A request that finds the connection broken makes the library close it and
 * tell nobody; and the next connection would begin with what is left of that
 * request, half of it perhaps.  A new handle of the same session has nothing
 * left over. */
static void notice_silent_loss(struct client *client) {
  if (!client->connected || zoo_state(client->handle) == ZOO_CONNECTED_STATE)
    return;
  lost_connection(client);
  session_disconnected(client->session, clock_now());
  renew_handle(client);
}

void client_process(struct client *client, short events) {
  if (!client->handle || !events) return;
  int what = (events & (POLLIN | POLLHUP | POLLERR) ? ZOOKEEPER_READ : 0) |
             (events & (POLLOUT | POLLHUP | POLLERR) ? ZOOKEEPER_WRITE : 0);
  errno = 0;
  int rc = zookeeper_process(client->handle, what);
  /* One call reads one packet: go on while there are any. */
  for (int i = 0; rc == ZOK && (what & ZOOKEEPER_READ) && i < 256; i++)
    rc = zookeeper_process(client->handle, ZOOKEEPER_READ);
  if (rc != ZOK && rc != ZNOTHING && rc != ZINVALIDSTATE) {
    say_error(client, error_reason(errno, rc));
    client->library_due = clock_now() + backoff(client);
  }
}
#else
static void notice_silent_loss(struct client *client) { (void)client; }

static void turn(struct client *client, int *fd, short *events) {
  (void)fd;
  (void)events;
  client->library_due = NEVER;
}

void client_process(struct client *client, short events) {
  (void)client;
  (void)events;
}
#endif

int64_t client_prepare(struct client *client, int *fd, short *events) {
  current = client;
  *fd = -1;
  *events = 0;
  notice_silent_loss(client);
  if (client->resolve_at <= clock_now()) resolve(client);
  if (client->resolver) resolved(client);
  if (client->renew_at <= clock_now() && client->handle) {
    client->renew_at = clock_now() + client->session->timeout;
    renew_handle(client);
  }
  if (client->handle && !client->refused) turn(client, fd, events);
  /* A failed turn has reported: that must be delivered before we sleep. */
  pthread_mutex_lock(&client->lock);
  bool waiting =
      client->inbox || client->inbox_overflow || client->auth_accepted > 0;
  pthread_mutex_unlock(&client->lock);
  if (waiting) return 0;
  int64_t due =
      client->handle && !client->refused ? client->library_due : NEVER;
  if (client->resolve_at < due) due = client->resolve_at;
  return client->renew_at < due ? client->renew_at : due;
}
