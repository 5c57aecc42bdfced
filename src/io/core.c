/* The I/O thread: one loop that takes commands in, turns session and client,
 * and posts events out.  The session, its contenders and the client belong to
 * it alone.  What both threads see is in struct proof, struct claim and the
 * channel. */
#include "core.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "entropy.h"
#include "fork.h"

enum command_kind {
  COMMAND_ACQUIRE,
  COMMAND_CANCEL,
  COMMAND_RELEASE,
  COMMAND_RELEASE_AND_TELL, /* EVENT_GONE is wanted */
  COMMAND_ABANDON,          /* a wait that nobody waits for any more */
  COMMAND_LOSE,             /* the Lua thread has seen that it is overdue */
  COMMAND_GUARD,            /* the holder's own watch is wanted */
  COMMAND_ASK,
  COMMAND_CLOSE,
};

enum { LOG_LINES_MAX = 256 };

/* Every core of the process, for the exit handler: the one thing that cannot
 * belong to a session.  Guarded by fork_lock. */
static struct core *registry;

/* Events out. */

static void post(struct core *core, struct message *message, int kind) {
  channel_event(&core->channel, message, kind);
}

static void post_claim(struct core *core, struct claim *claim,
                       struct message *message, int kind) {
  claim_keep(claim);
  post(core, message, kind);
}

void core_log(void *self, const char *level, const char *text) {
  struct core *core = self;
  if (!core->settings->want_log || core->log_lines >= LOG_LINES_MAX) return;
  size_t size = strlen(text) + 1;
  struct log_line *line = malloc(sizeof *line + size);
  if (!line) return;
  core->log_lines++;
  line->message = (struct message){.subject = line};
  line->level = level;
  memcpy(line->text, text, size);
  post(core, &line->message, EVENT_LOG);
}

/* The same, for what may be said again and again. */
static void notify(struct core *core, const char *level, const char *sentence) {
  char text[PATH_MAX_BYTES + 300];
  int since;
  if (!core->settings->want_log) return;
  pthread_mutex_lock(&core->error_lock);
  bool due = notice_due(&core->notices, sentence, clock_now(), &since);
  pthread_mutex_unlock(&core->error_lock);
  if (!due) return;
  if (since > 0)
    snprintf(text, sizeof text, "%s (and %d times since this was said last)",
             sentence, since);
  core_log(core, level, since > 0 ? text : sentence);
}

static void client_error(void *self, const char *server, const char *error) {
  struct core *core = self;
  char text[300];
  pthread_mutex_lock(&core->error_lock);
  snprintf(core->error, sizeof core->error, "%s", error);
  core->troubled = true;
  pthread_mutex_unlock(&core->error_lock);
  snprintf(text, sizeof text, "no connection%s%s: %s", server ? " to " : "",
           server ? server : "", error);
  notify(core, "warn", text);
}

static void notify_state(struct core *core, enum session_state state) {
  char text[80];
  if (state == SESSION_EXPIRED) {
    snprintf(text, sizeof text, "the session 0x%llx has expired",
             (unsigned long long)core->session_id);
    notify(core, "warn", text);
  } else if (state == SESSION_CONNECTED) {
    pthread_mutex_lock(&core->error_lock);
    bool troubled = core->troubled;
    core->troubled = false;
    pthread_mutex_unlock(&core->error_lock);
    if (troubled) notify(core, "info", "there is a connection again");
  }
}

static void client_failed(void *self, enum client_failure failure) {
  struct core *core = self;
  core->failure = failure;
  post(core, &core->failed_event, EVENT_FAILED);
}

static void on_trouble(void *self, const char *message, const char *path,
                       int rc) {
  struct core *core = self;
  char text[PATH_MAX_BYTES + 200];
  snprintf(text, sizeof text, "%s (%.1000s): %s", message, path,
           client_reason(rc));
  notify(core, "warn", text);
}

/* What a claim stands on must be seen before the claim is. */
static void publish_lease(struct core *core) {
  atomic_store_explicit(&core->proof.lease_until, session_lease(&core->session),
                        memory_order_release);
}

static void client_attempts(void *self) { publish_lease(self); }

/* Who sees a connection must not see the lease of the one before, which a
 * server's new timeout may have cut short. */
static void on_state(void *self, enum session_state state) {
  struct core *core = self;
  uint64_t states = core->states;
  publish_lease(core);
  core->proof.state = (int)state;
  if (state == SESSION_CONNECTED) {
    core->session_id = session_number(&core->session);
    core->timeout = session_negotiated(&core->session);
  }
  while (!atomic_compare_exchange_weak(&core->states, &states,
                                       states << 4 | (1u + (unsigned)state)))
    continue;
  post(core, &core->state_event, EVENT_STATE);
  notify_state(core, state);
}

static void count_wait(struct core *core, int64_t waited) {
  int bucket = 0;
  for (int64_t us = waited / 1000; us > 0 && bucket < WAIT_BUCKETS - 1; us /= 2)
    bucket++;
  counter_add(&core->waits[bucket], 1);
}

static void granted(struct core *core, struct claim *claim) {
  struct contender *c = &claim->contender;
  claim->token = contender_token(c);
  claim->hold_until = c->timer.due;
  claim->turn = c->node.turn;
  memcpy(claim->node, c->node.name, sizeof claim->node);
  count_wait(core, session_now(&core->session) - claim->asked);
  publish_lease(core);
  core->held++;
  atomic_store_explicit(&claim->state, CLAIM_HELD, memory_order_release);
  post_claim(core, claim, &claim->decided, EVENT_GRANTED);
}

static void note_rival(struct claim *claim, const struct rival *rival) {
  claim->rival_size = rival->data ? rival->size : 0;
  claim->rival_holds = rival->holds;
  if (claim->rival_size > 0)
    memcpy(claim->rival, rival->data,
           (size_t)(rival->size < OP_SHOWN ? rival->size : OP_SHOWN));
}

static void refused(struct core *core, struct claim *claim, enum verdict why,
                    int reason) {
  claim->verdict = why;
  claim->ahead = claim->contender.view.ahead;
  note_rival(claim, &claim->contender.rival);
  claim->reason = reason;
  if (reason == REASON_TOO_LARGE)
    claim->bytes = contender_bytes(&claim->contender);
  atomic_store_explicit(&claim->state, CLAIM_REFUSED, memory_order_release);
  post_claim(core, claim, &claim->decided, EVENT_REFUSED);
}

/* Either thread: from HELD to `next`; false: another was first. */
static bool end_hold(struct core *core, struct claim *claim, int next) {
  int held = CLAIM_HELD;
  if (!atomic_compare_exchange_strong(&claim->state, &held, next)) return false;
  core->held--;
  return true;
}

/* Told once, whoever has found it out: see contender.c's lose. */
static void lost(struct core *core, struct claim *claim, enum verdict why) {
  end_hold(core, claim,
           why == VERDICT_CLOSED ? CLAIM_RELEASED
                                 : CLAIM_LOST + (int)claim->contender.loss);
  if (claim_loss(claim)) post_claim(core, claim, &claim->lost, EVENT_LOST);
}

static void hear_contender(struct contender *c, enum news news) {
  struct claim *claim = c->owner;
  struct core *core = claim->core;
  switch (news) {
    case NEWS_GRANTED:
      granted(core, claim);
      break;
    case NEWS_REFUSED:
      refused(core, claim, c->verdict, c->reason);
      break;
    case NEWS_LOST:
      lost(core, claim, c->verdict);
      break;
    case NEWS_REVOKED:
      post_claim(core, claim, &claim->revoked, EVENT_REVOKED);
      break;
    case NEWS_REMOVED:
      claim->removed = true;
      if (claim->report_gone) post_claim(core, claim, &claim->gone, EVENT_GONE);
      break;
    case NEWS_FORGOTTEN:
      claim->joined = false;
      claim_drop(claim);
      break;
  }
}

static void answer(void *self, struct query *query) {
  struct core *core = self;
  struct claim *claim = query->claim;
  /* Belief is never stronger than truth: who knows must not go on. */
  if (claim && query->gone && claim->joined)
    session_lose(&core->session, clock_now(), &claim->contender, LOSS_DELETED);
  post(core, &query->answer, EVENT_ANSWERED);
}

/* Commands in. */

static void obey(struct core *core, int64_t now, struct message *message,
                 int kind) {
  struct session *s = &core->session;
  struct claim *claim = message->subject;
  switch (kind) {
    case COMMAND_ACQUIRE:
      claim->joined = true; /* the reference is the contender's now */
      if (core->closing ||
          !session_acquire(s, now, &claim->contender, claim->path)) {
        claim->joined = false;
        refused(core, claim, core->closing ? VERDICT_CLOSED : VERDICT_INVALID,
                REASON_NO_MEMORY);
        claim_drop(claim);
      }
      break;
    case COMMAND_CANCEL:
      if (claim->joined) session_cancel(s, now, &claim->contender);
      claim_drop(claim);
      break;
    case COMMAND_RELEASE_AND_TELL:
      claim->report_gone = true;
      /* fall through */
    case COMMAND_RELEASE:
      if (claim->joined && !claim->removed)
        session_release(s, now, &claim->contender);
      else if (claim->report_gone) /* it was lost at this very moment */
        post_claim(core, claim, &claim->gone, EVENT_GONE);
      claim_drop(claim);
      break;
    case COMMAND_ABANDON:
      if (claim->joined) session_cancel(s, now, &claim->contender);
      /* The grant was first?  Then it is given back at once. */
      if (end_hold(core, claim, CLAIM_RELEASED))
        session_release(s, now, &claim->contender);
      claim_drop(claim);
      break;
    case COMMAND_LOSE:
      if (claim_loss(claim) == LOSS_SILENCE) session_fall_silent(s, now);
      if (claim->joined)
        session_lose(s, now, &claim->contender, claim_loss(claim));
      claim_drop(claim);
      break;
    case COMMAND_GUARD:
      if (claim->joined) session_watch(s, now, &claim->contender);
      claim_drop(claim);
      break;
    case COMMAND_ASK: {
      struct query *query = message->subject;
      query->done = answer;
      query->self = core;
      query_start(query, s);
      break;
    }
    case COMMAND_CLOSE:
      core->closing = true;
      session_close(s, now);
      break;
  }
}

static void take_commands(struct core *core) {
  struct message *message = channel_take_commands(&core->channel);
  int64_t now = clock_now();
  while (message) {
    struct message *next = message->next;
    int kind = message->kind;
    channel_done(&core->channel, message);
    obey(core, now, message, kind);
    message = next;
  }
}

/* The thread. */

static void wait_until(struct core *core, int64_t due, int fd, short events) {
  struct pollfd fds[2] = {{.fd = core->channel.io.read_fd, .events = POLLIN},
                          {.fd = fd, .events = events}};
  int timeout = -1;
  if (due != NEVER) {
    int64_t left = due - clock_now();
    timeout = left <= 0              ? 0
              : left > 3600000000000 ? 3600000
                                     : (int)(left / 1000000) + 1;
  }
  int n = poll(fds, 2, timeout);
  if (n > 0 && fds[0].revents) wakeup_clear(&core->channel.io);
  client_process(core->client, n > 0 ? fds[1].revents : 0);
}

static void unregister(struct core *core);
static void leave(struct core *core);

/* The process is about to end.  The Lua thread has stopped where it was: the
 * channel is not touched any more, nor is memory that it has allocated. */
static _Noreturn void end(struct core *core) {
  atomic_store(&core->proof.lease_until, 0);
  client_close(core->client);
  core->ended = true;
  for (;;) pause();
}

static void *run(void *argument) {
  struct core *core = argument;
  struct session *s = &core->session;
  core->ended = false;
  session_open(&core->session, clock_now());
  while (!core->closing) {
    int fd;
    short events;
    int64_t due = client_prepare(core->client, &fd, &events);
    int64_t other = session_due(s);
    wait_until(core, other < due ? other : due, fd, events);
    if (core->ending) end(core);
    client_deliver(core->client);
    take_commands(core);
    session_run(s, clock_now());
    publish_lease(core);
  }
  client_close(core->client);
  session_free(s);
  client_free(core->client);
  unregister(core);
  post(core, &core->closed_event, EVENT_CLOSED);
  leave(core);
  core_forget(core);
  return NULL;
}

/* Process exit: releases and closes that are under way get two seconds. */

static void nap(void) {
  struct timespec t = {0, 2000000};
  nanosleep(&t, NULL);
}

static bool any_left(bool close_them) {
  bool any = false;
  fork_lock();
  for (struct core *core = registry; core; core = core->next) {
    if (core->owner != getpid()) continue;
    any = true;
    if (close_them)
      channel_command(&core->channel, &core->close, COMMAND_CLOSE);
  }
  fork_unlock();
  return any;
}

static void at_exit(void) {
  int64_t deadline = clock_now() + INT64_C(2000000000);
  if (!any_left(true)) return;
  while (any_left(false) && clock_now() < deadline) nap();
}

/* Tells them that the process ends: is any left?  The Lua thread may have stopped
 * in a fork, with the lock: then nobody can be told. */
static bool any_alive(int64_t deadline) {
  bool any = false;
  if (!fork_lock_before(deadline)) return false;
  for (struct core *core = registry; core; core = core->next) {
    if (core->owner != getpid() || core->ended) continue;
    any = true;
    core->ending = true;
    wakeup_signal(&core->channel.io);
  }
  fork_unlock();
  return any;
}

void core_end_all(int64_t patience) {
  int64_t deadline = clock_now() + patience;
  while (any_alive(deadline) && clock_now() < deadline) nap();
}

static void at_first_core(void) { atexit(at_exit); }

/* After a fork the child has our memory but none of our threads: what is in
 * the registry is the parent's. */
static void in_child(void) { registry = NULL; }

static void enroll(struct core *core) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, at_first_core);
  fork_watch(in_child);
  fork_lock();
  core->next = registry;
  if (registry) registry->previous = core;
  registry = core;
  fork_unlock();
}

static void unregister(struct core *core) {
  fork_lock();
  if (core->previous)
    core->previous->next = core->next;
  else
    registry = core->next;
  if (core->next) core->next->previous = core->previous;
  fork_unlock();
}

/* Birth and death. */

static void discard(struct message *message, bool command) {
  while (message) {
    struct message *next = message->next;
    bool of_claim =
        command ? message->kind <= COMMAND_GUARD : message->kind <= EVENT_GONE;
    if (of_claim) {
      claim_drop(message->subject);
    } else if (!command && message->kind == EVENT_LOG) {
      free(message->subject);
    } else if (!command && message->kind == EVENT_ENDED) {
      request_drop(message->subject);
    } else if (command ? message->kind == COMMAND_ASK
                       : message->kind == EVENT_ANSWERED) {
      query_free(message->subject);
    }
    message = next;
  }
}

/* Of the two threads the one that leaves last closes the channel. */
static void leave(struct core *core) {
  if (--core->users > 0) return;
  discard(channel_take_commands(&core->channel), true);
  discard(channel_take_events(&core->channel, false), false);
  channel_close(&core->channel);
}

void core_keep(struct core *core) { core->references++; }

void core_forget(struct core *core) {
  if (--core->references > 0) return;
  pthread_mutex_destroy(&core->error_lock);
  settings_free(core->settings);
  free(core);
}

static bool start_thread(struct core *core) {
  sigset_t all, old;
  /* No handler of the process may run on our threads. */
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &old);
  int rc = pthread_create(&core->thread, NULL, run, core);
  pthread_sigmask(SIG_SETMASK, &old, NULL);
  errno = rc;
  return rc == 0;
}

static bool init_session(struct core *core) {
  struct client_listener of_client = {.self = core,
                                      .failed = client_failed,
                                      .attempting = client_attempts,
                                      .error = client_error};
  struct listener of_session = {.self = core,
                                .session = on_state,
                                .trouble = on_trouble};
  const struct settings *settings = core->settings;
  struct session_options options = {
      .chroot = settings->hosts.chroot,
      .least_timeout = settings->least_session_timeout_ms * INT64_C(1000000),
      .tick = settings->tick_time_ms * INT64_C(1000000)};
  if (!entropy(options.random, sizeof options.random)) return false;
  core->client =
      client_new(settings, &core->session, &of_client, &core->channel.io);
  if (!core->client) return false;
  struct transport transport = client_transport(core->client);
  session_init(&core->session, &options, &transport, &of_session, clock_now());
  return true;
}

struct core *core_open(struct settings *settings, const char **error) {
  struct core *core = calloc(1, sizeof *core);
  if (!core || !channel_open(&core->channel)) {
    *error = core ? strerror(errno) : "not enough memory";
    free(core);
    settings_free(settings);
    return NULL;
  }
  core->references = core->users = 2;
  core->owner = getpid();
  core->settings = settings;
  pthread_mutex_init(&core->error_lock, NULL);
  core->ended = true; /* it has not begun */
  enroll(core);
  if (init_session(core) && start_thread(core)) return core;
  *error = core->client ? strerror(errno) : "not enough memory";
  unregister(core);
  if (core->client) client_free(core->client);
  core->references = core->users = 1;
  leave(core);
  core_forget(core);
  return NULL;
}

void core_close(struct core *core) {
  if (core->closed) return;
  core->closed = true;
  channel_command(&core->channel, &core->close, COMMAND_CLOSE);
}

void core_leave(struct core *core, bool ended) {
  core->left = true;
  doorway_close(&core->doorway);
  if (ended)
    pthread_join(core->thread, NULL);
  else
    pthread_detach(core->thread);
  leave(core);
}

/* The Lua thread's calls. */

static void command(struct core *core, struct message *message, int kind) {
  channel_command(&core->channel, message, kind);
}

struct claim *core_acquire(struct core *core, const char *path,
                           const void *data, size_t size,
                           const struct contender_options *options) {
  struct claim *claim = claim_new(&core->proof, core->settings->hosts.chroot,
                                  path, data, size, options, hear_contender);
  if (!claim) return NULL;
  claim->core = core;
  claim->number = ++core->numbers;
  claim->asked = clock_now();
  claim_keep(claim); /* the contender's */
  command(core, &claim->acquire, COMMAND_ACQUIRE);
  return claim;
}

void core_cancel(struct core *core, struct claim *claim) {
  if (core->closed) return;
  claim_keep(claim);
  if (!channel_command(&core->channel, &claim->cancel, COMMAND_CANCEL))
    claim_drop(claim);
}

void core_abandon(struct core *core, struct claim *claim) {
  if (core->closed) return;
  claim_keep(claim);
  command(core, &claim->release, COMMAND_ABANDON);
}

bool core_release(struct core *core, struct claim *claim, bool report) {
  if (!end_hold(core, claim, CLAIM_RELEASED))
    return claim->state == CLAIM_RELEASED;
  if (core->closed) return true; /* the session's end removes the node */
  claim_keep(claim);
  command(core, &claim->release,
          report ? COMMAND_RELEASE_AND_TELL : COMMAND_RELEASE);
  return true;
}

/* The clock has ended the hold, and the I/O thread has not said so yet; it may
 * even be about to hear a server, and to have the lease renewed.  Who was told
 * of a loss must not be told otherwise later, so it is one from here on.  The
 * I/O thread deletes the node, and posts EVENT_LOST as for any other loss.
 * Until then it is for us to see that nobody is told of silence who would be
 * told "connected" in the same breath. */
enum loss core_find_loss(struct core *core, struct claim *claim) {
  enum loss why = core->closed ? LOSS_NONE : claim_overdue(claim);
  if (why && end_hold(core, claim, CLAIM_LOST + (int)why)) {
    int connected = SESSION_CONNECTED;
    if (why == LOSS_SILENCE)
      atomic_compare_exchange_strong(&core->proof.state, &connected,
                                     SESSION_SUSPENDED);
    claim_keep(claim);
    command(core, &claim->release, COMMAND_LOSE);
  }
  return claim_loss(claim);
}

void core_guard(struct core *core, struct claim *claim) {
  claim_keep(claim);
  if (!channel_command(&core->channel, &claim->guard, COMMAND_GUARD))
    claim_drop(claim);
}

uint64_t core_ask(struct core *core, struct query *query) {
  query->number = ++core->numbers;
  uint64_t number = query->number;
  command(core, &query->ask, COMMAND_ASK);
  return number;
}

void core_nudge(struct core *core) {
  post(core, &core->nudge_event, EVENT_NUDGE);
}

struct message *core_take_events(struct core *core, bool host_read) {
  return channel_take_events(&core->channel, host_read);
}

void core_event_done(struct core *core, struct message *message) {
  int kind = message->kind;
  channel_done(&core->channel, message);
  if (kind <= EVENT_GONE) {
    claim_drop(message->subject);
  } else if (kind == EVENT_LOG) {
    core->log_lines--;
    free(message->subject);
  } else if (kind == EVENT_ENDED) {
    request_drop(message->subject);
  } else if (kind == EVENT_ANSWERED) {
    query_free(message->subject);
  }
}

int core_states(struct core *core, enum session_state states[16]) {
  uint64_t packed = atomic_exchange(&core->states, 0);
  int n = 0;
  for (int shift = 60; shift >= 0; shift -= 4) {
    unsigned state = packed >> shift & 15;
    if (state) states[n++] = (enum session_state)(state - 1);
  }
  return n;
}

void core_error(struct core *core, char *text, size_t size) {
  pthread_mutex_lock(&core->error_lock);
  snprintf(text, size, "%s", core->error);
  pthread_mutex_unlock(&core->error_lock);
}
