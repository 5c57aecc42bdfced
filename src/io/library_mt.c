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
#ifdef ZKLOCK_MT
#include "library_inside.h"

#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "clock.h"
#include "fork.h"
#include "imports.h"

bool library_tries_all(void) { return true; }

static bool is_connected(const struct library *l) {
  return zoo_state(l->handle) == ZOO_CONNECTED_STATE;
}

static bool is_poisoned(struct library *l) {
  pthread_mutex_lock(&l->lock);
  bool poisoned = l->poison != 0;
  pthread_mutex_unlock(&l->lock);
  return poisoned;
}

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
  if (library_is_error(rc))
    library_say_error(l, server,
                      library_error(error, ZSYSTEMERROR, is_poisoned(l)));
  int64_t last = l->failed_at;
  l->failed_at = clock_now();
  l->failures = l->failed_at - last < HASTE ? l->failures + 1 : 1;
  if (l->failures > l->addresses) usleep(50000);
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
  static const log_callback_fn ears[] = {
#define X(n) hear_##n,
      EARS(X)
#undef X
  };
  fork_watch(forget_ears);
  l->addresses = 1;
  for (; *addresses; addresses++) l->addresses += *addresses == ',';
  for (int i = 0; i < EAR_COUNT; i++) {
    struct library *nobody = NULL;
    if (!atomic_compare_exchange_strong(&listening[i], &nobody, l)) continue;
    l->ear = i;
    return ears[i];
  }
  return deaf;
}

/* Poison and probes. */

/* (With the lock.)  The handle's own id is where this points to; the library
 * reads it when it connects. */
static void poison(struct library *l, const clientid_t *id) {
  clientid_t *own = (clientid_t *)id;
  if (!l->poison) l->poison = ~own->client_id ? ~own->client_id : 1;
  if (own->client_id == l->poison) return;
  own->client_id = l->poison;
  l->poisonings++;
}

/* (It may be this thread's first callback, without library_current.  Answers
 * come in the order of the probes.) */
static void on_probe(int rc, const struct Stat *stat, const void *data) {
  struct library *l = (struct library *)data;
  (void)stat;
  pthread_mutex_lock(&l->lock);
  l->probe_done++;
  l->probe_code = rc;
  pthread_mutex_unlock(&l->lock);
  wakeup_signal(l->wakeup);
}

static void send_probe(struct library *l) {
  l->probe_sent = clock_now();
  pthread_mutex_lock(&l->lock);
  l->probe_poisonings = l->poisonings;
  pthread_mutex_unlock(&l->lock);
  l->probe =
      zoo_aexists(l->handle, "/", 0, on_probe, l) == ZOK ? ++l->probes : 0;
}

void backend_opened(struct library *l) {
  l->pipe = imports_last_pipe();
  send_probe(l);
}

/* Has the library's thread been round its loop since the last probe? */
static bool has_been_round(const struct library *l) {
  int unread;
  return l->pipe >= 0 && ioctl(l->pipe, FIONREAD, &unread) == 0 && unread == 0;
}

/* (Just about to note the id of a greeting, it may have overwritten the poison:
 * that has been done, too, when it has been round.) */
static bool is_past_the_poison(struct library *l) {
  if (!l->probe || !has_been_round(l)) return false;
  pthread_mutex_lock(&l->lock);
  bool past = l->poison != 0 && l->probe_poisonings == l->poisonings &&
              zoo_client_id(l->handle)->client_id == l->poison;
  pthread_mutex_unlock(&l->lock);
  return past;
}

static bool is_harmless(struct library *l) {
  return (l->sealed || is_past_the_poison(l)) && !is_connected(l);
}

/* It waits for the library's threads: no gate for that. */
void backend_close(zhandle_t *handle) { zookeeper_close(handle); }

void backend_dropped(struct library *l) {
  if (l->ear >= 0) listening[l->ear] = NULL;
  l->ear = l->pipe = -1;
  l->poison = 0;
  l->poisonings = 0;
  l->sealed = l->leaving = false;
  l->probe = l->probes = l->probe_done = 0;
}

/* On the library's thread, with the lock. */
void backend_greeted(struct library *l, const clientid_t *id) {
  /* A second connection may have been greeted when the first was poisoned:
   * then it is the poison that stands here. */
  if (!l->poison || id->client_id != l->poison) {
    l->identity.session = id->client_id;
    memcpy(l->identity.password, id->passwd, sizeof l->identity.password);
  }
  poison(l, id);
}

void backend_connected(struct library *l) {
  l->sealed = false;
  send_probe(l);
}

/* `late`: it was sent after the last poison.  (The library, just about to note
 * the id of a greeting, may have overwritten the first one; then the greeting,
 * which is reported before the answer, has brought another.) */
static bool take_answer(struct library *l, int *code, bool *late) {
  pthread_mutex_lock(&l->lock);
  bool answered = l->probe && l->probe_done == l->probe;
  *code = l->probe_code;
  *late = l->poison != 0 && l->probe_poisonings == l->poisonings;
  pthread_mutex_unlock(&l->lock);
  if (answered) l->probe = 0;
  return answered;
}

/* A connection that is there is left by asking for a way to authenticate that
 * no server has: it answers no, and closes the connection, and the library
 * gives the handle up. */
static void leave_connection(struct library *l) {
  if (l->leaving ||
      zoo_add_auth(l->handle, "leave", NULL, 0, NULL, NULL) != ZOK)
    return;
  l->leaving = true;
  send_probe(l); /* the library's thread must be woken */
}

static void attempt_failed(struct library *l) {
  if (is_poisoned(l)) return; /* another one has succeeded */
  l->began = l->probe_sent;
  l->listener.failed(l->listener.self);
  if (l->handle && !l->parting) send_probe(l);
}

/* What sounds given up may be the server's word: then we are connected. */
static void look_at_probe(struct library *l) {
  int code;
  bool late;
  if (!take_answer(l, &code, &late)) return;
  if (!late) {
    if (!library_is_answer(code)) attempt_failed(l);
  } else if (library_is_answer(code)) {
    l->sealed = true;
    library_tell_accepted(l);
  } else if (!is_connected(l)) {
    library_tell_over(l, LIBRARY_LOST);
  } else if (l->connected) {
    leave_connection(l);
  }
}

void backend_look(struct library *l) {
  int state = zoo_state(l->handle);
  bool own = !is_poisoned(l);
  if (state == ZOO_AUTH_FAILED_STATE) {
    library_tell_over(l, l->leaving ? LIBRARY_LOST : LIBRARY_REFUSED);
  } else if (is_unrecoverable(l->handle)) {
    library_tell_over(l, own ? LIBRARY_EXPIRED : LIBRARY_LOST);
  } else if (l->parting && is_harmless(l)) {
    library_tell_over(l, LIBRARY_LOST);
  } else {
    look_at_probe(l);
    if (l->handle && l->parting && !l->probe) send_probe(l);
  }
}

void backend_abandon(struct library *l) { library_tell_over(l, LIBRARY_LOST); }

void library_part(struct library *l) {
  if (l->connected) {
    leave_connection(l);
  } else if (l->fresh) {
    backend_abandon(l);
  } else if (!l->parting) {
    l->parting = true;
    pthread_mutex_lock(&l->lock);
    poison(l, zoo_client_id(l->handle));
    pthread_mutex_unlock(&l->lock);
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
    pthread_mutex_lock(&l->lock);
    for (struct incident *i = l->inbox; i; i = i->next)
      l->outstanding -= i->kind == INCIDENT_REPLY;
    library_discard(l);
    pthread_mutex_unlock(&l->lock);
  }
}

int64_t library_prepare(struct library *l, int *fd, short *events) {
  library_current = l;
  *fd = -1;
  *events = 0;
  /* Whatever is reported wakes us; but there may be no memory for a probe, and
   * nobody reports that a thread has been round its loop. */
  if (l->handle && l->parting && !l->probe)
    return clock_now() + 100 * MILLISECOND;
  if (l->handle && l->parting && l->pipe >= 0) return clock_now() + MILLISECOND;
  return INT64_MAX;
}

void library_process(struct library *l, short events) {
  (void)l;
  (void)events;
}

#endif
