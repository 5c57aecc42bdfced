#include "lua_thread.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "process.h"

static bool command(struct core *core, struct message *message, int kind) {
  return channel_command(&core->channel, message, kind);
}

/* Opening and closing. */

/* Sends the command to close the session, because the process exits. Signals
 * the wake-up even if the command was queued already. The process can exit in
 * another thread, when the Lua thread has queued the command but not yet
 * signalled. */
static void close_at_exit(void *self) {
  struct core *core = self;
  command(core, &core->close, COMMAND_CLOSE);
  wakeup_signal(&core->channel.io);
}

/* Requests the end of the session after a signal. Only sets a flag: a command
 * would need the channel's lock, which the stopped Lua thread can hold. The I/O
 * thread checks the flag right after each poll, before it takes that lock. */
static void end_at_signal(void *self) {
  struct core *core = self;
  core->ending = true;
  wakeup_signal(&core->channel.io);
}

static void init(struct core *core, struct settings *settings) {
  core->references = core->users = 2;
  core->owner = process_id();
  core->settings = settings;
  last_error_init(&core->last_error);
  log_init(&core->log, &core->channel, settings->want_log);
  core->registered.self = core;
  core->registered.close = close_at_exit;
  core->registered.end = end_at_signal;
  core->registered.ended = true; /* the I/O thread has not started yet */
  core->alarm_at = NEVER;
}

struct core *core_open(struct settings *settings, const char **error) {
  struct core *core = calloc(1, sizeof *core);
  if (!core || !channel_open(&core->channel)) {
    *error = core ? strerror(errno) : "not enough memory";
    free(core);
    settings_free(settings);
    return NULL;
  }
  init(core, settings);
  registry_add(&core->registered);
  if (settings->tls.module) registry_exit_first();
  if (io_thread_start(core)) return core;
  *error = strerror(errno);
  registry_remove(&core->registered);
  core->references = core->users = 1;
  core_leave_channel(core);
  core_drop(core);
  return NULL;
}

void core_close(struct core *core) {
  if (core->closed) return;
  core->closed = true;
  command(core, &core->close, COMMAND_CLOSE);
}

void core_leave(struct core *core, bool ended) {
  core->left = true;
  nginx_socket_close(&core->nginx_socket);
  if (ended)
    pthread_join(core->thread, NULL);
  else
    pthread_detach(core->thread);
  core_leave_channel(core);
}

/* Acquisitions. */

struct acquisition *core_acquire(struct core *core, const char *path,
                                 const void *data, size_t size,
                                 const struct contender_options *options,
                                 struct turn *turn) {
  struct acquisition *acquisition =
      acquisition_new(&core->proof, core->settings->hosts.chroot, path, data,
                      size, options, core_on_news);
  if (!acquisition) return NULL;
  if (!turn->number) core_begin_local_wait(core, turn, options->deadline);
  acquisition->core = core;
  acquisition->number = acquisition->current_turn = turn->number;
  acquisition->waiting_since = turn->waiting_since;
  command(core, &acquisition->begin, COMMAND_ACQUIRE);
  return acquisition;
}

void core_cancel(struct core *core, struct acquisition *acquisition) {
  if (!core->closed) command(core, &acquisition->cancel, COMMAND_CANCEL);
}

void core_abandon(struct core *core, struct acquisition *acquisition) {
  if (!core->closed) command(core, &acquisition->release, COMMAND_ABANDON);
}

/* Releases a hold. If the session is closed, sends no command, because the node
 * is deleted when the session ends. */
bool core_release(struct core *core, struct acquisition *acquisition,
                  bool report) {
  if (!acquisition_end_hold(acquisition, ACQUISITION_RELEASED))
    return acquisition_outcome(acquisition) == ACQUISITION_RELEASED;
  if (!core->closed)
    command(core, &acquisition->release,
            report ? COMMAND_RELEASE_AND_REPORT : COMMAND_RELEASE);
  return true;
}

/* Local turns. */

void core_begin_local_wait(struct core *core, struct turn *turn,
                           int64_t deadline) {
  *turn = (struct turn){.number = ++core->numbers,
                        .waiting_since = clock_now(),
                        .deadline = deadline};
}

void core_set_alarm(struct core *core, int64_t due) {
  if (core->closed || due >= core->alarm_at) return;
  core->alarm_at = due;
  command(core, &core->alarm, COMMAND_ALARM);
}

/* Passes a hold on. When half of its turns are used, also sends the command to
 * check for other clients. That command uses the slot of `cancel`. If the slot
 * is still queued, the check is skipped. */
bool core_pass_on(struct core *core, struct acquisition *acquisition,
                  const struct turn *from, struct turn *to) {
  if (core->closed || !acquisition_pass_on(acquisition, from, to)) return false;
  core->turns++;
  core->turn_waits[wait_bucket(clock_now() - to->waiting_since)]++;
  if (acquisition_must_watch_contention(acquisition))
    command(core, &acquisition->cancel, COMMAND_WATCH_CONTENTION);
  return true;
}

/* Until the I/O thread receives the command, makes the session's state
 * SUSPENDED if the lease has expired. Otherwise a caller could read "lost:
 * lease_expired" and "connected" at the same time. */
void core_lose(struct core *core, struct acquisition *acquisition,
               enum loss why) {
  int connected = SESSION_CONNECTED;
  if (core->closed ||
      !acquisition_end_hold(acquisition, ACQUISITION_LOST + (int)why))
    return;
  command(core, &acquisition->release, COMMAND_LOSE);
  if (why == LOSS_LEASE_EXPIRED)
    atomic_compare_exchange_strong(&core->proof.state, &connected,
                                   SESSION_SUSPENDED);
}

/* Returns why the hold is lost, or LOSS_NONE. The local clock can show a loss
 * before the I/O thread has noticed it. The I/O thread can even be about to
 * receive a reply that renews the lease. A loss that was reported once must
 * stay a loss, so this function records the loss. */
enum loss core_find_loss(struct core *core, struct acquisition *acquisition,
                         int turn) {
  enum loss why = acquisition_overdue(acquisition, turn);
  if (why) core_lose(core, acquisition, why);
  return acquisition_loss(acquisition, turn);
}

void core_watch(struct core *core, struct acquisition *acquisition) {
  command(core, &acquisition->begin, COMMAND_WATCH);
}

uint64_t core_ask(struct core *core, struct ask *ask) {
  uint64_t number = ask->number = ++core->numbers;
  command(core, &ask->message, COMMAND_ASK);
  subject_drop(&ask->subject); /* the I/O thread has a reference now */
  return number;
}

/* Node waits and barrier leaves. */

uint64_t core_await(struct core *core, struct await *await) {
  await->core = core;
  await->number = ++core->numbers;
  command(core, &await->begin, COMMAND_AWAIT);
  return await->number;
}

void core_cancel_await(struct core *core, struct await *await) {
  if (!core->closed) command(core, &await->end, COMMAND_CANCEL_AWAIT);
}

/* Events. */

void core_nudge(struct core *core) {
  channel_event(&core->channel, &core->nudge_event, EVENT_NUDGE);
}

void core_event_done(struct core *core, struct message *message) {
  channel_done(&core->channel, message);
  message_drop(message);
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
  last_error_read(&core->last_error, text, size);
}
