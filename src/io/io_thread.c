/* Implements the I/O thread. Its loop executes commands, drives the session and
 * the client library, and posts events (core.c). */
#include "core.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "await.h"
#include "clock.h"
#include "entropy.h"
#include "fork.h"
#include "messages.h"

enum { COMMAND_WAIT = 30 * 1000 }; /* nanoseconds */

static void answer(void *self, struct ask *ask) {
  core_post(self, &ask->message, EVENT_ANSWERED);
  subject_drop(&ask->subject);
}

/* Commands. */

static void acquire(struct core *core, int64_t now,
                    struct acquisition *acquisition) {
  acquisition->in_session = true;
  subject_keep(&acquisition->subject); /* the contender's reference */
  if (!core->closing &&
      session_acquire(&core->session, now, &acquisition->contender,
                      acquisition->path))
    return;
  acquisition->in_session = false;
  core_refuse(core, acquisition,
              core->closing ? REFUSED_CLOSED : REFUSED_INVALID,
              REASON_NO_MEMORY);
  subject_drop(&acquisition->subject);
}

static void cancel(struct core *core, int64_t now,
                   struct acquisition *acquisition) {
  if (acquisition->in_session)
    session_cancel(&core->session, now, &acquisition->contender);
}

static void release(struct core *core, int64_t now,
                    struct acquisition *acquisition) {
  if (acquisition->in_session && !acquisition->removed)
    session_release(&core->session, now, &acquisition->contender);
  else
    acquisition->removed = true;
  core_report_gone(core, acquisition); /* the node can be gone already */
}

/* Cancels the acquisition's wait. If the lock was granted before this command
 * arrived, releases the lock at once. */
static void abandon(struct core *core, int64_t now,
                    struct acquisition *acquisition) {
  cancel(core, now, acquisition);
  if (acquisition_end_hold(acquisition, ACQUISITION_RELEASED))
    session_release(&core->session, now, &acquisition->contender);
}

static void lose(struct core *core, int64_t now,
                 struct acquisition *acquisition) {
  enum loss why = acquisition_outcome_loss(acquisition);
  if (why == LOSS_LEASE_EXPIRED) session_set_unresponsive(&core->session, now);
  if (acquisition->in_session)
    session_lose(&core->session, now, &acquisition->contender, why);
}

static void execute(struct core *core, int64_t now, void *subject, int kind) {
  struct acquisition *acquisition = subject;
  switch (kind) {
    case COMMAND_ACQUIRE:
      acquire(core, now, acquisition);
      break;
    case COMMAND_CANCEL:
      cancel(core, now, acquisition);
      break;
    case COMMAND_RELEASE_AND_REPORT:
      acquisition->report_gone = true;
      /* fall through */
    case COMMAND_RELEASE:
      release(core, now, acquisition);
      break;
    case COMMAND_ABANDON:
      abandon(core, now, acquisition);
      break;
    case COMMAND_LOSE:
      lose(core, now, acquisition);
      break;
    case COMMAND_WATCH:
      if (acquisition->in_session)
        session_watch(&core->session, now, &acquisition->contender);
      break;
    case COMMAND_WATCH_CONTENTION:
      if (acquisition->in_session)
        session_watch_contention(&core->session, now, &acquisition->contender);
      break;
    case COMMAND_ALARM: /* run() calls post_alarm() anyway */
      break;
    case COMMAND_ASK:
      subject_keep(subject); /* until all requests are answered */
      ask_begin(subject, &core->asks);
      break;
    case COMMAND_AWAIT:
      await_begin(subject, now);
      break;
    case COMMAND_CANCEL_AWAIT:
      await_end(subject, now);
      break;
    case COMMAND_CLOSE:
      core->closing = true;
      session_close(&core->session, now);
      break;
  }
}

/* Takes all queued commands and carries them out. Returns whether there were
 * any. */
static bool take_commands(struct core *core) {
  struct message *message = channel_take_commands(&core->channel);
  if (!message) return false;
  int64_t now = clock_now();
  while (message) {
    struct message *next = message->next;
    int kind = message->kind;
    channel_done(&core->channel, message);
    execute(core, now, message_subject(message), kind);
    message_drop(message);
    message = next;
  }
  return true;
}

/* The thread. */

/* Posts EVENT_ALARM if the time of the requested alarm has come. Returns the
 * time of the next alarm, or NEVER. */
static int64_t post_alarm(struct core *core) {
  int64_t at = core->alarm_at;
  if (at == NEVER || at > clock_now()) return at;
  if (!atomic_compare_exchange_strong(&core->alarm_at, &at, NEVER)) return at;
  core_post(core, &core->alarm_event, EVENT_ALARM);
  return NEVER;
}

/* Waits for the first of three events: a command arrives, the socket `fd` is
 * ready for `events`, or the time `due` has come. Then lets the client use the
 * socket. If `due` passes during a suspend of the machine, returns as soon as
 * the machine resumes. */
static void wait_until(struct core *core, int64_t due, int fd, short events) {
  struct pollfd fds[3] = {{.fd = core->channel.io.read_fd, .events = POLLIN},
                          {.fd = fd, .events = events}};
  if (!channel_sleep(&core->channel)) due = 0;
  fork_asleep();
  int n = clock_poll(&core->timer, fds, 2, due);
  fork_awake();
  channel_wake(&core->channel);
  if (n > 0 && fds[0].revents) wakeup_clear(&core->channel.io);
  if (n < 0) fds[1].revents = 0;
  client_process(core->client, fds[1].revents);
}

/* Ends the session because a signal ends the process. Then stops the I/O thread
 * for ever. The signal stopped the Lua thread at an arbitrary point. So this
 * function does not use the channel, and does not touch memory that the Lua
 * thread has allocated. */
static _Noreturn void end(struct core *core) {
  atomic_store(&core->proof.lease_until, 0);
  client_close(core->client);
  core->registered.ended = true;
  fork_asleep();
  for (;;) pause();
}

/* If the session delays a delete, waits at most COMMAND_WAIT for a command that
 * creates. A user that releases a contended lock often acquires it again at
 * once. Then one transaction can carry both the delete and the create. */
static void wait_for_commands(struct core *core) {
  if (!session_delays_delete(&core->session)) return;
  int64_t end = clock_now() + COMMAND_WAIT;
  while (session_delays_delete(&core->session) && clock_now() < end) {
    sched_yield();
    if (take_commands(core)) session_run(&core->session, clock_now());
  }
  session_flush(&core->session);
}

static void *run(void *argument) {
  struct core *core = argument;
  struct session *s = &core->session;
  core->registered.ended = false;
  fork_awake();
  clock_timer_open(&core->timer);
  session_open(&core->session, clock_now());
  while (!core->closing) {
    int fd;
    short events;
    int64_t due = client_prepare(core->client, &fd, &events);
    due = earliest(due, earliest(session_due(s), post_alarm(core)));
    wait_until(core, due, fd, events);
    if (core->ending) end(core);
    client_deliver(core->client);
    take_commands(core);
    session_run(s, clock_now());
    wait_for_commands(core);
    core_publish_lease(core);
  }
  channel_sleep(
      &core->channel); /* wakes the Lua thread: the close can take long */
  client_close(core->client);
  session_free(s);
  client_free(core->client);
  clock_timer_close(&core->timer);
  settings_forget_credentials(
      core->settings); /* holds can keep the other settings */
  registry_remove(&core->registered);
  channel_event(&core->channel, &core->closed_event, EVENT_CLOSED);
  core_leave_channel(core);
  core_drop(core);
  fork_asleep();
  return NULL;
}

/* Start. */

static bool start_thread(struct core *core) {
  sigset_t all, old;
  /* Signal handlers of the program must not run on zklock's threads. */
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &old);
  int rc = pthread_create(&core->thread, NULL, run, core);
  pthread_sigmask(SIG_SETMASK, &old, NULL);
  errno = rc;
  return rc == 0;
}

static bool init_session(struct core *core) {
  struct listener of_session = core_session_listener(core);
  const struct settings *settings = core->settings;
  struct session_options options = {
      .chroot = settings->hosts.chroot,
      .min_timeout = settings->min_session_timeout_ms * INT64_C(1000000),
      .tick = settings->tick_time_ms * INT64_C(1000000),
      .acl_may_deny = settings->acl_may_deny};
  uint64_t seed;
  if (!entropy(options.random, sizeof options.random)) return false;
  memcpy(&seed, options.random, sizeof seed);
  asks_init(&core->asks, &core->session, answer, core);
  core->client = client_new(settings, &core->session, &core_client_listener,
                            core, &core->channel.io, seed);
  errno = ENOMEM;
  if (!core->client) return false;
  struct transport transport = client_transport(core->client);
  session_init(&core->session, &options, &transport, &of_session, clock_now());
  return true;
}

bool io_thread_start(struct core *core) {
  if (init_session(core) && start_thread(core)) return true;
  int problem = errno;
  if (core->client) client_free(core->client);
  errno = problem;
  return false;
}
