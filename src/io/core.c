/* What a session reports to Lua, on its I/O thread: it posts the events and
 * publishes the state of the session and its claims. Also frees the session's
 * memory. */
#include "core.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "messages.h"
#include "reason.h"

/* The session that runs on this I/O thread. */
static _Thread_local const struct core *runs;

void core_post(struct core *core, struct message *message, int kind) {
  channel_event_later(&core->channel, message, kind);
}

static void post_claim(struct core *core, struct claim *claim,
                       struct message *message, int kind) {
  claim_keep(claim);
  core_post(core, message, kind);
}

static void client_error(void *self, const char *server, const char *error) {
  struct core *core = self;
  char text[REASON_MAX];
  snprintf(text, sizeof text, "no connection%s%s: %s", server ? " to " : "",
           server ? server : "", error);
  last_error_note(&core->last_error, server ? strstr(text, server) : error);
  log_notice(&core->log, "warn", text);
}

static void client_refused(void *self) {
  struct core *core = self;
  last_error_keep(&core->last_error);
}

static void client_warning(void *self, const char *text) {
  struct core *core = self;
  log_notice(&core->log, "warn", text);
}

static void notify_state(struct core *core, enum session_state state) {
  char text[120];
  if (state == SESSION_EXPIRED) {
    snprintf(text, sizeof text,
             "the session 0x%llx has expired: its holds are lost",
             (unsigned long long)core->session_id);
    log_notice(&core->log, "warn", text);
  } else if (state == SESSION_CONNECTED &&
             last_error_is_over(&core->last_error)) {
    log_notice(&core->log, "info", "connected again");
  }
}

static void client_failed(void *self, enum client_failure failure) {
  struct core *core = self;
  core->failure = failure;
  core_post(core, &core->failed_event, EVENT_FAILED);
}

static void on_trouble(void *self, const char *message, const char *path,
                       int rc) {
  struct core *core = self;
  char text[REASON_MAX];
  reason_say(text, sizeof text, message, path, strlen(path), reason_words(rc));
  log_notice(&core->log, "warn", text);
}

void core_publish_lease(struct core *core) {
  atomic_store_explicit(&core->proof.lease_until, session_lease(&core->session),
                        memory_order_release);
}

static void client_attempts(void *self) { core_publish_lease(self); }

/* Publishes the lease first: a thread that sees the new connection must not see
 * the lease of the old one. The new timeout may have shortened it. */
static void on_state(void *self, enum session_state state) {
  struct core *core = self;
  uint64_t states = core->states;
  assert(runs == core);
  core_publish_lease(core);
  core->proof.state = (int)state;
  if (state == SESSION_CONNECTED) {
    core->session_id = session_number(&core->session);
    core->timeout = session_negotiated(&core->session);
  }
  while (!atomic_compare_exchange_weak(&core->states, &states,
                                       states << 4 | (1u + (unsigned)state)))
    continue;
  core_post(core, &core->state_event, EVENT_STATE);
  notify_state(core, state);
}

static void count_wait(struct core *core, int64_t waited) {
  counter_add(&core->waits[wait_bucket(waited)], 1);
}

static void granted(struct core *core, struct claim *claim) {
  count_wait(core, session_now(&core->session) - claim->asked);
  core_publish_lease(core); /* before the claim is seen as held */
  claim_grant(claim);
  post_claim(core, claim, &claim->decided, EVENT_GRANTED);
}

void core_refuse(struct core *core, struct claim *claim, enum verdict why,
                 int reason) {
  claim_refuse(claim, why, reason);
  post_claim(core, claim, &claim->decided, EVENT_REFUSED);
}

/* Posts EVENT_LOST once, whichever thread has found the loss. */
static void lost(struct core *core, struct claim *claim, enum verdict why) {
  claim_end_hold(claim, why == VERDICT_CLOSED
                            ? CLAIM_RELEASED
                            : CLAIM_LOST + (int)claim->contender.loss);
  if (claim_said_loss(claim))
    post_claim(core, claim, &claim->ended, EVENT_LOST);
}

void core_tell_gone(struct core *core, struct claim *claim) {
  int kept = claim->contender.kept;
  if (!claim->report_gone || !(claim->removed || kept)) return;
  claim->report_gone = false;
  claim->stays = kept;
  post_claim(core, claim, &claim->ended, EVENT_GONE);
}

/* Does not log a contender that was refused because of another node in the
 * queue that cannot be deleted: its refusal says so. A contender without `kept`
 * may have no queue any more. */
static void log_kept(struct core *core, const struct contender *c) {
  char text[REASON_MAX + 80];
  if (!c->kept) return;
  if (c->queue->kept > 1 && c->decision == DECISION_REFUSED) return;
  const char *directory = directory_path(&c->queue->directory);
  char path[REASON_MAX];
  snprintf(path, sizeof path, "%s/%s", directory, contender_watch_name(c));
  reason_say(text, REASON_MAX, "cannot delete the node of this session", path,
             strlen(path), reason_words(c->kept));
  strcat(text, "; zklock tries again until the session ends");
  log_notice(&core->log, "error", text);
}

static void kept(struct core *core, struct claim *claim) {
  const struct contender *c = &claim->contender;
  log_kept(core, c);
  if (c->gate_state != GATE_UNUSED) log_kept(core, c->gate);
  core_tell_gone(core, claim);
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
      core_refuse(core, claim, c->verdict, c->reason);
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
      core_tell_gone(core, claim);
      break;
    case NEWS_FORGOTTEN:
      claim->joined = false;
      claim_drop(claim);
      break;
  }
}

struct client_listener core_client_listener(struct core *core) {
  return (struct client_listener){.self = core,
                                  .failed = client_failed,
                                  .attempting = client_attempts,
                                  .error = client_error,
                                  .refused = client_refused,
                                  .warning = client_warning};
}

struct listener core_session_listener(struct core *core) {
  return (struct listener){.self = core,
                           .session = on_state,
                           .trouble = on_trouble};
}

void core_runs_here(const struct core *core) { runs = core; }

/* The end of a session. */

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
