/* `mt`: the library's threads turn it, and connect again by themselves, with
 * nobody's leave.  So that a handle has one connection of ours at most, it is
 * *poisoned* as soon as that is there: its session's id is overwritten by one
 * that no server knows.  With it the library can go on using the connection,
 * but never get another one.
 *
 * That matters when a handle is given up.  zookeeper_close ends the ZooKeeper
 * session if the library is connected, and that may just have happened on its
 * own thread, unknown to us.  Therefore a handle is closed without the wish to
 * end its session only when it can never be connected again:
 *
 *   - it has asked for a session of its own, and that is not used yet; or
 *   - a server or the library itself has given its session up; or
 *   - it is poisoned, and a *probe*, a request sent after the poison, was
 *     given up.  That is done by the library's thread, when a connection or an
 *     attempt has failed; whatever it tries later, it tries with the poison; or
 *   - it is *sealed*: a probe sent after the poison was answered, so the
 *     connection outlived the poison; and that connection was lost; or
 *   - it is poisoned, and its thread has been round its loop since: for an
 *     answer that it reads now it compares with the poison, and takes for
 *     "expired".  (Each request wakes that thread by a byte in a pipe; where we
 *     know the pipe, we see that the byte has been read.)
 *
 * An answer that sounds as if a request was given up may be a server's, about
 * a failure of its own: so the last three count only if the library says that
 * it is not connected.  (It cannot be again.)
 *
 * Between the greeting of a server and the poison the library may have lost
 * the connection and got another one.  Then it tells us so, and the second is
 * as good as the first.
 *
 * A probe also tells when an attempt has failed, and so when the next one
 * cannot have begun yet. */
#include "library_backend.h"

#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "clock.h"
#include "fork.h"
#include "imports.h"
#include "library_codes.h"

/* (i) the I/O thread  (t) the library's own  (m) guarded by the inbox's lock
 * (c) constant while there is a handle */
struct backend {
  int ear;              /* (i) who hears what is logged; -1: nobody */
  int addresses;        /* (c) how many the handle has */
  int64_t failed_at;    /* (t) when an attempt failed last */
  int failures;         /* (t) so many in haste */
  int64_t poison;       /* (m) the id that the handle has instead; 0: its own */
  int poisonings;       /* (m) so often was it given that */
  bool leaving;         /* (i) it has asked to be refused */
  bool sealed;          /* (i) poisoned while the connection lived */
  int pipe;             /* (i) by which its thread is woken; -1: unknown */
  uint64_t probes;      /* (i) so many were sent */
  uint64_t probe;       /* (i) the one under way; 0: none */
  int64_t probe_sent;   /* (i) */
  int probe_poisonings; /* (i) `poisonings` when it was sent */
  uint64_t probe_done;  /* (m) so many were answered */
  int probe_code;       /* (m) how the last one was */
  bool shut_out;        /* (m) one of them: for want of authentication */
};

const char *backend_name(void) { return "mt"; }
bool backend_tries_all(void) { return true; }
bool backend_has_threads(void) { return true; }

static void reset(struct backend *b) {
  *b = (struct backend){.ear = -1, .pipe = -1};
}

struct backend *backend_new(void) {
  struct backend *b = malloc(sizeof *b);
  if (b) reset(b);
  return b;
}

static bool is_connected(const struct library *l) {
  return zoo_state(l->handle) == ZOO_CONNECTED_STATE;
}

static bool is_poisoned(struct library *l) {
  pthread_mutex_lock(&l->inbox.lock);
  bool poisoned = l->backend->poison != 0;
  pthread_mutex_unlock(&l->inbox.lock);
  return poisoned;
}

/* Who has asked to be refused looks so often whether it has been. */
#define PROBE_PAUSE (20 * MILLISECOND)
/* Attempts that follow each other so closely do not wait for each other. */
#define HASTE (20 * MILLISECOND)

/* Logging.  The library's threads log, and tell not for which handle; but each
 * handle may be given a function of its own to call: an ear.  Handles beyond
 * their number are not listened to. */

#define FOUR(X, n) X(n##0) X(n##1) X(n##2) X(n##3)
#define EARS(X) \
  FOUR(X, 1)    \
  FOUR(X, 2) FOUR(X, 3) FOUR(X, 4) FOUR(X, 5) FOUR(X, 6) FOUR(X, 7) FOUR(X, 8)

enum {
#define X(n) EAR_##n,
  EARS(X)
#undef X
      EAR_COUNT
};

static struct library *_Atomic listening[EAR_COUNT];

/* What it says of a failed attempt or a lost connection, "Socket ip:port zk
 * retcode=N, errno=N(text)"; the rest is for its authors.  Here is
 * where the library can be slowed down until we hear of it: after a timeout of
 * 0, which only a broken server grants, it would try thousands of times, where
 * each of its addresses should be tried once. */
static void hear(int ear, const char *message) {
  struct library *l = listening[ear];
  char server[80];
  int rc, error;
  const char *socket = strstr(message, "Socket ");
  if (!l || !socket ||
      sscanf(socket, "Socket %79s zk retcode=%d, errno=%d", server, &rc,
             &error) != 3)
    return;
  if (code_is_error(rc))
    handle_tell_error(l, server,
                      code_failure_words(error, ZSYSTEMERROR, is_poisoned(l)));
  int64_t last = l->backend->failed_at;
  l->backend->failed_at = clock_now();
  l->backend->failures =
      l->backend->failed_at - last < HASTE ? l->backend->failures + 1 : 1;
  if (l->backend->failures > l->backend->addresses) usleep(50000);
}

#define X(n) \
  static void hear_##n(const char *message) { hear(EAR_##n, message); }
EARS(X)
#undef X

static void deaf(const char *message) { (void)message; }

/* In the child of a fork nobody speaks that did. */
static void forget_ears(void) {
  for (int i = 0; i < EAR_COUNT; i++) listening[i] = NULL;
}

log_callback_fn backend_log(struct library *l, const char *addresses) {
  struct backend *b = l->backend;
  static const log_callback_fn ears[] = {
#define X(n) hear_##n,
      EARS(X)
#undef X
  };
  fork_watch(forget_ears);
  b->addresses = 1;
  for (; *addresses; addresses++) b->addresses += *addresses == ',';
  for (int i = 0; i < EAR_COUNT; i++) {
    struct library *nobody = NULL;
    if (!atomic_compare_exchange_strong(&listening[i], &nobody, l)) continue;
    b->ear = i;
    return ears[i];
  }
  return deaf;
}

/* Poison and probes. */

/* (With the lock.)  The handle's own id is where this points to; the library
 * reads it when it connects. */
static void poison(struct library *l, const clientid_t *id) {
  struct backend *b = l->backend;
  clientid_t *own = (clientid_t *)id;
  if (!b->poison) b->poison = ~own->client_id ? ~own->client_id : 1;
  if (own->client_id == b->poison) return;
  own->client_id = b->poison;
  b->poisonings++;
}

/* (It may be this thread's first callback, without inbox_current.  Answers
 * come in the order of the probes.) */
static void on_probe(int rc, const struct Stat *stat, const void *data) {
  struct library *l = (struct library *)data;
  (void)stat;
  pthread_mutex_lock(&l->inbox.lock);
  l->backend->probe_done++;
  l->backend->probe_code = rc;
  l->backend->shut_out |= code_wants_auth(rc);
  pthread_mutex_unlock(&l->inbox.lock);
  wakeup_signal(l->wakeup);
}

/* A server that refuses nobody would have us ask at the pace of its answers. */
static bool may_probe(const struct library *l) {
  return !l->backend->leaving ||
         clock_now() >= l->backend->probe_sent + PROBE_PAUSE;
}

static void send_probe(struct library *l) {
  struct backend *b = l->backend;
  b->probe_sent = clock_now();
  pthread_mutex_lock(&l->inbox.lock);
  b->probe_poisonings = b->poisonings;
  pthread_mutex_unlock(&l->inbox.lock);
  b->probe =
      zoo_aexists(l->handle, "/", 0, on_probe, l) == ZOK ? ++b->probes : 0;
}

void backend_opened(struct library *l) {
  l->backend->pipe = imports_last_pipe();
  send_probe(l);
}

/* Has the library's thread been round its loop since the last probe? */
static bool has_been_round(const struct library *l) {
  int unread;
  return l->backend->pipe >= 0 &&
         ioctl(l->backend->pipe, FIONREAD, &unread) == 0 && unread == 0;
}

/* (Just about to note the id of a greeting, it may have overwritten the poison:
 * that has been done, too, when it has been round.) */
static bool is_past_the_poison(struct library *l) {
  struct backend *b = l->backend;
  if (!b->probe || !has_been_round(l)) return false;
  pthread_mutex_lock(&l->inbox.lock);
  bool past = b->poison != 0 && b->probe_poisonings == b->poisonings &&
              zoo_client_id(l->handle)->client_id == b->poison;
  pthread_mutex_unlock(&l->inbox.lock);
  return past;
}

static bool is_harmless(struct library *l) {
  return (l->backend->sealed || is_past_the_poison(l)) && !is_connected(l);
}

/* (It waits for the library's threads: no gate for that.) */
void backend_close(struct library *l) {
  handle_close(l);
  if (l->backend->ear >= 0) listening[l->backend->ear] = NULL;
  reset(l->backend);
}

static void end(struct library *l, enum library_end how) {
  how = handle_end(l, how);
  handle_tell_lost(l);
  backend_close(l);
  l->listener.over(l->listener.self, how);
}

/* On the library's thread, with the lock. */
void backend_greeted(struct library *l, const clientid_t *id) {
  struct identity *identity = &l->inbox.greeting.identity;
  /* A second connection may have been greeted when the first was poisoned:
   * then it is the poison that stands here. */
  if (!l->backend->poison || id->client_id != l->backend->poison) {
    identity->session = id->client_id;
    memcpy(identity->password, id->passwd, sizeof identity->password);
  }
  poison(l, id);
}

void backend_connected(struct library *l) {
  l->backend->sealed = false;
  send_probe(l);
}

/* `late`: it was sent after the last poison.  (The library, just about to note
 * the id of a greeting, may have overwritten the first one; then the greeting,
 * which is reported before the answer, has brought another.) */
static bool take_answer(struct library *l, int *code, bool *late) {
  struct backend *b = l->backend;
  pthread_mutex_lock(&l->inbox.lock);
  bool answered = b->probe && b->probe_done == b->probe;
  *code = b->probe_code;
  *late = b->poison != 0 && b->probe_poisonings == b->poisonings;
  pthread_mutex_unlock(&l->inbox.lock);
  if (answered) b->probe = 0;
  return answered;
}

/* A connection that is there is left by asking for a way to authenticate that
 * no server has: it answers no, and closes the connection, and the library
 * gives the handle up. */
static void leave_connection(struct library *l) {
  if (l->backend->leaving ||
      zoo_add_auth(l->handle, "leave", NULL, 0, NULL, NULL) != ZOK)
    return;
  l->backend->leaving = true;
  send_probe(l); /* the library's thread must be woken */
}

static void attempt_failed(struct library *l) {
  if (is_poisoned(l)) return; /* another one has succeeded */
  l->began = l->backend->probe_sent;
  l->listener.failed(l->listener.self);
  if (l->handle && !l->parting) send_probe(l);
}

/* What sounds given up may be the server's word: then we are connected. */
static void look_at_probe(struct library *l) {
  int code;
  bool late;
  if (!take_answer(l, &code, &late)) return;
  if (!late) {
    if (!code_is_answer(code)) attempt_failed(l);
  } else if (code_is_answer(code)) {
    l->backend->sealed = true;
    handle_tell_accepted(l);
  } else if (!is_connected(l)) {
    end(l, LIBRARY_LOST);
  } else if (l->connected) {
    leave_connection(l);
  }
}

/* (Whichever probe was answered so, and whatever was answered since.) */
static void look_whether_shut_out(struct library *l) {
  pthread_mutex_lock(&l->inbox.lock);
  bool shut_out = l->backend->shut_out;
  l->backend->shut_out = false;
  pthread_mutex_unlock(&l->inbox.lock);
  if (!shut_out) return;
  l->stranger = true;
  backend_part(l);
}

void backend_look(struct library *l) {
  look_whether_shut_out(l);
  if (!l->handle) return;
  int state = zoo_state(l->handle);
  bool own = !is_poisoned(l);
  if (state == ZOO_AUTH_FAILED_STATE) {
    end(l, l->backend->leaving ? LIBRARY_LOST : LIBRARY_REFUSED);
  } else if (is_unrecoverable(l->handle)) {
    end(l, own ? LIBRARY_EXPIRED : LIBRARY_LOST);
  } else if (l->parting && is_harmless(l)) {
    end(l, LIBRARY_LOST);
  } else {
    if (l->odd && is_connected(l)) leave_connection(l);
    look_at_probe(l);
    if (l->handle && l->parting && !l->backend->probe && may_probe(l))
      send_probe(l);
  }
}

void backend_abandon(struct library *l) { end(l, LIBRARY_LOST); }

void backend_part(struct library *l) {
  if (l->connected) {
    leave_connection(l);
  } else if (l->fresh) {
    backend_abandon(l);
  } else if (!l->parting) {
    l->parting = true;
    pthread_mutex_lock(&l->inbox.lock);
    poison(l, zoo_client_id(l->handle));
    pthread_mutex_unlock(&l->inbox.lock);
    send_probe(l);
  }
}

/* Replies that are unread when the socket is closed make the server discard
 * our farewell; there the library awaits the answer to it, if nothing else is
 * still to be answered. */
void backend_farewell(struct library *l) {
  int64_t deadline = clock_now() + FAREWELL;
  struct pollfd p = {.fd = l->wakeup->read_fd, .events = POLLIN};
  while (l->connected && l->outstanding > 0 && clock_now() < deadline) {
    poll(&p, 1, 20);
    wakeup_clear(l->wakeup);
    l->outstanding -= inbox_discard(&l->inbox);
  }
}

int64_t backend_prepare(struct library *l, int *fd, short *events) {
  (void)fd;
  (void)events;
  /* Whatever is reported wakes us; but there may be no memory for a probe, and
   * nobody reports that a thread has been round its loop. */
  if (l->parting && l->backend->pipe >= 0) return clock_now() + MILLISECOND;
  if (l->parting && !l->backend->probe) return clock_now() + PROBE_PAUSE;
  return INT64_MAX;
}

void backend_process(struct library *l, short events) {
  (void)l;
  (void)events;
}
