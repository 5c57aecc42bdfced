/* The I/O thread's reports to the Lua thread. Publishes the state of the
 * session and its acquisitions, and posts the events. Also frees the session's
 * memory. */
#include "core.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "library_codes.h"
#include "messages.h"

void core_post(struct core *core, struct message *message, int kind) {
  channel_event_later(&core->channel, message, kind);
}

static void client_error(void *self, const char *server, const char *error) {
  struct core *core = self;
  char text[REASON_MAX];
  snprintf(text, sizeof text, "no connection%s%s: %s", server ? " to " : "",
           server ? server : "", error);
  last_error_note(&core->last_error, server ? strstr(text, server) : error);
  log_throttled(&core->log, "warn", text);
}

static void client_refused(void *self) {
  struct core *core = self;
  last_error_keep(&core->last_error);
}

static void client_warning(void *self, const char *text) {
  struct core *core = self;
  log_throttled(&core->log, "warn", text);
}

static void notify_state(struct core *core, enum session_state state) {
  char text[120];
  if (state == SESSION_EXPIRED) {
    snprintf(text, sizeof text,
             "the session 0x%llx has expired: its holds are lost",
             (unsigned long long)core->session_id);
    log_throttled(&core->log, "warn", text);
  } else if (state == SESSION_CONNECTED &&
             last_error_is_over(&core->last_error)) {
    log_throttled(&core->log, "info", "connected again");
  }
}

static void client_failed(void *self, enum client_failure failure) {
  struct core *core = self;
  core->failure = failure;
  core_post(core, &core->failed_event, EVENT_FAILED);
}

static void on_session_warning(void *self, const char *message,
                               const char *path, int rc) {
  struct core *core = self;
  char text[REASON_MAX];
  reason_write(text, sizeof text, message, path, strlen(path), reason_text(rc));
  log_throttled(&core->log, "warn", text);
}

void core_publish_lease(struct core *core) {
  atomic_store_explicit(&core->proof.lease_until, session_lease(&core->session),
                        memory_order_release);
}

static void client_attempts(void *self) { core_publish_lease(self); }

/* Publishes the new state of the session and posts EVENT_STATE. Publishes the
 * lease first, because the new connection's timeout may have shortened it. So a
 * thread that reads "connected" never reads the longer lease of the old
 * connection. */
static void on_state(void *self, enum session_state state) {
  struct core *core = self;
  uint64_t states = core->states;
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

static void granted(struct core *core, struct acquisition *acquisition) {
  count_wait(core, session_now(&core->session) - acquisition->waiting_since);
  core_publish_lease(core); /* before a thread can see HELD */
  acquisition_grant(acquisition);
  core_post(core, &acquisition->decided, EVENT_GRANTED);
}

void core_refuse(struct core *core, struct acquisition *acquisition,
                 enum refusal_code why, int reason) {
  acquisition_refuse(acquisition, why, reason);
  core_post(core, &acquisition->decided, EVENT_REFUSED);
}

/* Ends the hold, unless it has ended before. If the hold was lost, posts
 * EVENT_LOST. The Lua thread may have recorded the loss first; the event is
 * posted even then. */
static void lost(struct core *core, struct acquisition *acquisition,
                 enum refusal_code why) {
  acquisition_end_hold(acquisition, why == REFUSED_CLOSED
                                        ? ACQUISITION_RELEASED
                                        : ACQUISITION_LOST +
                                              (int)acquisition->contender.loss);
  if (acquisition_outcome_loss(acquisition))
    core_post(core, &acquisition->ended, EVENT_LOST);
}

void core_report_gone(struct core *core, struct acquisition *acquisition) {
  int undeletable = acquisition->contender.undeletable;
  if (!acquisition->report_gone || !(acquisition->removed || undeletable))
    return;
  acquisition->report_gone = false;
  acquisition->delete_rc = undeletable;
  core_post(core, &acquisition->ended, EVENT_GONE);
}

/* Logs that a server refuses to delete the contender's node (`undeletable`).
 * Exception: the contender was refused because the queue has another such node.
 * Then the refusal already reports the problem. Checks `undeletable` first,
 * because only then the queue certainly exists. */
static void log_undeletable(struct core *core, const struct contender *c) {
  char text[REASON_MAX + 80];
  if (!c->undeletable) return;
  if (c->queue->undeletable > 1 && c->decision == DECISION_REFUSED) return;
  const char *directory = directory_path(&c->queue->directory);
  char path[REASON_MAX];
  snprintf(path, sizeof path, "%s/%s", directory, contender_watch_name(c));
  reason_write(text, REASON_MAX, "cannot delete the node of this session", path,
               strlen(path), reason_text(c->undeletable));
  strcat(text, "; zklock tries again until the session ends");
  log_throttled(&core->log, "error", text);
}

static void on_undeletable(struct core *core, struct acquisition *acquisition) {
  const struct contender *c = &acquisition->contender;
  log_undeletable(core, c);
  if (c->has_gate) log_undeletable(core, c->gate);
  core_report_gone(core, acquisition);
}

void core_on_news(struct contender *c, enum news news) {
  struct acquisition *acquisition = c->owner;
  struct core *core = acquisition->core;
  switch (news) {
    case NEWS_GRANTED:
      granted(core, acquisition);
      break;
    case NEWS_REFUSED:
      core_refuse(core, acquisition, c->refusal_code, c->reason);
      break;
    case NEWS_LOST:
      lost(core, acquisition, c->refusal_code);
      break;
    case NEWS_REVOKED:
      acquisition_forbid_turns(acquisition);
      core_post(core, &acquisition->revoked, EVENT_REVOKED);
      break;
    case NEWS_UNCONTENDED:
      acquisition_set_uncontended(acquisition);
      break;
    case NEWS_CONTENDED:
      acquisition_set_contended(acquisition);
      break;
    case NEWS_UNDELETABLE:
      on_undeletable(core, acquisition);
      break;
    case NEWS_REMOVED:
      acquisition->removed = true;
      core_report_gone(core, acquisition);
      break;
    case NEWS_FORGOTTEN:
      acquisition->in_session = false;
      subject_drop(&acquisition->subject);
      break;
  }
}

const struct client_listener core_client_listener = {.failed = client_failed,
                                                     .attempting =
                                                         client_attempts,
                                                     .error = client_error,
                                                     .refused = client_refused,
                                                     .warning = client_warning};

struct listener core_session_listener(struct core *core) {
  return (struct listener){.self = core,
                           .session = on_state,
                           .warn = on_session_warning};
}

/* The end of a session. */

void core_leave_channel(struct core *core) {
  if (--core->users == 0) channel_close(&core->channel);
}

void core_keep(struct core *core) { core->references++; }

void core_drop(struct core *core) {
  if (--core->references > 0) return;
  last_error_free(&core->last_error);
  log_free(&core->log);
  settings_free(core->settings);
  free(core);
}
