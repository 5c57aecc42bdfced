/* Connects to the servers, and connects again after a loss:
 *
 *            names have addresses        an address can be tried
 *  RESOLVING ──────────────────► PAUSED ───────────────► TRYING
 *                                  ▲   ▲                    │ greeted
 *                                  │   │ failed             ▼
 *                                  │   ├─────────────── GREETED
 *                                  │                        │ credentials
 *                                  │                        ▼ accepted
 *                                  └─────────────────── CONNECTED
 *                                            lost
 *
 *   RESOLVING → PAUSED                     use_addresses
 *   PAUSED → TRYING                        try_to_connect
 *   TRYING → PAUSED                        the handle could not be created
 *   TRYING → GREETED                       on_connected
 *   GREETED → CONNECTED                    connected, at once if no auth
 *   TRYING, GREETED, CONNECTED → PAUSED    on_over: the connection was lost;
 *                                          or zklock ended it, because no
 *                                          reply came or the addresses changed
 *
 * There is a handle in TRYING, GREETED and CONNECTED, and there are addresses
 * in all states but RESOLVING. The function check() asserts this.
 *
 * A handle of the library stands for one attempt and one connection. When the
 * connection is lost, the client creates another handle for the same ZooKeeper
 * session. A server refuses a client that has seen a newer zxid than the server
 * has. The new handle has seen no zxid. So servers that were restored without
 * their newest data do not refuse it. The new handle has no watches either, but
 * the protocol reads all state again in each connection anyway.
 *
 * Only this file decides how often zklock tries a server (addresses.h). It
 * judges a server by how long its connections last. The replies that a server
 * sends before it closes a connection do not count. If there is no connection
 * for some time, zklock looks up the host names again (host_lookup.h).
 *
 * If the servers reject this client's credentials, waiters get that error at
 * once. The client tries again later, because the servers' configuration may
 * change. */
#include "client.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "addresses.h"
#include "clock.h"
#include "host_lookup.h"
#include "library.h"

#define MILLISECOND INT64_C(1000000)
#define SECOND INT64_C(1000000000)

/* If a connection lasts this long, the failures of its address are
 * forgotten. */
#define STABLE_AFTER SECOND
#define ATTEMPT_FIRST SECOND
#define REFUSAL_FIRST SECOND
#define REFUSAL_MAX (30 * SECOND)
#define RETRY_AFTER (100 * MILLISECOND)

enum client_state {
  CLIENT_RESOLVING,
  CLIENT_PAUSED,
  CLIENT_TRYING,
  CLIENT_GREETED,
  CLIENT_CONNECTED,
};

/* Access: (c) constant after client_new, so any thread is allowed to read the
 * field. Only the I/O thread uses the other fields. */
struct client {
  const struct settings *settings; /* (c) */
  struct session *session; /* only the pointer is (c), not the session */
  const struct client_listener *listener; /* (c) */
  void *self;                             /* (c) the listener's */

  enum client_state state;
  struct library *library;
  struct identity identity; /* the ZooKeeper session to resume */
  struct addresses addresses;
  int address;          /* index of the address in use; -1: none */
  int64_t paused_until; /* no attempt begins before this time */
  int unanswered;       /* unanswered attempts since the last connection */
  int64_t tried_at;     /* when the last attempt began */
  int64_t give_up_at;   /* when to abandon the attempt, or NEVER */
  /* The index of the address whose server has granted the session. It is -1 in
   * three cases: no server has granted the session; the addresses have changed;
   * or that server has kept a connection for STABLE_AFTER. */
  int granted_by;
  int64_t greeted_at;
  int64_t granted; /* session timeout of this connection */
  int refusals;    /* refusals of the credentials in a row */

  struct host_lookup host_lookup; /* looks up the servers' names */
};

/* Asserts the invariants of the client's state. They hold whatever data a
 * server sends. */
static void check(const struct client *client) {
  assert(library_is_open(client->library) == (client->state >= CLIENT_TRYING));
  assert((client->addresses.count > 0) == (client->state != CLIENT_RESOLVING));
}

static void report_error(struct client *client, const char *text) {
  const char *server = client->state == CLIENT_RESOLVING || client->address < 0
                           ? NULL
                           : client->addresses.list[client->address].text;
  client->listener->error(client->self, server, text);
}

/* Returns the session timeout that a server granted last. If none was granted,
 * returns the requested one. */
static int64_t timeout_of(const struct client *client) {
  int64_t granted = session_negotiated(client->session);
  return granted ? granted : client->settings->session_timeout_ms * MILLISECOND;
}

/* Names. */

static bool is_connected(const struct client *client) {
  return client->state == CLIENT_GREETED || client->state == CLIENT_CONNECTED;
}

static void use_addresses(struct client *client, const char *list) {
  if (client->state == CLIENT_TRYING) library_disconnect(client->library);
  client->address = client->granted_by = -1;
  if (!addresses_set(&client->addresses, list))
    host_lookup_ask_in(&client->host_lookup, RETRY_AFTER);
  else if (client->state == CLIENT_RESOLVING)
    client->state = CLIENT_PAUSED;
}

/* If a lookup of the host names has ended, uses the addresses that it found, or
 * reports its error. Without a connection, also schedules the next lookup. With
 * a connection, keeps the old addresses and only reports an error. */
static void use_lookup(struct client *client) {
  const char *error = "";
  bool temporary = false;
  const char *list =
      host_lookup_answer(&client->host_lookup, &error, &temporary);
  if (!list) return;
  if (!is_connected(client)) host_lookup_ask_again(&client->host_lookup);
  if (!*list) {
    report_error(client, error);
    if (client->state == CLIENT_RESOLVING) {
      host_lookup_ask_in(&client->host_lookup, 5 * RETRY_AFTER);
      if (!temporary) client->listener->failed(client->self, CLIENT_NO_ADDRESS);
    }
  } else if (!is_connected(client) &&
             !addresses_are(&client->addresses, list)) {
    use_addresses(client, list);
  }
  host_lookup_done(&client->host_lookup);
}

/* Attempts. */

/* Returns the time limit of a connection attempt. There is a limit because the
 * server can be broken, or can have lost the request while it started. A server
 * can also be slow, so the limit doubles after each pass through all
 * addresses. */
static int64_t attempt_timeout(const struct client *client) {
  int64_t longest = timeout_of(client) / 3 * 2;
  int passes = client->unanswered / client->addresses.count;
  int64_t attempt_timeout = ATTEMPT_FIRST << (passes < 6 ? passes : 6);
  return attempt_timeout < longest ? attempt_timeout : longest;
}

static void try_to_connect(struct client *client, int64_t now) {
  client->address = addresses_take(&client->addresses, now);
  client->state = CLIENT_TRYING;
  client->tried_at = now;
  client->give_up_at = now + attempt_timeout(client);
  session_attempting(client->session, now);
  client->listener->attempting(client->self);
  const struct address *a = &client->addresses.list[client->address];
  if (library_open(client->library, a->text, a->names, &client->identity))
    return;
  client->state = CLIENT_PAUSED;
  client->give_up_at = NEVER;
  client->paused_until = now + RETRY_AFTER;
}

static int64_t attempt_due(const struct client *client) {
  if (client->state != CLIENT_PAUSED) return NEVER;
  int64_t due = addresses_due(&client->addresses);
  return due > client->paused_until ? due : client->paused_until;
}

static void end_session(struct client *client) {
  bool known = session_number(client->session) != 0;
  client->identity.session = 0;
  if (known) session_expired(client->session, clock_now());
}

/* Abandons the attempt, or the wait for the server's reply to the credentials.
 * Then the client can try another server, which may reply faster. */
static void give_up(struct client *client) {
  bool trying = client->state == CLIENT_TRYING;
  client->unanswered += trying;
  report_error(client, !trying ? "it does not answer the credentials"
                       : library_is_in_handshake(client->library)
                           ? "it does not answer the TLS handshake"
                           : "it does not answer");
  library_disconnect(client->library);
}

/* Reports of the library. */

static void record_failure(struct client *client) {
  addresses_failed(&client->addresses, client->address, clock_now(),
                   timeout_of(client));
}

static void connected(struct client *client) {
  client->state = CLIENT_CONNECTED;
  client->give_up_at = NEVER;
  host_lookup_cancel(&client->host_lookup);
  client->unanswered = 0;
  session_connected(client->session, clock_now(), client->identity.session,
                    client->granted, client->tried_at);
}

static void on_connected(void *self, const struct identity *identity,
                         int64_t timeout) {
  struct client *client = self;
  bool new = client->identity.session != identity->session;
  client->state = CLIENT_GREETED;
  client->identity = *identity;
  client->granted = timeout;
  client->greeted_at = clock_now();
  client->give_up_at = client->greeted_at + timeout_of(client) / 3 * 2;
  if (new) client->granted_by = client->address;
  if (client->settings->credential_count == 0) {
    connected(client);
    return;
  }
  session_greeted(client->session, clock_now(), identity->session, timeout,
                  client->tried_at);
  client->listener->attempting(
      client->self); /* publishes the lease, which was shortened */
}

static void on_accepted(void *self) {
  struct client *client = self;
  client->refusals = 0;
  if (client->state == CLIENT_GREETED) connected(client);
}

static void on_reply(void *self, uint64_t serial, const struct reply *reply) {
  struct client *client = self;
  if (!reply_is_unauthenticated(reply->rc)) client->refusals = 0;
  session_reply(client->session, clock_now(), serial, reply);
}

static void on_event(void *self, enum watch_event event, const char *path) {
  struct client *client = self;
  session_event(client->session, clock_now(), event, path);
}

static void lost(struct client *client) {
  bool lived = clock_now() - client->greeted_at >= STABLE_AFTER;
  if (lived) client->granted_by = -1;
  if (lived)
    addresses_served(&client->addresses, client->address);
  else
    record_failure(client);
  host_lookup_ask_after_loss(&client->host_lookup);
  session_disconnected(client->session, clock_now());
}

/* Called when a server has reported that the session has expired. The client
 * then requests a new session from the same server, because this server may
 * have the newest data. Exception: if the server has just granted the expired
 * session, the attempt counts as a failure of this server. */
static void expired(struct client *client) {
  if (client->address == client->granted_by)
    record_failure(client);
  else
    client->addresses.next = client->address;
  end_session(client);
}

static void refused(struct client *client, int reason) {
  int64_t pause = REFUSAL_FIRST
                  << (client->refusals < 5 ? client->refusals : 5);
  client->refusals++;
  client->paused_until =
      clock_now() + (pause < REFUSAL_MAX ? pause : REFUSAL_MAX);
  session_refused(client->session, clock_now(), reason);
  client->listener->failed(client->self, reason == REPLY_AUTH_REQUIRED
                                             ? CLIENT_AUTH_REQUIRED
                                             : CLIENT_REFUSED_AUTH);
}

/* Returns whether a server may have received the session id that this attempt
 * sent. The duration of the attempt shows this: a server that refuses the
 * connection does so at once, before it reads any bytes. */
static bool may_have_reached_server(const struct client *client) {
  int64_t least = client->settings->session_timeout_ms * MILLISECOND;
  if (timeout_of(client) < least) least = timeout_of(client);
  int64_t at_once = least / 4 < SECOND / 2 ? least / 4 : SECOND / 2;
  return clock_now() >= client->tried_at + at_once;
}

/* Records whether the attempt at this address ended because a certificate was
 * refused. If the latest attempts at all addresses ended for this reason,
 * `connect` and all waiters fail at once. */
static void record_tls_refusal(struct client *client, bool is_refused) {
  bool by_all =
      addresses_refused(&client->addresses, client->address, is_refused);
  if (is_refused) client->listener->refused(client->self);
  if (!is_refused || !by_all) return;
  session_refused(client->session, clock_now(), REASON_TLS);
  client->listener->failed(client->self, CLIENT_REFUSED_TLS);
}

static void on_over(void *self, enum library_end end) {
  struct client *client = self;
  bool had_connection = is_connected(client);
  client->state = CLIENT_PAUSED;
  client->give_up_at = NEVER;
  bool is_refused = end == LIBRARY_CERTIFICATE_REFUSED;
  if (had_connection)
    lost(client);
  else if (end == LIBRARY_LOST || is_refused)
    record_failure(client);
  record_tls_refusal(client, is_refused);
  if (end == LIBRARY_LOST && may_have_reached_server(client) &&
      session_is_overdue(client->session, clock_now()))
    end_session(client);
  if (end == LIBRARY_EXPIRED) expired(client);
  if (end == LIBRARY_REFUSED) refused(client, REASON_CREDENTIALS);
  if (end == LIBRARY_AUTH_REQUIRED) refused(client, REPLY_AUTH_REQUIRED);
}

static void on_error(void *self, const char *server, const char *text) {
  struct client *client = self;
  client->listener->error(client->self, server, text);
}

static void on_warning(void *self, const char *text) {
  struct client *client = self;
  client->listener->warning(client->self, text);
}

/* Requests of the protocol. */

static bool submit(void *self, const struct op *op, const struct op *before) {
  struct client *client = self;
  return library_submit(client->library, op, before);
}

/* Starts the first lookup of the servers' names, so that a session can be
 * opened. */
static void open_session(void *self) {
  struct client *client = self;
  assert(session_number(client->session) == 0);
  if (client->state == CLIENT_RESOLVING) host_lookup_ask(&client->host_lookup);
}

struct transport client_transport(struct client *client) {
  return (
      struct transport){.self = client, .submit = submit, .open = open_session};
}

/* Creation and destruction. */

static const struct library_listener of_library = {.connected = on_connected,
                                                   .accepted = on_accepted,
                                                   .reply = on_reply,
                                                   .event = on_event,
                                                   .over = on_over,
                                                   .error = on_error,
                                                   .warning = on_warning};

struct client *client_new(const struct settings *settings,
                          struct session *session,
                          const struct client_listener *listener, void *self,
                          const struct wakeup *wakeup, uint64_t seed) {
  struct client *client = calloc(1, sizeof *client);
  if (!client) return NULL;
  client->settings = settings;
  client->session = session;
  client->listener = listener;
  client->self = self;
  client->give_up_at = NEVER;
  host_lookup_init(&client->host_lookup, &settings->hosts, wakeup);
  client->address = client->granted_by = -1;
  addresses_init(&client->addresses, seed);
  client->library = library_new(settings, &of_library, client);
  if (client->library) return client;
  free(client);
  return NULL;
}

void client_close(struct client *client) {
  host_lookup_done(&client->host_lookup);
  library_close(client->library);
}

void client_free(struct client *client) {
  library_free(client->library);
  addresses_free(&client->addresses);
  free(client);
}

/* The I/O thread's loop. */

int64_t client_prepare(struct client *client, int *fd, short *events) {
  check(client);
  int64_t now = clock_now();
  if (client->host_lookup.due <= now) host_lookup_ask(&client->host_lookup);
  use_lookup(client);
  if (client->give_up_at <= now) give_up(client);
  if (attempt_due(client) <= now) try_to_connect(client, now);
  int64_t due = library_prepare(client->library, fd, events);
  int64_t others[] = {client->host_lookup.due, client->give_up_at,
                      attempt_due(client)};
  for (size_t i = 0; i < sizeof others / sizeof *others; i++)
    if (others[i] < due) due = others[i];
  return due;
}

void client_process(struct client *client, short events) {
  library_process(client->library, events);
}

void client_deliver(struct client *client) { library_deliver(client->library); }
