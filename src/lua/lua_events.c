/* Converts the events of a session to Lua values. Takes events from the core in
 * batches, and pushes them one at a time. The Lua layer stores each event and
 * then calls session:noted, which finishes the event. */
#include "lua_events.h"

#include <stdio.h>
#include <string.h>

#include "io/library_codes.h"
#include "io/nginx_request.h"
#include "lua_ask.h"

static int push_numbered(lua_State *L, const char *what, uint64_t number) {
  lua_pushstring(L, what);
  lua_pushnumber(L, (lua_Number)number);
  return 2;
}

static int push_state(lua_State *L, const struct events *events) {
  const char *name = session_state_name(events->states[events->state_next]);
  lua_pushliteral(L, "state");
  lua_pushstring(L, name);
  return 2;
}

/* Replaces the reason on the top of the stack by a longer text. This text also
 * names the operation that a server has refused, and the path. Does nothing if
 * no refused operation is recorded. */
static void push_denial(lua_State *L, const struct acquisition *acquisition) {
  char text[REASON_MAX], path[REASON_MAX];
  const struct denial *denial = &acquisition->contender.denial;
  if (!denial->what) return;
  snprintf(path, sizeof path, "%s", acquisition->path);
  if (denial->by_gate) /* there is room: LOCKS is not longer than PERMITS */
    snprintf(path + acquisition->length, sizeof path - acquisition->length,
             "%s", LOCKS);
  reason_write(text, sizeof text, denial->what, path, denial->length,
               lua_tostring(L, -1));
  lua_pop(L, 1);
  lua_pushstring(L, text);
}

static void push_reason(lua_State *L, const struct acquisition *acquisition) {
  lua_pushstring(L, reason_text(acquisition->reason));
  push_denial(L, acquisition);
}

/* Pushes three values for an event of a hold: the event's name `what`, the
 * number of the current turn, and the acquisition's number (that of its first
 * turn). */
static int push_of_hold(lua_State *L, const char *what,
                        const struct acquisition *acquisition) {
  push_numbered(L, what, acquisition->current_turn);
  lua_pushnumber(L, (lua_Number)acquisition->number);
  return 3;
}

/* Pushes the event "gone" and the two numbers that push_of_hold pushes. If a
 * server has refused to delete the node, also pushes a code and a reason. */
static int push_gone(lua_State *L, struct acquisition *acquisition) {
  char text[REASON_MAX], path[REASON_MAX];
  push_of_hold(L, "gone", acquisition);
  if (!acquisition->delete_rc) return 3;
  snprintf(path, sizeof path, "%s/%s", acquisition->path,
           acquisition_node(acquisition));
  reason_write(text, sizeof text, "cannot delete the node of this session",
               path, strlen(path), reason_text(acquisition->delete_rc));
  lua_pushstring(L, binding_code(refusal_code_of(acquisition->delete_rc)));
  lua_pushstring(L, text);
  return 5;
}

static void push_blocker(lua_State *L, const struct shown_blocker *blocker) {
  if (blocker)
    lua_pushlstring(L, blocker->data, (size_t)blocker->shown);
  else
    lua_pushnil(L);
  lua_pushboolean(L, blocker && blocker->holds);
  lua_pushboolean(L, blocker && blocker->size > blocker->shown);
}

static void push_session(lua_State *L, int64_t session) {
  char text[24];
  snprintf(text, sizeof text, "0x%llx", (long long)session);
  lua_pushstring(L, text);
}

/* Pushes "refused", the acquisition's number, a code, the number of contenders
 * ahead, and a reason or nil. The number -1 means that at least one contender
 * is ahead.
 *
 * If the node of a contender ahead was read, also pushes three values. They are
 * the start of its data, whether it holds the lock, and whether its data are
 * longer.
 *
 * If the code is "conflict", the reason is the mode of the conflicting node.
 * Then the last value is the session that owns that node. */
static int push_refused(lua_State *L, const struct acquisition *acquisition) {
  bool conflict = acquisition->refusal_code == REFUSED_CONFLICT;
  lua_pushliteral(L, "refused");
  lua_pushnumber(L, (lua_Number)acquisition->number);
  lua_pushstring(L, binding_code(acquisition->refusal_code));
  lua_pushinteger(L, acquisition->ahead);
  if (acquisition->reason)
    push_reason(L, acquisition);
  else if (conflict)
    lua_pushstring(L, binding_roles[acquisition->other.role]);
  else
    lua_pushnil(L);
  if (!acquisition->blocker && !conflict) return 5;
  push_blocker(L, acquisition->blocker);
  if (!conflict) return 8;
  push_session(L, acquisition->other.session);
  return 9;
}

/* Pushes the event of an await that has ended: "answered" and the await's
 * number. If the wait has failed, also pushes a code, and a reason or nil. */
static int push_awaited(lua_State *L, const struct await *await) {
  push_numbered(L, "answered", await->number);
  if (await->met) return 2;
  lua_pushstring(L, binding_code(await->refusal_code));
  if (await->reason)
    lua_pushstring(L, reason_text(await->reason));
  else
    lua_pushnil(L);
  return 4;
}

/* Pushes "failed" and a code; `failure` is an enum client_failure. Also pushes
 * a reason if the servers require other credentials, or if TLS was refused. */
static int push_failure(lua_State *L, int failure) {
  lua_pushliteral(L, "failed");
  lua_pushstring(L, failure == CLIENT_NO_ADDRESS ? "disconnected" : "auth");
  if (failure != CLIENT_AUTH_REQUIRED && failure != CLIENT_REFUSED_TLS)
    return 2;
  lua_pushstring(L, reason_text(failure == CLIENT_AUTH_REQUIRED
                                    ? REPLY_AUTH_REQUIRED
                                    : REASON_TLS));
  return 3;
}

static int push_message(lua_State *L, const struct core *core,
                        struct message *message) {
  void *subject = message_subject(message);
  struct acquisition *acquisition = subject;
  struct log_line *line = subject;
  switch (message->kind) {
    case EVENT_GRANTED:
      return push_numbered(L, "granted", acquisition->number);
    case EVENT_REFUSED:
      return push_refused(L, acquisition);
    case EVENT_LOST:
      return push_of_hold(L, "lost", acquisition);
    case EVENT_GONE:
      return push_gone(L, acquisition);
    case EVENT_REVOKED:
      return push_numbered(L, "revoked", acquisition->current_turn);
    case EVENT_ANSWERED:
      return binding_push_answers(L, subject);
    case EVENT_AWAITED:
      return push_awaited(L, subject);
    case EVENT_FAILED:
      return push_failure(L, core->failure);
    case EVENT_LOG:
      lua_pushliteral(L, "log");
      lua_pushstring(L, line->level);
      lua_pushstring(L, line->text);
      return 3;
    case EVENT_ALARM:
      lua_pushliteral(L, "alarm");
      return 1;
    case EVENT_ENDED:
      return push_numbered(L, "ended",
                           ((struct nginx_request *)subject)->number);
    default:
      lua_pushliteral(L, "closed");
      return 1;
  }
}

/* Finishes the first event; its message can then be sent again. Exception: a
 * call that still pushes an event can be reading the message's subject. While
 * such a call runs, a message with a subject moves to `spent` instead.
 * give_back finishes it later. */
static void finish_first(struct core *core, struct events *events) {
  struct message *message = events->pending;
  events->pending = message->next;
  if (events->pushing && message_holds(message)) {
    message->next = events->spent;
    events->spent = message;
  } else {
    core_event_done(core, message);
  }
}

/* Finishes the messages in `spent`. If the session was left, drops them, and
 * then the core. Called when the outermost call that pushes an event ends. */
static void give_back(struct core *core, struct events *events) {
  struct message *spent = events->spent;
  events->spent = NULL;
  while (spent) {
    struct message *message = spent;
    spent = message->next;
    if (events->left)
      message_drop(message); /* the channel is closed */
    else
      core_event_done(core, message);
  }
  if (events->left) core_drop(events->left);
  events->left = NULL;
}

/* Returns whether there is an event to push. Takes more events from the core if
 * all earlier ones are finished. */
static bool find_event(struct core *core, struct events *events,
                       bool host_read) {
  for (;;) {
    if (events->state_next < events->state_count) return true;
    if (!events->pending)
      events->pending = channel_take_events(&core->channel, host_read);
    struct message *message = events->pending;
    if (!message) return false;
    if (message->kind == EVENT_STATE) {
      finish_first(core, events);
      events->state_count = core_states(core, events->states);
      events->state_next = 0;
    } else if (message->kind == EVENT_NUDGE) {
      finish_first(core, events);
    } else {
      return true;
    }
  }
}

struct pushing {
  struct core *core;
  struct events *events;
};

/* Pushes the values of the first event. The caller runs this in protected mode,
 * because it can raise an error. */
static int push_first(lua_State *L) {
  const struct pushing *pushing = lua_touserdata(L, 1);
  struct events *events = pushing->events;
  if (events->state_next < events->state_count) return push_state(L, events);
  return push_message(L, pushing->core, events->pending);
}

/* Pushes the values of the first event, and returns true. If that raises an
 * error, leaves the error on the top of the stack and returns false. */
static bool report_events(lua_State *L, struct core *core,
                          struct events *events) {
  struct pushing pushing = {core, events};
  events->pushing++;
  lua_pushlightuserdata(L, &pushing);
  int status = lua_pcall(L, 1, LUA_MULTRET, 0);
  if (--events->pushing == 0) give_back(core, events);
  return status == 0;
}

int binding_push_event(lua_State *L, struct core *const *core,
                       struct events *events, bool host_read) {
  int base = lua_gettop(L);
  for (;;) {
    lua_settop(L, base);
    lua_pushcfunction(L, push_first);
    if (!*core || !find_event(*core, events, host_read)) return 0;
    unsigned finished = events->finished;
    if (!report_events(L, *core, events)) return lua_error(L);
    /* Returns, unless a finalizer has read and finished this event during the
     * push. In that case the loop pushes the next event. */
    if (*core && events->finished == finished) return lua_gettop(L) - base;
  }
}

void binding_finish_event(struct core *core, struct events *events) {
  events->finished++;
  if (events->state_next < events->state_count) {
    events->state_next++;
  } else if (events->pending) {
    if (events->pending->kind == EVENT_CLOSED) events->ended = true;
    finish_first(core, events);
  }
}

void binding_leave_events(struct core *core, struct events *events) {
  while (events->pending) finish_first(core, events);
  events->state_count = events->state_next = 0;
  core_leave(core, events->ended);
  if (events->pushing)
    events->left = core;
  else
    core_drop(core);
}
