#include "lua_thread.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"

static bool command(struct core *core, struct message *message, int kind) {
  return channel_command(&core->channel, message, kind);
}

/* Opening and closing. */

/* (A process that ends closes what is open, on another thread perhaps.) */
static void close_at_exit(void *self) {
  struct core *core = self;
  command(core, &core->close, COMMAND_CLOSE);
}

/* The I/O thread looks for it where it needs no lock of ours. */
static void end_at_signal(void *self) {
  struct core *core = self;
  core->ending = true;
  wakeup_signal(&core->channel.io);
}

static void init(struct core *core, struct settings *settings) {
  core->references = core->users = 2;
  core->owner = getpid();
  core->settings = settings;
  pthread_mutex_init(&core->error_lock, NULL);
  log_init(&core->log, &core->channel, settings->want_log);
  core->registered.self = core;
  core->registered.close = close_at_exit;
  core->registered.end = end_at_signal;
  core->registered.ended = true; /* it has not begun */
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
  if (core_start(core)) return core;
  *error = strerror(errno);
  registry_remove(&core->registered);
  core->references = core->users = 1;
  core_leave_channel(core);
  core_forget(core);
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

/* Claims. */

static bool command_of(struct core *core, struct claim *claim,
                       struct message *message, int kind) {
  claim_keep(claim); /* the message's */
  bool sent = command(core, message, kind);
  if (!sent) claim_drop(claim);
  return sent;
}

struct claim *core_acquire(struct core *core, const char *path,
                           const void *data, size_t size,
                           const struct contender_options *options) {
  struct claim *claim = claim_new(&core->proof, core->settings->hosts.chroot,
                                  path, data, size, options, core_hear);
  if (!claim) return NULL;
  claim->core = core;
  claim->number = ++core->numbers;
  claim->asked = clock_now();
  command_of(core, claim, &claim->acquire, COMMAND_ACQUIRE);
  return claim;
}

void core_cancel(struct core *core, struct claim *claim) {
  if (core->closed) return;
  command_of(core, claim, &claim->cancel, COMMAND_CANCEL);
}

void core_abandon(struct core *core, struct claim *claim) {
  if (core->closed) return;
  command_of(core, claim, &claim->release, COMMAND_ABANDON);
}

bool core_release(struct core *core, struct claim *claim, bool report) {
  if (!claim_end_hold(claim, CLAIM_RELEASED))
    return claim->state == CLAIM_RELEASED;
  if (core->closed) return true; /* the session's end removes the node */
  command_of(core, claim, &claim->release,
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
  if (why && claim_end_hold(claim, CLAIM_LOST + (int)why)) {
    int connected = SESSION_CONNECTED;
    if (why == LOSS_SILENCE)
      atomic_compare_exchange_strong(&core->proof.state, &connected,
                                     SESSION_SUSPENDED);
    command_of(core, claim, &claim->release, COMMAND_LOSE);
  }
  return claim_loss(claim);
}

void core_watch(struct core *core, struct claim *claim) {
  command_of(core, claim, &claim->watch, COMMAND_WATCH);
}

uint64_t core_ask(struct core *core, struct query *query) {
  uint64_t number = query->number = ++core->numbers;
  command(core, &query->ask, COMMAND_ASK); /* and it is not ours any more */
  return number;
}

/* Events. */

void core_nudge(struct core *core) {
  channel_event(&core->channel, &core->nudge_event, EVENT_NUDGE);
}

struct message *core_take_events(struct core *core, bool host_read) {
  return channel_take_events(&core->channel, host_read);
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
  pthread_mutex_lock(&core->error_lock);
  snprintf(text, size, "%s", core->error);
  pthread_mutex_unlock(&core->error_lock);
}
