/* The I/O thread: one loop that takes commands in, turns session and client,
 * and posts events out. */
#include "core.h"

#include <assert.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ask.h"
#include "clock.h"
#include "entropy.h"
#include "fork.h"
#include "messages.h"
#include "reason.h"

enum { LINGER = 30 * 1000 }; /* ns */

/* The session whose I/O thread this is. */
static _Thread_local const struct core *runs;

/* Events out. */

/* (Told at the end of the turn, with whatever else it brings.) */
static void post(struct core *core, struct message *message, int kind) {
  channel_event_later(&core->channel, message, kind);
}

static void post_claim(struct core *core, struct claim *claim,
                       struct message *message, int kind) {
  claim_keep(claim);
  post(core, message, kind);
}

static void client_error(void *self, const char *server, const char *error) {
  struct core *core = self;
  char text[300];
  snprintf(text, sizeof text, "no connection%s%s: %s", server ? " to " : "",
           server ? server : "", error);
  last_error_note(&core->last_error, server ? strstr(text, server) : error);
  log_notice(&core->log, "warn", text);
}

static void notify_state(struct core *core, enum session_state state) {
  char text[120];
  if (state == SESSION_EXPIRED) {
    snprintf(text, sizeof text,
             "the session 0x%llx has expired: what it held is lost",
             (unsigned long long)core->session_id);
    log_notice(&core->log, "warn", text);
  } else if (state == SESSION_CONNECTED &&
             last_error_is_over(&core->last_error)) {
    log_notice(&core->log, "info", "there is a connection again");
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
  char text[REASON_MAX];
  reason_say(text, sizeof text, message, path, strlen(path), reason_words(rc));
  log_notice(&core->log, "warn", text);
}

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
  assert(runs == core);
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
  counter_add(&core->waits[wait_bucket(waited)], 1);
}

static void granted(struct core *core, struct claim *claim) {
  count_wait(core, session_now(&core->session) - claim->asked);
  publish_lease(core); /* what a claim stands on is seen before the claim is */
  claim_grant(claim);
  post_claim(core, claim, &claim->decided, EVENT_GRANTED);
}

static void refused(struct core *core, struct claim *claim, enum verdict why,
                    int reason) {
  claim_refuse(claim, why, reason);
  post_claim(core, claim, &claim->decided, EVENT_REFUSED);
}

/* Told once, whoever has found it out. */
static void lost(struct core *core, struct claim *claim, enum verdict why) {
  claim_end_hold(claim, why == VERDICT_CLOSED
                            ? CLAIM_RELEASED
                            : CLAIM_LOST + (int)claim->contender.loss);
  if (claim_said_loss(claim))
    post_claim(core, claim, &claim->ended, EVENT_LOST);
}

/* It is known that its node is gone, or that it cannot be deleted. */
static void tell_gone(struct core *core, struct claim *claim) {
  int kept = claim->contender.kept;
  if (!claim->report_gone || !(claim->removed || kept)) return;
  claim->report_gone = false;
  claim->stays = kept;
  post_claim(core, claim, &claim->ended, EVENT_GONE);
}

/* (Who was refused because of another's is told so.  One that is not kept may
 * have no queue any more.) */
static void log_kept(struct core *core, const struct contender *c) {
  char text[REASON_MAX + 80];
  if (!c->kept) return;
  if (c->queue->kept > 1 && c->decision == DECISION_REFUSED) return;
  const char *directory = directory_path(&c->queue->directory);
  char path[REASON_MAX];
  snprintf(path, sizeof path, "%s/%s", directory, contender_watch_name(c));
  reason_say(text, REASON_MAX, "cannot delete our node", path, strlen(path),
             reason_words(c->kept));
  strcat(text, "; it is tried again, until the session ends");
  log_notice(&core->log, "error", text);
}

static void kept(struct core *core, struct claim *claim) {
  const struct contender *c = &claim->contender;
  log_kept(core, c);
  if (c->gate_state != GATE_UNUSED) log_kept(core, c->gate);
  tell_gone(core, claim);
}

void core_hear(struct contender *c, enum news news) {
  struct claim *claim = c->owner;
  struct core *core = claim->core;
  assert(runs == core);
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
      claim_ask_for(claim);
      post_claim(core, claim, &claim->revoked, EVENT_REVOKED);
      break;
    case NEWS_ALONE:
      claim_be_alone(claim);
      break;
    case NEWS_COMPANY:
      claim_have_company(claim);
      break;
    case NEWS_KEPT:
      kept(core, claim);
      break;
    case NEWS_REMOVED:
      claim->removed = true;
      tell_gone(core, claim);
      break;
    case NEWS_FORGOTTEN:
      claim->joined = false;
      claim_drop(claim);
      break;
  }
}

static void await_over(void *self, struct await *await) {
  await_keep(await); /* the message's */
  post(self, &await->over, EVENT_AWAITED);
}

static void answer(void *self, struct ask *ask) {
  struct core *core = self;
  struct claim *claim = ask->claim;
  /* Belief is never stronger than truth: who knows must not go on. */
  if (claim && ask->gone && claim->joined)
    session_lose(&core->session, clock_now(), &claim->contender, LOSS_DELETED);
  post(core, &ask->answered, EVENT_ANSWERED);
}

/* Commands in. */

static void acquire(struct core *core, int64_t now, struct claim *claim) {
  claim->joined = true;
  claim_keep(claim); /* the contender's */
  if (!core->closing &&
      session_acquire(&core->session, now, &claim->contender, claim->path))
    return;
  claim->joined = false;
  refused(core, claim, core->closing ? VERDICT_CLOSED : VERDICT_INVALID,
          REASON_NO_MEMORY);
  claim_drop(claim);
}

static void cancel(struct core *core, int64_t now, struct claim *claim) {
  if (claim->joined) session_cancel(&core->session, now, &claim->contender);
}

static void release(struct core *core, int64_t now, struct claim *claim) {
  if (claim->joined && !claim->removed)
    session_release(&core->session, now, &claim->contender);
  else
    claim->removed = true;
  tell_gone(core, claim); /* it may have been lost at this very moment */
}

/* The grant was first?  Then it is given back at once. */
static void abandon(struct core *core, int64_t now, struct claim *claim) {
  cancel(core, now, claim);
  if (claim_end_hold(claim, CLAIM_RELEASED))
    session_release(&core->session, now, &claim->contender);
}

/* (A release that is the I/O thread's to decide.) */
static void release_member(void *self, struct claim *claim, bool last) {
  struct core *core = self;
  if (claim_end_hold(claim, CLAIM_RELEASED))
    (last ? session_release_last : session_release)(&core->session, clock_now(),
                                                    &claim->contender);
}

static void lose(struct core *core, int64_t now, struct claim *claim) {
  enum loss why = claim_said_loss(claim);
  if (why == LOSS_SILENCE) session_fall_silent(&core->session, now);
  if (claim->joined) session_lose(&core->session, now, &claim->contender, why);
}

static void obey_for(struct core *core, int64_t now, struct claim *claim,
                     int kind) {
  switch (kind) {
    case COMMAND_ACQUIRE:
      acquire(core, now, claim);
      break;
    case COMMAND_CANCEL:
      cancel(core, now, claim);
      break;
    case COMMAND_RELEASE_AND_TELL:
      claim->report_gone = true;
      /* fall through */
    case COMMAND_RELEASE:
      release(core, now, claim);
      break;
    case COMMAND_ABANDON:
      abandon(core, now, claim);
      break;
    case COMMAND_LOSE:
      lose(core, now, claim);
      break;
    case COMMAND_WATCH:
      if (claim->joined) session_watch(&core->session, now, &claim->contender);
      break;
    case COMMAND_LOOK_AROUND:
      if (claim->joined)
        session_look_around(&core->session, now, &claim->contender);
      break;
  }
  claim_drop(claim); /* the message's */
}

static void obey_for_await(struct core *core, int64_t now, struct await *await,
                           int kind) {
  if (kind == COMMAND_AWAIT)
    await_begin(await, core->closing ? NULL : &core->session, now, &core->port);
  else
    await_end(await, &core->session, now);
  await_drop(await); /* the message's */
}

static void obey(struct core *core, int64_t now, struct message *message,
                 int kind) {
  if (kind == COMMAND_CLOSE) {
    core->closing = true;
    session_close(&core->session, now);
  } else if (kind == COMMAND_ASK) { /* whose answer will free it */
    ask_begin(message_subject(message), &core->session, &core->window, answer,
              core);
  } else if (kind == COMMAND_AWAIT || kind == COMMAND_AWAIT_NO_MORE) {
    obey_for_await(core, now, message_subject(message), kind);
  } else if (kind != COMMAND_ALARM) { /* (which is heard of before a wait) */
    obey_for(core, now, message_subject(message), kind);
  }
}

/* False: there was none. */
static bool take_commands(struct core *core) {
  struct message *message = channel_take_commands(&core->channel);
  int64_t now = clock_now();
  bool any = message;
  while (message) {
    struct message *next = message->next;
    int kind = message->kind;
    channel_done(&core->channel, message);
    obey(core, now, message, kind);
    message = next;
  }
  return any;
}

/* The thread. */

/* When is the Lua thread to be called?  It has been, if that is past. */
static int64_t call(struct core *core) {
  int64_t at = core->alarm_at;
  if (at == NEVER || at > clock_now()) return at;
  if (!atomic_compare_exchange_strong(&core->alarm_at, &at, NEVER)) return at;
  post(core, &core->alarm_event, EVENT_ALARM);
  return NEVER;
}

static int64_t earlier(int64_t one, int64_t other) {
  return one < other ? one : other;
}

/* (It is back as soon as the machine resumes, if something is due by then.) */
static void wait_until(struct core *core, int64_t due, int fd, short events) {
  struct pollfd fds[3] = {{.fd = core->channel.io.read_fd, .events = POLLIN},
                          {.fd = fd, .events = events}};
  if (!channel_rest(&core->channel)) due = 0;
  fork_asleep();
  int n = clock_poll(&core->timer, fds, 2, due);
  fork_awake();
  channel_rise(&core->channel);
  if (n > 0 && fds[0].revents) wakeup_clear(&core->channel.io);
  if (n < 0) fds[1].revents = 0;
  client_process(core->client, fds[1].revents);
}

/* The process is about to end.  The Lua thread has stopped where it was: the
 * channel is not touched any more, nor is memory that it has allocated. */
static _Noreturn void end(struct core *core) {
  atomic_store(&core->proof.lease_until, 0);
  client_close(core->client);
  core->registered.ended = true;
  fork_asleep();
  for (;;) pause();
}

/* Who has given a lock back that others wait for mostly asks for it again at once:
 * one transaction for both is worth so much patience. */
static void linger(struct core *core) {
  int64_t end = clock_now() + LINGER;
  while (session_lingers(&core->session) && clock_now() < end) {
    sched_yield();
    if (take_commands(core)) session_run(&core->session, clock_now());
  }
  session_flush(&core->session);
}

static void *run(void *argument) {
  struct core *core = argument;
  struct session *s = &core->session;
  runs = core;
  core->registered.ended = false;
  fork_awake();
  clock_timer_open(&core->timer);
  session_open(&core->session, clock_now());
  while (!core->closing) {
    int fd;
    short events;
    int64_t due = client_prepare(core->client, &fd, &events);
    due = earlier(due, earlier(session_due(s), call(core)));
    wait_until(core, due, fd, events);
    if (core->ending) end(core);
    client_deliver(core->client);
    take_commands(core);
    session_run(s, clock_now());
    linger(core);
    publish_lease(core);
  }
  channel_rest(&core->channel); /* what follows may last */
  client_close(core->client);
  session_free(s);
  client_free(core->client);
  clock_timer_close(&core->timer);
  settings_forget_credentials(core->settings); /* (holds may keep the rest) */
  registry_remove(&core->registered);
  channel_event(&core->channel, &core->closed_event, EVENT_CLOSED);
  core_leave_channel(core);
  core_forget(core);
  fork_asleep();
  return NULL;
}

/* Birth and death. */

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
      .tick = settings->tick_time_ms * INT64_C(1000000),
      .doubts_acl = settings->doubts_acl};
  uint64_t seed;
  if (!entropy(options.random, sizeof options.random)) return false;
  memcpy(&seed, options.random, sizeof seed);
  window_init(&core->window);
  core->port = (struct await_port){core, await_over, release_member};
  core->client =
      client_new(settings, &core->session, &of_client, &core->channel.io, seed);
  errno = ENOMEM;
  if (!core->client) return false;
  struct transport transport = client_transport(core->client);
  session_init(&core->session, &options, &transport, &of_session, clock_now());
  return true;
}

bool core_start(struct core *core) {
  if (init_session(core) && start_thread(core)) return true;
  int problem = errno;
  if (core->client) client_free(core->client);
  errno = problem;
  return false;
}

void core_leave_channel(struct core *core) {
  if (--core->users == 0) channel_close(&core->channel);
}

void core_keep(struct core *core) { core->references++; }

void core_forget(struct core *core) {
  if (--core->references > 0) return;
  last_error_free(&core->last_error);
  log_free(&core->log);
  settings_free(core->settings);
  free(core);
}
